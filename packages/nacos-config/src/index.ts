/** `@quartet/nacos-config`: Nacos installations with managed configuration. */
export { type Rendered, renderNacos } from "./desired/render.ts";
export { createNacosModule, type NacosModuleOptions, nacosModule } from "./module.ts";
