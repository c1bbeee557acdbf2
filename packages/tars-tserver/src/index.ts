/** `@quartet/tars-tserver`: TARS services on Kubernetes. */
export { createTarsModule, tarsModule } from "./module.ts";
