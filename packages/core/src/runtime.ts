/** What programs and test benches are made of: connections, caches, managers, servers, settings. */
export { type CacheOptions, createCache } from "./cache/cache.ts";
export { CONTROLLER_INDEX, controlledBy, NAMESPACE_INDEX } from "./cache/informer/informer.ts";
export { DEFAULT_SYNC_TIMEOUT_MS, type SyncOptions, waitForSync } from "./cache/informer/states.ts";
export type { CacheObserver, InformerGauges } from "./cache/observer.ts";
export type { ListReason } from "./cache/reflector/machine-types.ts";
export { compareVersions } from "./cache/resource-version.ts";
export { IndexError } from "./cache/store/indexes.ts";
export { type ClientOptions, createClient } from "./client/client.ts";
export type { Connection, Credentials, TlsMaterial } from "./client/connection.ts";
export { holdsUnsafeIntegers } from "./client/json.ts";
export { type LoadConnectionOptions, loadConnection } from "./client/load-connection.ts";
export type { ClientObserver, RequestReport } from "./client/observer.ts";
export { isBuiltIn } from "./client/patch.ts";
export type { Environment } from "./client/proxy.ts";
export { WatchFormatError } from "./client/watch-decoder.ts";
export { followConnections } from "./connections.ts";
export type { ControllerDeps } from "./controller/controller.ts";
export type { ControllerObserver, ReconcileResult } from "./controller/observer.ts";
export { type OpenSources, openSources } from "./controller/open-sources.ts";
export { handleRejections } from "./controller/rejections.ts";
export { closest, didYouMean } from "./helpers/closest.ts";
export { parseNamespace, parseObjectName } from "./helpers/names.ts";
export { splitPair } from "./helpers/pair.ts";
export { EXIT, type ExitCode, exitCodeOf, LeadershipLostError, PreflightError } from "./manager/errors.ts";
export type { HealthCheck } from "./manager/health-check.ts";
export { checkLeaseTimings, type LeaseTimings } from "./manager/lease-timings.ts";
export { createManager } from "./manager/manager.ts";
export type {
  ManagerEnd,
  ManagerHandle,
  ManagerOptions,
  ManagerServer,
  ManagerWebhooks,
  ModuleIdentity,
} from "./manager/manager-types.ts";
export {
  defaultFlags,
  type NumberLimits,
  parseBoolean,
  parseDurationFrom,
  parseNamespaces,
  parseNumber,
  parseOneOf,
  readModuleFlag,
  splitList,
} from "./module/flag-text.ts";
export { holds } from "./module/flags.ts";
export { cacheMetrics } from "./observe/cache-metrics.ts";
export { clientMetrics } from "./observe/client-metrics.ts";
export { controllerMetrics } from "./observe/controller-metrics.ts";
export { EVENT_KIND, type KubeEvent } from "./observe/event-object.ts";
export { createEventSink, type EventSink } from "./observe/events.ts";
export { type LogLevels, parseLogLevels } from "./observe/levels.ts";
export { createLogging, type Logging } from "./observe/logger.ts";
export { redactFields } from "./observe/redact.ts";
export { type WebhookMetrics, webhookMetrics } from "./observe/webhook-metrics.ts";
export { createQueue, type QueueObserver, type QueueOptions, type WorkQueue } from "./queue/queue.ts";
export { requestUrl } from "./request-url.ts";
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
