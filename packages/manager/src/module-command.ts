/** Runs a command of a module. */
import { type ExitCode, type ModuleCommand, type OfflineCommand, systemClock } from "@quartet/core";
import type { LoadedSettings } from "./config/load.ts";
import type { Program } from "./program.ts";
import { withCluster } from "./with-cluster.ts";

/** Commands of all modules, whether these are enabled or not. */
export function commandsOf({ modules }: Pick<Program, "modules">): readonly ModuleCommand[] {
  return modules.flatMap(({ commands = [] }) => commands);
}

/** Commands of all modules that need no cluster. */
export function offlineCommandsOf({ modules }: Pick<Program, "modules">): readonly OfflineCommand[] {
  return modules.flatMap(({ offlineCommands = [] }) => offlineCommands);
}

/** The command without a cluster that the arguments begin with, and the arguments behind its words. */
export function offlineCommand(
  program: Pick<Program, "modules" | "args">,
): { command: OfflineCommand; rest: readonly string[] } | undefined {
  for (const command of offlineCommandsOf(program)) {
    const words = command.words.split(" ");
    if (words.every((word, index) => program.args[index] === word))
      return { command, rest: program.args.slice(words.length) };
  }
  return undefined;
}

/** Runs the command until it ends or a signal ends it. */
export function runModuleCommand(
  command: ModuleCommand,
  loaded: LoadedSettings,
  program: Program,
): Promise<ExitCode> {
  return withCluster(loaded, program, async ({ client, log }) => {
    const stop = new AbortController();
    const undo = (["SIGTERM", "SIGINT"] as const).map((signal) =>
      program.onSignal(signal, () => stop.abort(new Error(`stopped by ${signal}`))),
    );
    try {
      return await command.run({
        client,
        clock: systemClock,
        log,
        lease: loaded.settings.leaderElection.id,
        env: program.env,
        signal: stop.signal,
        print: (text) => void program.stdout.write(text),
      });
    } finally {
      for (const fn of undo) fn();
    }
  });
}
