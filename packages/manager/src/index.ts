/** `@quartet/manager`: the program as a library, for tests and embedders. */
export { runCli } from "./cli.ts";
export { environmentName, type FlagSpec } from "./config/flags.ts";
export { loadSettings } from "./config/load.ts";
export { applyCrds, crdsOf } from "./crds.ts";
export { MODULES } from "./modules.ts";
export type { Program } from "./program.ts";
export { type RunningManager, type StartOptions, startManager } from "./run.ts";
export { EXPLAIN_PATH } from "./servers/debug-server.ts";
export type { CertificateLives } from "./webhooks.ts";
