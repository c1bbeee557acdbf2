/** `@quartet/core`: the reconcile framework that every quartet controller is built on. */
export * from "./cache/types.ts";
export * from "./client/types.ts";
export * from "./clock.ts";
export * from "./controller/types.ts";
export * from "./manager/types.ts";
export * from "./object.ts";
export type { Metrics } from "./observe/metrics.ts";
export * from "./observe/types.ts";
export * from "./queue/types.ts";
