/** `@quartet/core`: the reconcile framework that every quartet controller is built on. */
export { type CacheOptions, createCache } from "./cache/cache.ts";
export { CacheSyncError, NotCachedError } from "./cache/errors.ts";
export { createExpectations, type Expectations } from "./cache/expectations.ts";
export { type DeepMutable, deepFreeze, mutable } from "./cache/guard.ts";
export { IndexError } from "./cache/indexes.ts";
export { CONTROLLER_INDEX, NAMESPACE_INDEX } from "./cache/informer.ts";
export type { ListReason } from "./cache/machine-types.ts";
export type { CacheObserver, InformerGauges } from "./cache/observer.ts";
export { compareVersions } from "./cache/resource-version.ts";
export { DEFAULT_SYNC_TIMEOUT_MS, type SyncOptions, waitForSync } from "./cache/sync.ts";
export * from "./cache/types.ts";
export * from "./children/index.ts";
export { type ClientOptions, createClient } from "./client/client.ts";
export type { Connection, Credentials, TlsMaterial } from "./client/connection.ts";
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
export { closest } from "./config/closest.ts";
export { configFileContent } from "./config/config-file.ts";
export type { FeatureGate, GateStage } from "./config/feature-gates.ts";
export { environmentName, type FlagSpec, MANAGER_FLAGS, moduleFlagSpecs } from "./config/flags.ts";
export { type LoadedSettings, type LoadOptions, loadSettings } from "./config/load.ts";
export { isDnsSubdomain } from "./config/names.ts";
export { followConfigFile } from "./config/reload.ts";
export type { ManagerSettings } from "./config/settings.ts";
export type { ControllerDeps } from "./controller/controller.ts";
export {
  ControllerSetupError,
  RetryAfterError,
  TerminalError,
  UnreadableError,
} from "./controller/errors.ts";
export type { ControllerObserver, ReconcileResult } from "./controller/observer.ts";
export { type OpenSources, openSources } from "./controller/open-sources.ts";
export * from "./controller/predicates.ts";
export { handleRejections } from "./controller/rejections.ts";
export { type Channel, channel, cron, interval } from "./controller/sources.ts";
export * from "./controller/types.ts";
export * from "./helpers/conditions.ts";
export * from "./helpers/finalizers.ts";
export * from "./helpers/owners.ts";
export { type SlowStart, slowStart } from "./helpers/slow-start.ts";
export { EXIT, type ExitCode, exitCodeOf, LeadershipLostError, PreflightError } from "./manager/errors.ts";
export { createManager } from "./manager/manager.ts";
export type {
  ManagerEnd,
  ManagerHandle,
  ManagerOptions,
  ManagerServer,
  ManagerWebhooks,
  ModuleIdentity,
} from "./manager/manager-types.ts";
export * from "./manager/types.ts";
export { WriteOutOfBoundsError } from "./manager/write-bounds.ts";
export * from "./module/flags.ts";
export * from "./module/module.ts";
export * from "./module/rights.ts";
export * from "./object.ts";
export { type BuildInfo, recordBuildInfo, recordFeatureGates } from "./observe/build-metrics.ts";
export { cacheMetrics } from "./observe/cache-metrics.ts";
export { clientMetrics } from "./observe/client-metrics.ts";
export { controllerMetrics } from "./observe/controller-metrics.ts";
export { EXPLAIN_PATH, startDebugServer } from "./observe/debug-server.ts";
export { errorFields, messageOf } from "./observe/error-fields.ts";
export { EVENT_KIND, type KubeEvent } from "./observe/event-object.ts";
export { createEventSink, type EventSink } from "./observe/events.ts";
export { startHealthServer } from "./observe/health.ts";
export type { RunningServer } from "./observe/http-server.ts";
export { type LogLevels, parseLogLevels } from "./observe/levels.ts";
export { createLogging, type Logging } from "./observe/logger.ts";
export { createMetrics, type Metrics } from "./observe/metrics.ts";
export { accessReviewer } from "./observe/metrics-access.ts";
export { METRICS_PATH, startMetricsServer } from "./observe/metrics-server.ts";
export { redactText } from "./observe/redact.ts";
export * from "./observe/types.ts";
export { type WebhookMetrics, webhookMetrics } from "./observe/webhook-metrics.ts";
export { type Answer, type Answered, createProbes, type Probe, type Probes } from "./probe/probes.ts";
export { isProjected } from "./projected.ts";
export { createQueue, type QueueObserver, type QueueOptions, type WorkQueue } from "./queue/queue.ts";
export * from "./queue/rate-limiter.ts";
export * from "./queue/types.ts";
export {
  convertedCrds,
  neededRights,
  neededRules,
  type RightsOptions,
  servesHooks,
  singleRights,
  webhookName,
  webhookSecretName,
} from "./rights/needed.ts";
export { checkRights, type PreflightOutcome } from "./rights/preflight.ts";
export { type RbacOptions, rbacFor } from "./rights/roles.ts";
export { compactRights, type RightsRule, type SingleRight } from "./rights/rules.ts";
