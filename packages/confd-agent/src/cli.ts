/** The command: reads its settings and does what they say. */
import { checkBackend } from "./backend/connect.ts";
import { nodesOf } from "./backend/discovery.ts";
import { parseArguments, usage } from "./config/arguments.ts";
import { type Environment, loadSettings, type Settings, secretsOf } from "./config/settings.ts";
import { ConfigError, messageOf, UsageError } from "./errors.ts";
import { createLog, type Log } from "./observe/log.ts";
import { createMetrics, NO_METRICS } from "./observe/metrics.ts";
import { checkConfig, validateTemplates } from "./offline.ts";
import type { Decrypt } from "./openpgp/keyring.ts";
import { type Agent, createAgent } from "./run/agent.ts";
import { COMMIT, VERSION } from "./version.ts";

/** Exit codes. */
const OK = 0;
const FAILED = 1;
const WRONG_CALL = 2;

export interface CliOptions {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Calls back on each of these signals; the result ends that. */
  readonly onSignal: (names: readonly NodeJS.Signals[], call: (name: NodeJS.Signals) => void) => () => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
}

/** Runs the command; the exit code. */
export async function runCli(options: CliOptions): Promise<number> {
  const { args, environment, stdout, stderr } = options;
  try {
    const given = parseArguments(args);
    if (given.get("help") === true) {
      stdout(usage());
      return OK;
    }
    if (given.get("version") === true) {
      stdout(`confd ${VERSION} (quartet ${COMMIT}, Node.js ${process.version})\n`);
      return OK;
    }
    const { settings, warnings } = loadSettings(given, environment);
    const log = createLog({
      level: settings.logLevel,
      format: settings.logFormat,
      write: stderr,
      secrets: secretsOf(settings),
    });
    for (const warning of warnings) log.log("warn", warning);
    return await perform(settings, log, options);
  } catch (error) {
    if (error instanceof UsageError) {
      stderr(`${error.message}\n${usage()}`);
      return WRONG_CALL;
    }
    if (!(error instanceof ConfigError)) throw error;
    stderr(`${error.message}\n`);
    return FAILED;
  }
}

async function perform(loaded: Settings, log: Log, options: CliOptions): Promise<number> {
  const decrypt = await decryptOf(loaded);
  if (loaded.checkConfig) return tell(checkConfig(loaded, options.environment), log);
  if (loaded.validate) return tell(await validateTemplates(loaded, options.environment, decrypt), log);
  checkBackend(loaded, options.environment);
  const settings = { ...loaded, nodes: await nodesOf(loaded, options.environment) };
  log.log("info", `Backend set to ${settings.backend}`);
  if (settings.nodes.length > 0) log.log("info", `Backend source(s) set to ${settings.nodes.join(", ")}`);
  if (settings.clientInsecure) log.log("warn", "client-insecure: the backend's certificate is not verified");
  return await work(settings, decrypt, log, options);
}

function tell(problems: readonly string[], log: Log): number {
  for (const problem of problems) log.log("error", problem);
  return problems.length === 0 ? OK : FAILED;
}

/** What decrypts values, where a keyring is given. */
async function decryptOf({ secretKeyring }: Settings): Promise<Decrypt | undefined> {
  return secretKeyring === "" ? undefined : (await import("./openpgp/keyring.ts")).loadKeyring(secretKeyring);
}

async function work(
  settings: Settings,
  decrypt: Decrypt | undefined,
  log: Log,
  options: CliOptions,
): Promise<number> {
  const stop = new AbortController();
  const exposed = settings.metricsAddr === "" ? undefined : await createMetrics();
  const printer =
    settings.noop && settings.diff ? await differencePrinter(settings, options.stdout) : undefined;
  const agent = createAgent({
    settings,
    environment: options.environment,
    log,
    metrics: exposed ?? NO_METRICS,
    stop: stop.signal,
    decrypt,
    ...(printer === undefined ? {} : { onDifference: printer }),
  });
  if (settings.preflight) return tell(await agent.preflight(), log);
  if (settings.onetime) return (await agent.once()) ? OK : FAILED;
  const server =
    exposed === undefined
      ? undefined
      : await (await import("./observe/server.ts")).startStatusServer(settings.metricsAddr, agent, exposed);
  if (server !== undefined) log.log("info", `metrics and health on port ${server.port}`);
  const forget = handleSignals(agent, stop, log, options);
  await agent.run();
  forget();
  await server?.close();
  log.log("info", "stopped");
  return OK;
}

function handleSignals(
  agent: Agent,
  stop: AbortController,
  log: Log,
  { onSignal, exit }: CliOptions,
): () => void {
  const endings = onSignal(["SIGTERM", "SIGINT"], (name) => {
    if (stop.signal.aborted) {
      log.log("warn", `${name} again: ending at once`);
      void agent.abandon().finally(() => exit(FAILED));
      return;
    }
    log.log("info", `${name}: ending`);
    stop.abort();
  });
  const others = onSignal(["SIGHUP", "SIGUSR1"], (name) => {
    log.log(
      "info",
      `${name}: ${name === "SIGHUP" ? "loading resources and templates again" : "comparing everything"}`,
    );
    if (name === "SIGHUP") agent.reload();
    else agent.resync();
  });
  return () => {
    endings();
    others();
  };
}

async function differencePrinter(settings: Settings, print: (text: string) => void) {
  const { unifiedDifference } = await import("./observe/difference.ts");
  const { diffContext: context, color } = settings;
  const secrets = secretsOf(settings);
  const hide = (text: string): string =>
    secrets.reduce((shown, secret) => shown.replaceAll(secret, "<hidden>"), text);
  return (dest: string, secret: boolean, before: Buffer, after: Buffer): void => {
    if (secret && !settings.diffSecrets)
      print(`--- ${dest}\n+++ ${dest}\n(holds secrets: -diff-secrets shows them)\n`);
    else
      print(
        hide(unifiedDifference(dest, before.toString("utf8"), after.toString("utf8"), { context, color })),
      );
  };
}

/** The text of an error that nobody expected. */
export const crash = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
