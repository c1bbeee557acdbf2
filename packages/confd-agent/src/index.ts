/** `@quartet/confd-agent`: configuration files that follow their source. */
export { templateFunctions } from "./functions/all.ts";
export type { Host, ServiceRecord } from "./functions/host.ts";
export { createStore, type Entries, type Store } from "./functions/store.ts";
