/** `@quartet/confd-agent`: configuration files that follow their source. */

export { shownDuration } from "./config/duration.ts";
export { FLAGS, type FlagSpec, variableOf } from "./config/flags.ts";
export { templateFunctions } from "./functions/all.ts";
export type { Host, ServiceRecord } from "./functions/host.ts";
export { createStore, type Entries, type Store } from "./functions/store.ts";
