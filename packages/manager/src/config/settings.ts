/** The manager's settings as values, from the texts of its flags. */
import {
  checkLeaseTimings,
  type FeatureGate,
  type FlagValues as FlagValuesByName,
  type LeaseTimings,
  type LogLevels,
  type ModuleFlag,
  parseLogLevels,
  parseNamespace,
  parseObjectName,
  readModuleFlag,
  splitList,
  splitPair,
} from "@quartet/core";
import { type ListenAddress, MAX_PORT } from "./address.ts";
import { type NamedController, selectControllers } from "./controllers.ts";
import { resolveFeatureGates } from "./feature-gates.ts";
import type { FlagValues } from "./flag-values.ts";

/** Bytes of a MiB. */
const MEBIBYTE = 1024 * 1024;

/** Concurrency of controllers; `default` holds for those without an entry. */
interface Concurrency {
  readonly default: number;
  readonly byController: Readonly<Record<string, number>>;
}

/** Where webhook certificates come from. */
type CertMode = "self" | "files" | "cert-manager";

/** All settings of a manager. Times are milliseconds. */
export interface ManagerSettings {
  /** Canonical names of the controllers to run. */
  readonly controllers: readonly string[];
  /** Canonical names of the controllers that only plan their writes. */
  readonly dryRunControllers: readonly string[];
  /** Feature gates by name. */
  readonly features: Readonly<Record<string, boolean>>;
  /** Empty means all. */
  readonly namespaces: readonly string[];
  readonly kube: {
    readonly kubeconfig: string | undefined;
    readonly context: string | undefined;
    /** Negative: no limit. */
    readonly qps: number;
    readonly burst: number;
    readonly compression: boolean;
  };
  readonly leaderElection: LeaseTimings & {
    readonly enabled: boolean | "auto";
    readonly id: string;
    readonly namespace: string | undefined;
    readonly releaseOnCancel: boolean;
  };
  /** Start of the names of the manager's own objects. */
  readonly release: string;
  readonly metrics: {
    readonly address: ListenAddress | undefined;
    readonly secure: boolean;
    /** `undefined`: the certificate is made at the start. */
    readonly certDir: string | undefined;
  };
  readonly health: { readonly address: ListenAddress | undefined };
  readonly debug: { readonly address: ListenAddress | undefined };
  readonly webhook: {
    /** `undefined`: no webhook server. */
    readonly port: number | undefined;
    readonly certMode: CertMode;
    readonly certDir: string | undefined;
    readonly clientCA: string | undefined;
  };
  readonly concurrency: Concurrency;
  readonly reconcileTimeoutMs: number;
  readonly syncPeriodMs: number;
  readonly cacheSyncTimeoutMs: number;
  /** Most bytes that are cached of one namespace. */
  readonly cacheNamespaceBytes: number;
  readonly warmup: boolean;
  readonly recoverPanic: boolean;
  readonly gracefulShutdownTimeoutMs: number;
  readonly shutdownDelayMs: number;
  readonly log: { readonly levels: LogLevels; readonly format: "json" | "console" };
  /** Values of the modules' own flags by flag name. */
  readonly moduleFlags: FlagValuesByName;
  /** Texts to log as warnings at the start. */
  readonly warnings: readonly string[];
}

/** What the settings' meaning depends on beside the flags. */
export interface SettingsContext {
  readonly controllers: readonly NamedController[];
  readonly moduleFlags: readonly ModuleFlag[];
  /** Gates of all modules. */
  readonly gates: readonly FeatureGate[];
}

/** Settings of a set of flags; every problem is a `ConfigurationError` that names flag, value and remedy. */
export function readSettings(values: FlagValues, context: SettingsContext): ManagerSettings {
  const optional = (name: string): string | undefined => values.string(name) || undefined;
  const gates = resolveFeatureGates(values.string("feature-gates"), context.gates);
  const dry = values.read("dry-run-controllers", (text) => {
    const named = splitList(text);
    return named.length === 0 ? [] : selectControllers(named, context.controllers);
  });
  const webhookPort = values.number("webhook-port", { integer: true, min: -1, max: MAX_PORT });
  return {
    controllers: selectControllers(values.list("controllers"), context.controllers),
    dryRunControllers: dry,
    features: gates.features,
    namespaces: values.namespaces("namespaces"),
    kube: {
      kubeconfig: optional("kubeconfig"),
      context: optional("context"),
      qps: values.number("kube-api-qps"),
      burst: values.number("kube-api-burst", { integer: true, min: 0 }),
      compression: values.boolean("kube-api-compression"),
    },
    leaderElection: readLeaderElection(values),
    release: values.read("release-name", parseObjectName),
    metrics: {
      address: values.address("metrics-bind-address"),
      secure: values.boolean("metrics-secure"),
      certDir: values.string("metrics-cert-dir") || undefined,
    },
    health: { address: values.address("health-probe-bind-address") },
    debug: { address: values.address("debug-bind-address") },
    webhook: {
      port: webhookPort < 0 ? undefined : webhookPort,
      certMode: values.oneOf("webhook-cert-mode", ["self", "files", "cert-manager"]),
      certDir: optional("webhook-cert-dir"),
      clientCA: optional("webhook-client-ca"),
    },
    concurrency: values.read("max-concurrent-reconciles", (text) =>
      parseConcurrency(text, context.controllers),
    ),
    reconcileTimeoutMs: values.duration("reconcile-timeout", { min: 0 }),
    syncPeriodMs: values.duration("sync-period", { min: 0 }),
    cacheSyncTimeoutMs: values.duration("cache-sync-timeout", { min: 1 }),
    cacheNamespaceBytes: values.number("cache-namespace-limit", { min: 1 }) * MEBIBYTE,
    warmup: values.boolean("warmup"),
    recoverPanic: values.boolean("recover-panic"),
    gracefulShutdownTimeoutMs: values.duration("graceful-shutdown-timeout"),
    shutdownDelayMs: values.duration("shutdown-delay", { min: 0 }),
    log: {
      levels: values.read("log-level", parseLogLevels),
      format: values.oneOf("log-format", ["json", "console"]),
    },
    moduleFlags: readModuleFlags(values, context.moduleFlags),
    warnings: [
      ...gates.warnings,
      ...dry.map((name) => `${name} runs dry (--dry-run-controllers): it plans and changes nothing`),
    ],
  };
}

/**
 * Concurrency of a text such as `8`, `tars=8,tunnel=1` or `2,tars=8`. Without a bare number the default is
 * {@link DEFAULT_CONCURRENCY}.
 */
function parseConcurrency(text: string, known: readonly NamedController[]): Concurrency {
  let fallback = DEFAULT_CONCURRENCY;
  const byController: Record<string, number> = {};
  for (const entry of splitList(text)) {
    const [first, second] = splitPair(entry);
    const count = Number(second ?? first);
    if (!Number.isInteger(count) || count < 1) {
      throw new Error(`${JSON.stringify(entry)}: a concurrency is a whole number of at least 1`);
    }
    if (second === undefined || first === "default") fallback = count;
    else byController[selectControllers([first], known)[0]!] = count;
  }
  return { default: fallback, byController };
}

/** Reconciles of one controller at a time: an I/O-bound process would idle with controller-runtime's 1. */
const DEFAULT_CONCURRENCY: number = 4;

function readLeaderElection(values: FlagValues): ManagerSettings["leaderElection"] {
  const enabled = values.oneOf("leader-elect", ["auto", "true", "false"]);
  const timings: LeaseTimings = {
    leaseDurationMs: values.duration("lease-duration"),
    renewDeadlineMs: values.duration("renew-deadline"),
    retryPeriodMs: values.duration("retry-period"),
  };
  checkLeaseTimings(timings);
  const id = values.read("leader-election-id", parseObjectName);
  return {
    ...timings,
    enabled: enabled === "auto" ? "auto" : enabled === "true",
    id,
    namespace: values.read("leader-election-namespace", (text) => text && parseNamespace(text)) || undefined,
    releaseOnCancel: values.boolean("leader-election-release-on-cancel"),
  };
}

function readModuleFlags(values: FlagValues, flags: readonly ModuleFlag[]): FlagValuesByName {
  return Object.fromEntries(
    flags.map((flag) => [flag.name, values.read(flag.name, (text) => readModuleFlag(flag, text))]),
  );
}
