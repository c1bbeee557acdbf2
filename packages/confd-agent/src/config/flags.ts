/** The flags of the agent: those of confd 0.16 with their meanings, and more. */

export type FlagType =
  | "string"
  | "bool"
  | "int"
  | "duration"
  | "list"
  | { readonly oneOf: readonly string[] };
export type FlagValue = string | boolean | number | readonly string[];

export interface FlagSpec {
  readonly name: string;
  readonly type: FlagType;
  /** Durations in milliseconds. */
  readonly default: FlagValue;
  readonly usage: string;
  /** Other names in confd.toml; `-` and `_` are the same there anyway. */
  readonly fileNames?: readonly string[];
  /** Other environment variables. */
  readonly variables?: readonly string[];
  /** Not read from confd.toml nor from the environment. */
  readonly flagOnly?: true;
  /** Smallest and largest number; durations in milliseconds. */
  readonly range?: readonly [number, number];
  /** Must never be shown. */
  readonly secret?: true;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "warning", "error", "fatal", "panic"] as const;
const SECOND = 1000;
const text = (name: string, usage: string, more: Partial<FlagSpec> = {}): FlagSpec => ({
  name,
  type: "string",
  default: "",
  usage,
  ...more,
});
const toggle = (name: string, usage: string, more: Partial<FlagSpec> = {}): FlagSpec => ({
  name,
  type: "bool",
  default: false,
  usage,
  ...more,
});
const duration = (
  name: string,
  milliseconds: number,
  usage: string,
  more: Partial<FlagSpec> = {},
): FlagSpec => ({
  name,
  type: "duration",
  default: milliseconds,
  usage,
  ...more,
});

/** Defaults marked confd are those of confd 0.16; the others have their reason beside them. */
export const FLAGS: readonly FlagSpec[] = [
  text("backend", "backend to use", { default: "etcd" }),
  {
    name: "node",
    type: "list",
    default: [],
    usage: "address of a backend node; may be repeated",
    fileNames: ["nodes"],
    variables: ["CONFD_NODES"],
  },
  text("confdir", "folder that holds conf.d and templates", { default: "/etc/confd" }),
  text("config-file", "the agent's own configuration", { default: "/etc/confd/confd.toml", flagOnly: true }),
  // confd: 600 seconds.
  duration("interval", 600 * SECOND, "pause between two passes"),
  toggle("onetime", "process everything once and exit"),
  toggle("watch", "follow changes of the backend"),
  toggle("noop", "show what would change; write and run nothing"),
  toggle("sync-only", "write files, but run neither check_cmd nor reload_cmd"),
  toggle("keep-stage-file", "keep the rendered candidates"),
  text("prefix", "prefix of all keys"),
  {
    name: "prefix-mode",
    type: { oneOf: ["override", "join"] },
    default: "override",
    usage: "whether prefix replaces that of a resource or stands before it",
  },
  { name: "log-level", type: { oneOf: LOG_LEVELS }, default: "info", usage: "least level that is logged" },
  { name: "log-format", type: { oneOf: ["text", "json"] }, default: "text", usage: "form of log lines" },
  {
    name: "scheme",
    type: { oneOf: ["http", "https"] },
    default: "http",
    usage: "scheme of nodes that come from SRV records",
  },
  text("srv-domain", "domain whose SRV records name the nodes"),
  text("srv-record", "SRV record that names the nodes"),
  text("client-ca-keys", "file of the certificate authorities that sign the backend's certificate", {
    fileNames: ["client-cakeys"],
    variables: ["CONFD_CLIENT_CAKEYS"],
  }),
  text("client-cert", "file of the client's certificate"),
  text("client-key", "file of the client's key"),
  toggle("client-insecure", "do not verify the backend's certificate"),
  toggle("basic-auth", "use username and password"),
  text("username", "user of the backend"),
  text("password", "password of the backend", { secret: true }),
  text("auth-token", "bearer token of the backend", { secret: true }),
  text("separator", "what stands in the place of / in the backend's keys (redis)"),
  toggle("strip-leading-slash", "keys of the backend have no leading slash (etcd, redis)"),
  {
    name: "file",
    type: "list",
    default: [],
    usage: "file or folder with values (backend file); may be repeated",
  },
  text("filter", "pattern of the names of files that are read in folders (backend file)", { default: "*" }),
  text("secret-keyring", "file of armored OpenPGP secret keys for cget and its like"),
  text("auth-type", "how to log in (vault): token, app-role, github, userpass, kubernetes, cert"),
  text("app-id", "accepted; that way of logging in to vault is gone"),
  text("user-id", "accepted; that way of logging in to vault is gone"),
  text("role-id", "role (vault: app-role, kubernetes)"),
  text("secret-id", "secret of the role (vault: app-role)", { secret: true }),
  text("path", "mount path of the login (vault)"),
  text("table", "accepted; the backend dynamodb is not included"),
  {
    name: "concurrency",
    type: "int",
    default: 4,
    range: [1, 64],
    usage: "resources that are processed at the same time",
  },
  duration("debounce", 0, "pause without changes before a resource is processed"),
  duration("debounce-max", 0, "longest wait for such a pause; 0 is ten times debounce"),
  duration("batch-interval", 0, "gathers all changes of such a time"),
  // A safety net for changes that a watch missed.
  duration(
    "resync-interval",
    600 * SECOND,
    "pause between two comparisons with the backend while watching; 0 is never",
  ),
  duration("splay", 0, "random delay before processing, so that a fleet does not reload at once"),
  {
    name: "failure-mode",
    type: { oneOf: ["best-effort", "fail-fast"] },
    default: "best-effort",
    usage: "whether a pass goes on after a failure",
  },
  duration("backend-timeout", 10 * SECOND, "limit of one read", { range: [1, 3_600_000] }),
  duration("dial-timeout", 5 * SECOND, "limit of one connect", { range: [1, 3_600_000] }),
  // confd's pause after an error of the watch is 2 seconds, always.
  duration("watch-error-backoff", 2 * SECOND, "first pause after a failure", { range: [1, 3_600_000] }),
  duration("watch-error-backoff-max", 60 * SECOND, "longest pause after failures", { range: [1, 3_600_000] }),
  duration("check-cmd-timeout", 30 * SECOND, "limit of a check_cmd; 0 is none"),
  duration("reload-cmd-timeout", 300 * SECOND, "limit of a reload_cmd; 0 is none"),
  duration("shutdown-timeout", 30 * SECOND, "limit for running commands after a signal to end"),
  {
    name: "ownership",
    type: { oneOf: ["warn", "strict"] },
    default: "warn",
    usage: "whether an owner that cannot be set is an error",
  },
  toggle("fsync", "flush files to the disk, so that they survive a crash of the machine", { default: true }),
  text(
    "stage-dir",
    "folder for candidates of files that must be written in place; default the system's temporary folder",
  ),
  text("state-file", "file that remembers reloads that are due"),
  {
    name: "etcd-max-txn-ops",
    type: "int",
    default: 128,
    range: [1, 10_000],
    usage: "operations of one transaction; the server's limit",
  },
  text("sentinel-username", "user of the sentinels (redis)"),
  text("sentinel-password", "password of the sentinels (redis)", { secret: true }),
  toggle("redis-configure-notifications", "switch the server's keyspace notifications on where they are off"),
  text(
    "kubeconfig",
    "file with the access to the Kubernetes API; default in-cluster, KUBECONFIG, ~/.kube/config",
  ),
  text("kube-context", "context of that file"),
  text("kube-namespace", "namespace that - stands for in keys"),
  toggle("kube-expand", "values of .json and .yaml keys become trees of keys (kubernetes)"),
  text("metrics-addr", "address of metrics and health, e.g. :9100; empty is none"),
  toggle("check-config", "check all files and exit", { flagOnly: true }),
  toggle("validate", "parse all templates and exit", { flagOnly: true }),
  toggle("preflight", "ask all backends, read everything once and exit", { flagOnly: true }),
  text("resource", "only this file of conf.d", { flagOnly: true }),
  text("mock-data", "JSON file with values for validate", { flagOnly: true }),
  toggle("diff", "print the differences of files (with noop)", { flagOnly: true }),
  toggle(
    "diff-secrets",
    "print differences of files with secrets too (Vault, Kubernetes Secrets, decrypted values)",
    { flagOnly: true },
  ),
  {
    name: "diff-context",
    type: "int",
    default: 3,
    range: [0, 1000],
    usage: "lines around a difference",
    flagOnly: true,
  },
  toggle("color", "colour the differences", { flagOnly: true }),
  toggle("version", "print the version and exit", { flagOnly: true }),
  toggle("help", "print this and exit", { flagOnly: true }),
];

/** Backends by the names that users may give: built in, or known but not included. */
export const BACKENDS: readonly string[] = [
  "consul",
  "env",
  "etcd",
  "etcdv3",
  "file",
  "kubernetes",
  "redis",
  "vault",
  "zookeeper",
];
export const ABSENT_BACKENDS: readonly string[] = [
  "acm",
  "dynamodb",
  "imds",
  "rancher",
  "secretsmanager",
  "ssm",
];

/** The variable of a flag. */
export const variableOf = (name: string): string => `CONFD_${name.toUpperCase().replaceAll("-", "_")}`;
