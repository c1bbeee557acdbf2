/** `@quartet/nacos-config`: Nacos installations with managed configuration. */
export { createNacosModule, type NacosModuleOptions, nacosModule } from "./module.ts";
