/** `@quartet/manager`: the program as a library, for tests and embedders. */
export { runCli } from "./cli.ts";
export { applyCrds, crdsOf } from "./crds.ts";
export { MODULES } from "./modules.ts";
export type { Program } from "./program.ts";
export { type RunningManager, type StartOptions, startManager } from "./run.ts";
export type { CertificateLives } from "./webhooks.ts";
