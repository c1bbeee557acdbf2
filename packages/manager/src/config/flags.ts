/** The manager's flags: name, place in the config file, default, meaning. */
import type { ModuleFlag } from "@quartet/core";

/** How the text of a flag is read, and how `--print-config` prints it. */
type FlagType =
  | "string"
  | "boolean"
  | "number"
  | "duration"
  | "address"
  | "enum"
  | "list"
  | "map"
  | "namespace";

/** Declaration of a flag. */
export interface FlagSpec {
  /** Name without the leading dashes. */
  readonly name: string;
  /** Dotted path in the config file; absent for flags that make no sense there. */
  readonly path?: string;
  readonly type: FlagType;
  /** Text form, as it would stand on the command line. */
  readonly default: string;
  readonly help: string;
  /** Environment variables that work beside `QUARTET_<FLAG>`, which wins over them. */
  readonly environment?: readonly string[];
  /** May stand on the command line without a value, meaning `true`. Always so for booleans. */
  readonly bare?: boolean;
  /** Runs something else than the manager: no environment variable, no config field. */
  readonly action?: boolean;
}

/** Flags of the manager itself. Modules add theirs, see {@link moduleFlagSpecs}. */
export const MANAGER_FLAGS: readonly FlagSpec[] = [
  { name: "config", type: "string", default: "", help: "YAML file of kind ManagerConfig" },
  {
    name: "controllers",
    path: "controllers",
    type: "list",
    default: "*",
    help: "controllers to run: *, names, or -name to leave one out",
  },
  {
    name: "dry-run-controllers",
    path: "dryRunControllers",
    type: "list",
    default: "",
    help: "controllers that only plan: they write nothing, and tell in log and events what they would change",
  },
  {
    name: "feature-gates",
    path: "featureGates",
    type: "map",
    default: "",
    help: "A=true,B=false; AllAlpha and AllBeta set a whole stage",
  },
  {
    name: "namespaces",
    path: "namespaces",
    type: "list",
    default: "",
    help: "namespaces to work in; empty means all",
    environment: ["WATCH_NAMESPACE"],
  },
  { name: "kubeconfig", path: "kubeconfig", type: "string", default: "", help: "kubeconfig file" },
  { name: "context", path: "context", type: "string", default: "", help: "context of the kubeconfig" },
  {
    name: "kube-api-qps",
    path: "kubeApiQps",
    type: "number",
    default: "-1",
    help: "requests per second to the API server; -1 leaves it to the server's priority and fairness",
  },
  {
    name: "kube-api-burst",
    path: "kubeApiBurst",
    type: "number",
    default: "0",
    help: "burst above kube-api-qps",
  },
  {
    name: "kube-api-compression",
    path: "kubeApiCompression",
    type: "boolean",
    default: "false",
    help: "ask the API server for compressed answers",
  },
  {
    name: "leader-elect",
    path: "leaderElection.enabled",
    type: "boolean",
    default: "auto",
    help: "true, false, or auto: true in a cluster, false with a kubeconfig",
  },
  {
    name: "leader-election-id",
    path: "leaderElection.id",
    type: "string",
    default: "quartet-manager",
    help: "name of the Lease",
  },
  {
    name: "leader-election-namespace",
    path: "leaderElection.namespace",
    type: "string",
    default: "",
    help: "namespace of the Lease; default the pod's own",
    environment: ["LEADER_ELECTION_NAMESPACE"],
  },
  // The three durations are client-go's recommended ones (leaderelection package documentation).
  {
    name: "lease-duration",
    path: "leaderElection.leaseDuration",
    type: "duration",
    default: "15s",
    help: "how long others wait for a sign of the leader before they take over",
  },
  {
    name: "renew-deadline",
    path: "leaderElection.renewDeadline",
    type: "duration",
    default: "10s",
    help: "how long the leader tries to renew before it gives up",
  },
  {
    name: "retry-period",
    path: "leaderElection.retryPeriod",
    type: "duration",
    default: "2s",
    help: "pause between two tries to acquire or renew",
  },
  {
    name: "leader-election-release-on-cancel",
    path: "leaderElection.releaseOnCancel",
    type: "boolean",
    default: "true",
    help: "give the Lease back on a clean stop, so that another replica takes over at once",
  },
  {
    name: "release-name",
    path: "releaseName",
    type: "string",
    default: "quartet",
    help: "start of the names of roles, webhook Service, configurations and certificate Secret",
  },
  {
    name: "metrics-bind-address",
    path: "metrics.bindAddress",
    type: "address",
    default: ":8080",
    help: "where /metrics is served; 0 = off",
  },
  {
    name: "metrics-secure",
    path: "metrics.secure",
    type: "boolean",
    default: "false",
    help: "serve metrics over TLS to callers whose token may get /metrics",
  },
  {
    name: "metrics-cert-dir",
    path: "metrics.certDir",
    type: "string",
    default: "",
    help: "folder with tls.crt and tls.key of the metrics; empty = made at each start",
  },
  {
    name: "health-probe-bind-address",
    path: "health.bindAddress",
    type: "address",
    default: ":8081",
    help: "where /healthz and /readyz are served; 0 = off",
  },
  {
    name: "debug-bind-address",
    path: "debug.bindAddress",
    type: "address",
    default: "127.0.0.1:8082",
    help: "where questions of `quartet explain` are answered; 0 = off",
  },
  {
    name: "webhook-port",
    path: "webhook.port",
    type: "number",
    default: "9443",
    help: "port of the webhook server; -1 = off",
  },
  {
    name: "webhook-cert-mode",
    path: "webhook.certMode",
    type: "enum",
    default: "self",
    help: "self, files or cert-manager",
  },
  {
    name: "webhook-cert-dir",
    path: "webhook.certDir",
    type: "string",
    default: "",
    help: "folder with tls.crt and tls.key",
  },
  {
    name: "webhook-client-ca",
    path: "webhook.clientCA",
    type: "string",
    default: "",
    help: "CA file that the API server's client certificate must come from",
  },
  {
    name: "max-concurrent-reconciles",
    path: "maxConcurrentReconciles",
    type: "map",
    default: "4",
    help: "for all controllers (8), or by controller (tars=8,tunnel=1)",
  },
  {
    name: "reconcile-timeout",
    path: "reconcileTimeout",
    type: "duration",
    default: "5m",
    help: "limit of one reconcile; 0 = none",
  },
  {
    name: "sync-period",
    path: "syncPeriod",
    type: "duration",
    default: "10h",
    help: "every cached object is reconciled again after about so long; 0 = never",
  },
  {
    name: "cache-sync-timeout",
    path: "cacheSyncTimeout",
    type: "duration",
    default: "2m",
    help: "limit of a cache's first sync",
  },
  {
    name: "cache-namespace-limit",
    path: "cacheNamespaceLimit",
    type: "number",
    default: "128",
    help: "most MiB that are cached of one namespace; objects beyond it are set aside",
  },
  {
    name: "warmup",
    path: "warmup",
    type: "boolean",
    default: "true",
    help: "keep caches warm on replicas that do not lead",
  },
  {
    name: "recover-panic",
    path: "recoverPanic",
    type: "boolean",
    default: "true",
    help: "go on after a programming error in a reconcile; false exits with 1",
  },
  {
    name: "graceful-shutdown-timeout",
    path: "gracefulShutdownTimeout",
    type: "duration",
    default: "30s",
    help: "limit of a clean stop; 0 = do not wait, negative = no limit",
  },
  {
    name: "shutdown-delay",
    path: "shutdownDelay",
    type: "duration",
    default: "5s",
    help: "how long webhooks are served after the stop began",
  },
  {
    name: "log-level",
    path: "log.level",
    type: "string",
    default: "info",
    help: "error, warn, info, debug or trace, also by logger: info,tars=debug",
  },
  { name: "log-format", path: "log.format", type: "enum", default: "json", help: "json or console" },
  { name: "version", type: "boolean", default: "false", help: "print the version and exit", action: true },
  {
    name: "print-config",
    type: "boolean",
    default: "false",
    help: "print the effective configuration as YAML and exit",
    action: true,
  },
  {
    name: "print-rbac",
    type: "boolean",
    default: "false",
    help: "print the roles that the enabled controllers need and exit",
    action: true,
  },
  {
    name: "check",
    type: "boolean",
    default: "false",
    help: "check configuration and rights, then exit with 0 or 3",
    action: true,
  },
  { name: "help", type: "boolean", default: "false", help: "print this text and exit", action: true },
];

/** Flags of modules in the form of the manager's own; their config field is the name in camel case. */
export function moduleFlagSpecs(flags: readonly ModuleFlag[]): FlagSpec[] {
  return flags.map((flag) => ({
    name: flag.name,
    path: camelCase(flag.name),
    type: flag.type,
    default: flag.default,
    help: flag.type === "enum" ? `${flag.help} (${flag.values.join(", ")})` : flag.help,
  }));
}

/** `QUARTET_LEASE_DURATION` for `lease-duration`. */
export function environmentName(flag: string): string {
  return `${ENVIRONMENT_PREFIX}${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** Start of every environment variable that is a setting of this program. */
export const ENVIRONMENT_PREFIX: string = "QUARTET_";

const camelCase = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
