/** `@quartet/tars-tserver`: TARS services on Kubernetes. */

export { agentCommand } from "./commands/agent.ts";
export { createTarsModule, tarsModule } from "./module.ts";
