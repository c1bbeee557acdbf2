/** The command line of the program. */
import { ConfigurationError, EXIT, type ExitCode, exitCodeOf, messageOf } from "@quartet/core";
import { check, configText, helpText, rbacText, versionText } from "./commands.ts";
import { MANAGER_FLAGS, moduleFlagSpecs } from "./config/flags.ts";
import { type LoadedSettings, loadSettings } from "./config/load.ts";
import { prepareDev } from "./dev.ts";
import { explainText } from "./explain.ts";
import { commandsOf, offlineCommand, offlineCommandsOf, runModuleCommand } from "./module-command.ts";
import type { Program } from "./program.ts";
import { type RunningManager, startLoaded } from "./run.ts";

/** Commands, with the defaults in which they differ from `run`. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run: {},
  dev: {
    "leader-elect": "false",
    "log-format": "console",
    "webhook-port": "0",
    "metrics-bind-address": "127.0.0.1:8080",
    "health-probe-bind-address": "127.0.0.1:8081",
  },
  explain: {},
  patch: {},
  serves: {},
  plan: {},
  "adopt-crd": {},
  version: {},
  help: {},
};

/** Runs the program and resolves with its exit code; what went wrong is the last line on stderr. */
export async function runCli(program: Program): Promise<ExitCode> {
  try {
    return await dispatch(program);
  } catch (error) {
    program.stderr.write(`quartet: ${messageOf(error)}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(program: Program): Promise<ExitCode> {
  // These must work whatever the other settings are.
  const [first] = program.args;
  const asks = (word: string, ...flags: string[]): boolean =>
    first === word || flags.some((flag) => program.args.includes(flag));
  if (asks("version", "--version")) return print(program, versionText());
  if (asks("help", "--help", "-h")) {
    const own = moduleFlagSpecs(program.modules.flatMap(({ flags }) => flags));
    return print(
      program,
      helpText([...MANAGER_FLAGS, ...own], [...commandsOf(program), ...offlineCommandsOf(program)]),
    );
  }
  // No setting of a manager matters to these, and no cluster.
  if (first === "patch") {
    const { patchText } = await import("./patch.ts");
    return print(program, await patchText(program.args.slice(1)));
  }
  if (first === "serves") {
    const { servesText } = await import("./serves.ts");
    return print(program, await servesText(program.args.slice(1)));
  }
  const offline = offlineCommand(program);
  if (offline !== undefined) return print(program, await offline.command.text(offline.rest));
  const load = (): Promise<LoadedSettings> =>
    loadSettings({
      args: program.args,
      env: program.env,
      modules: program.modules,
      defaults: ([word = "run"]) => (Object.hasOwn(COMMANDS, word) ? COMMANDS[word]! : {}),
    });
  const loaded = await load();
  const own = commandsOf(program);
  const command = own.find(({ words }) => words === loaded.words.join(" "));
  if (command !== undefined) return runModuleCommand(command, loaded, program);
  const [word = "run", ...rest] = loaded.words;
  if (!Object.hasOwn(COMMANDS, word)) {
    const ofModules = [...own, ...offlineCommandsOf(program)].map(({ words }) => words);
    const known = [...Object.keys(COMMANDS), ...ofModules];
    throw new ConfigurationError(`unknown command ${loaded.words.join(" ")}: known are ${known.join(", ")}`);
  }
  if (word === "explain") return print(program, await explainText(loaded, rest));
  if (word === "adopt-crd") {
    const { adoptCrd } = await import("./adopt.ts");
    return print(program, await adoptCrd(loaded, rest, program));
  }
  if (word === "plan") {
    const { plan } = await import("./plan.ts");
    return plan(loaded, rest, program);
  }
  if (rest.length > 0) throw new ConfigurationError(`${word} takes no argument ${rest[0]}`);
  const asked = (flag: string): boolean => loaded.texts.get(flag)?.text === "true";
  if (asked("print-config")) return print(program, configText(loaded));
  if (asked("print-rbac")) return print(program, rbacText(loaded, program));
  if (asked("check")) return check(loaded, program);
  if (word === "dev") await prepareDev(loaded, program);
  return runUntilStopped(loaded, load, program);
}

function print(program: Program, text: string): ExitCode {
  program.stdout.write(text);
  return EXIT.clean;
}

/** Runs the manager until a signal or a failure ends it. */
async function runUntilStopped(
  loaded: LoadedSettings,
  load: () => Promise<LoadedSettings>,
  program: Program,
): Promise<ExitCode> {
  let running: RunningManager | undefined;
  let signalled = false;
  const stop = (signal: NodeJS.Signals) => (): void => {
    // Twice means: now. Before the start is over there is nothing to put away.
    if (signalled || running === undefined) {
      program.exit(EXIT.failure);
      return;
    }
    signalled = true;
    running.logging.log.info("Signal received", { signal });
    void running.stop();
  };
  const undo = [
    program.onSignal("SIGTERM", stop("SIGTERM")),
    program.onSignal("SIGINT", stop("SIGINT")),
    program.onSignal("SIGUSR1", () => {
      const debug = running?.logging.toggleDebug();
      running?.logging.log.info("Log level toggled", { debug });
    }),
  ];
  try {
    running = await startLoaded(loaded, load, {
      modules: program.modules,
      env: program.env,
      args: program.args,
      registerWebhooks: loaded.words[0] === "dev",
    });
    const { code, error, stuck } = await running.ended;
    const { log } = running.logging;
    if (error !== undefined) log.error("Stopped by an error", { error, code });
    else if (code === EXIT.clean) log.info("Stopped", { code });
    else log.error("Stopped, but not in time", { code, stuck });
    return code;
  } catch (error) {
    // Bad configuration and missing rights are told in plain text, the rest is in the log already.
    if (exitCodeOf(error) !== EXIT.failure) throw error;
    return EXIT.failure;
  } finally {
    for (const fn of undo) fn();
  }
}
