/** `@quartet/core`: the reconcile framework that every quartet controller is built on. */
export { type CacheOptions, createCache } from "./cache/cache.ts";
export { CacheSyncError, NotCachedError } from "./cache/errors.ts";
export { type Counts, createExpectations, type Expectations } from "./cache/expectations.ts";
export { type DeepMutable, deepFreeze, mutable } from "./cache/guard.ts";
export { IndexError } from "./cache/indexes.ts";
export { CONTROLLER_INDEX, NAMESPACE_INDEX } from "./cache/informer.ts";
export type { ListReason } from "./cache/machine-types.ts";
export type { CacheObserver, InformerGauges } from "./cache/observer.ts";
export { isProjected } from "./cache/projections.ts";
export { compareVersions } from "./cache/resource-version.ts";
export { DEFAULT_SYNC_TIMEOUT_MS, type SyncOptions, waitForSync } from "./cache/sync.ts";
export * from "./cache/types.ts";
export { type ClientOptions, createClient } from "./client/client.ts";
export type { Connection, Credentials, TlsMaterial } from "./client/connection.ts";
export {
  type ApplyResult,
  type CreateOrApplyOptions,
  createOrApply,
} from "./client/create-or-apply.ts";
export * from "./client/errors.ts";
export { holdsUnsafeIntegers } from "./client/json.ts";
export { type LoadConnectionOptions, loadConnection } from "./client/load-connection.ts";
export { mergeDiff, sameJson } from "./client/merge-diff.ts";
export { microTime } from "./client/micro-time.ts";
export type { ClientObserver, RequestReport } from "./client/observer.ts";
export { isBuiltIn } from "./client/patch.ts";
export type { Environment } from "./client/proxy.ts";
export {
  CONFLICT_BACKOFF,
  CONTENDED_BACKOFF,
  type ConflictBackoff,
  type RetryOnConflictOptions,
  retryOnConflict,
} from "./client/retry-on-conflict.ts";
export * from "./client/types.ts";
export { WatchFormatError } from "./client/watch-decoder.ts";
export * from "./clock.ts";
export * from "./controller/types.ts";
export * from "./manager/types.ts";
export * from "./object.ts";
export type { Metrics } from "./observe/metrics.ts";
export * from "./observe/types.ts";
export * from "./queue/types.ts";
