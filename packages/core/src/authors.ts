/** What the author of a controller uses. docs/guides/write-a-controller.md tells how. */

// Kinds and objects

export { type DeepMutable, deepFreeze, mutable } from "./cache/guard.ts";
export { mergeDiff, sameJson } from "./client/merge-diff.ts";
export { isDnsSubdomain } from "./helpers/names.ts";
export * from "./object.ts";
export { isProjected } from "./projected.ts";

// A module, and what it declares

export * from "./manager/types.ts";
export * from "./module/commands.ts";
export type { FeatureGate, GateStage } from "./module/feature-gate.ts";
export * from "./module/flags.ts";
export * from "./module/module.ts";
export * from "./module/rights.ts";

// A controller: its sources, its reconcile, and what it may throw

export { CacheSyncError, NotCachedError } from "./cache/errors.ts";
export * from "./cache/types.ts";
export {
  ControllerSetupError,
  RetryAfterError,
  TerminalError,
  UnreadableError,
} from "./controller/errors.ts";
export * from "./controller/predicates.ts";
export { type Channel, channel, cron, interval } from "./controller/sources.ts";
export * from "./controller/types.ts";
export { WriteOutOfBoundsError } from "./manager/write-bounds.ts";
export * from "./queue/rate-limiter.ts";
export * from "./queue/types.ts";

// Requests

export * from "./client/errors.ts";
export { microTime } from "./client/micro-time.ts";
export {
  CONFLICT_BACKOFF,
  CONTENDED_BACKOFF,
  type ConflictBackoff,
  type RetryOnConflictOptions,
  retryOnConflict,
} from "./client/retry-on-conflict.ts";
export * from "./client/types.ts";

// Conditions, finalizers, owners, children, work outside the cluster

export { createExpectations, type Expectations } from "./cache/expectations.ts";
export * from "./children/index.ts";
export * from "./helpers/conditions.ts";
export * from "./helpers/finalizers.ts";
export * from "./helpers/owners.ts";
export { type SlowStart, slowStart } from "./helpers/slow-start.ts";
export { type Answer, type Answered, createProbes, type Probe, type Probes } from "./probe/probes.ts";

// Log, events, metrics, time

export * from "./clock.ts";
export { errorFields, messageOf } from "./observe/error-fields.ts";
export { createMetrics, type Metrics } from "./observe/metrics.ts";
export { redactText } from "./observe/redact.ts";
export * from "./observe/types.ts";
