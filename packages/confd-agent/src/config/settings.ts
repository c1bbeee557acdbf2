/** Settings of the agent: flag before environment before confd.toml before default. */
import { existsSync, readFileSync } from "node:fs";
import { ConfigError, codeOf, messageOf } from "../errors.ts";
import type { Given } from "./arguments.ts";
import { FLAGS, type FlagSpec, type FlagValue, variableOf } from "./flags.ts";
import { isTable, nearest, normalName, parseTomlFile, type Table } from "./toml.ts";
import { parseText, parseToml } from "./values.ts";

/** How to reach a backend. */
export interface BackendSettings {
  readonly backend: string;
  readonly nodes: readonly string[];
  readonly scheme: string;
  readonly srvDomain: string;
  readonly srvRecord: string;
  readonly clientCaKeys: string;
  readonly clientCert: string;
  readonly clientKey: string;
  readonly clientInsecure: boolean;
  readonly basicAuth: boolean;
  readonly username: string;
  readonly password: string;
  readonly authToken: string;
  readonly separator: string;
  readonly stripLeadingSlash: boolean;
  readonly file: readonly string[];
  readonly filter: string;
  readonly authType: string;
  readonly roleId: string;
  readonly secretId: string;
  readonly path: string;
  readonly etcdMaxTxnOps: number;
  readonly sentinelUsername: string;
  readonly sentinelPassword: string;
  readonly redisConfigureNotifications: boolean;
  readonly kubeconfig: string;
  readonly kubeContext: string;
  readonly kubeNamespace: string;
  readonly kubeExpand: boolean;
  readonly interval: number;
  readonly backendTimeout: number;
  readonly dialTimeout: number;
  readonly watchErrorBackoff: number;
  readonly watchErrorBackoffMax: number;
}

export interface Settings extends BackendSettings {
  readonly confdir: string;
  readonly onetime: boolean;
  readonly watch: boolean;
  readonly noop: boolean;
  readonly syncOnly: boolean;
  readonly keepStageFile: boolean;
  readonly prefix: string;
  readonly prefixMode: "override" | "join";
  readonly logLevel: string;
  readonly logFormat: "text" | "json";
  readonly secretKeyring: string;
  readonly concurrency: number;
  readonly debounce: number;
  readonly debounceMax: number;
  readonly batchInterval: number;
  readonly resyncInterval: number;
  readonly splay: number;
  readonly failureMode: "best-effort" | "fail-fast";
  readonly checkCmdTimeout: number;
  readonly reloadCmdTimeout: number;
  readonly shutdownTimeout: number;
  readonly ownership: "warn" | "strict";
  readonly fsync: boolean;
  readonly stageDir: string;
  readonly stateFile: string;
  readonly metricsAddr: string;
  readonly checkConfig: boolean;
  readonly validate: boolean;
  readonly preflight: boolean;
  readonly resource: string;
  readonly mockData: string;
  readonly diff: boolean;
  readonly diffSecrets: boolean;
  readonly diffContext: number;
  readonly color: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedSettings {
  readonly settings: Settings;
  /** For the log, once there is one. */
  readonly warnings: readonly string[];
}

/** Names of settings in camel case. */
const camel = (name: string): string =>
  name === "node" ? "nodes" : name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Loads the settings; throws a {@link ConfigError} that names the place, the value's problem and the remedy. */
export function loadSettings(given: Given, environment: Environment): LoadedSettings {
  const warnings: string[] = [];
  const file = configFile(given, environment, warnings);
  const values = new Map<string, FlagValue>();
  for (const spec of FLAGS) {
    values.set(
      camel(spec.name),
      given.get(spec.name) ?? fromEnvironment(spec, environment) ?? file.get(spec.name) ?? spec.default,
    );
  }
  return { settings: Object.fromEntries(values) as unknown as Settings, warnings };
}

function fromEnvironment(spec: FlagSpec, environment: Environment): FlagValue | undefined {
  if (spec.flagOnly === true) return undefined;
  for (const name of [variableOf(spec.name), ...(spec.variables ?? [])]) {
    const text = environment[name] ?? "";
    if (text === "") continue;
    const parsed = parseText(spec, text);
    if ("problem" in parsed) throw new ConfigError(`${name}: ${parsed.problem}`);
    return parsed.value;
  }
  return undefined;
}

function configFile(given: Given, environment: Environment, warnings: string[]): Map<string, FlagValue> {
  const variable = environment.CONFD_CONFIG_FILE ?? "";
  const named = (given.get("config-file") as string | undefined) ?? (variable === "" ? undefined : variable);
  const file = named ?? "/etc/confd/confd.toml";
  if (!existsSync(file)) {
    if (named !== undefined) warnings.push(`config file ${file} does not exist: going on without it`);
    return new Map();
  }
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${codeOf(error) ?? messageOf(error)}`);
  }
  return settingsOf(file, parseTomlFile(file, text), FLAGS, warnings);
}

/** Settings of a TOML table by flag names; what is not known is a warning. */
export function settingsOf(
  where: string,
  table: Table,
  specs: readonly FlagSpec[],
  warnings: string[],
): Map<string, FlagValue> {
  const known = specs.filter(({ flagOnly }) => flagOnly !== true);
  const values = new Map<string, FlagValue>();
  for (const [key, value] of Object.entries(table)) {
    const name = normalName(key);
    const spec = known.find((one) => one.name === name || one.fileNames?.includes(name) === true);
    if (spec === undefined) {
      const near = nearest(
        name,
        known.map((one) => one.name),
      );
      const what = isTable(value) ? "table" : "key";
      warnings.push(`${where}: unknown ${what} ${key}${near === undefined ? "" : `: did you mean ${near}?`}`);
      continue;
    }
    const parsed = parseToml(spec, value);
    if ("problem" in parsed) throw new ConfigError(`${where}: ${key}: ${parsed.problem}`);
    values.set(spec.name, parsed.value);
  }
  return values;
}

/** Flags that say how to reach a backend: those that a `[backend]` table of a resource may have. */
const BACKEND_FLAGS: ReadonlySet<string> = new Set([
  "backend",
  "node",
  "scheme",
  "srv-domain",
  "srv-record",
  "client-ca-keys",
  "client-cert",
  "client-key",
  "client-insecure",
  "basic-auth",
  "username",
  "password",
  "auth-token",
  "separator",
  "strip-leading-slash",
  "file",
  "filter",
  "auth-type",
  "role-id",
  "secret-id",
  "path",
  "etcd-max-txn-ops",
  "sentinel-username",
  "sentinel-password",
  "redis-configure-notifications",
  "kubeconfig",
  "kube-context",
  "kube-namespace",
  "kube-expand",
  "interval",
  "backend-timeout",
  "dial-timeout",
  "watch-error-backoff",
  "watch-error-backoff-max",
]);
const TIMINGS: ReadonlySet<string> = new Set([
  "interval",
  "backend-timeout",
  "dial-timeout",
  "watch-error-backoff",
  "watch-error-backoff-max",
]);

/** Settings of a resource's own backend: what its table does not say is default; the times are the agent's. */
export function backendSettings(
  where: string,
  table: Table,
  global: Settings,
  warnings: string[],
): BackendSettings {
  const specs = FLAGS.filter(({ name }) => BACKEND_FLAGS.has(name));
  const own = settingsOf(where, table, specs, warnings);
  if (!own.has("backend"))
    throw new ConfigError(`${where}: backend: missing: say which one, e.g. backend = "file"`);
  const globals = global as unknown as Record<string, FlagValue>;
  const fallback = (spec: FlagSpec): FlagValue =>
    TIMINGS.has(spec.name) ? globals[camel(spec.name)]! : spec.default;
  return Object.fromEntries(
    specs.map((spec) => [camel(spec.name), own.get(spec.name) ?? fallback(spec)]),
  ) as unknown as BackendSettings;
}

/** Values of settings that must never be shown, and passwords that stand in addresses of nodes. */
export function secretsOf(settings: Settings): string[] {
  const values = settings as unknown as Record<string, FlagValue>;
  const own = FLAGS.filter(({ secret }) => secret === true).map(({ name }) => values[camel(name)] as string);
  return [...own, ...settings.nodes.map(passwordIn)].filter((value) => value !== "");
}

/** The password of an address such as `redis://user:password@host`; empty where there is none. */
function passwordIn(node: string): string {
  const start = node.indexOf("://");
  if (start < 0) return "";
  const [authority = ""] = node.slice(start + 3).split("/", 1);
  const colon = authority.indexOf(":");
  return colon < 0 ? "" : authority.slice(colon + 1, Math.max(colon + 1, authority.lastIndexOf("@")));
}

/** Equal for backends that can share a connection. */
export function connectionKey(settings: BackendSettings): string {
  const entries = FLAGS.filter(({ name }) => BACKEND_FLAGS.has(name) && !TIMINGS.has(name)).map(
    ({ name }) => [name, (settings as unknown as Record<string, FlagValue>)[camel(name)]],
  );
  return JSON.stringify(entries);
}
