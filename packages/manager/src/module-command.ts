/** Runs a command of a module. */
import {
  createClient,
  createLogging,
  type ExitCode,
  type LoadedSettings,
  type ModuleCommand,
  systemClock,
} from "@quartet/core";
import type { Program } from "./program.ts";
import { connect } from "./run.ts";
import { VERSION } from "./version.ts";

/** Commands of all modules, whether these are enabled or not. */
export function commandsOf({ modules }: Pick<Program, "modules">): readonly ModuleCommand[] {
  return modules.flatMap(({ commands = [] }) => commands);
}

/** Runs the command until it ends or a signal ends it. */
export async function runModuleCommand(
  command: ModuleCommand,
  { settings }: LoadedSettings,
  program: Program,
): Promise<ExitCode> {
  const { levels, format } = settings.log;
  const logging = createLogging({ levels, format, destination: program.stderr });
  const connection = await connect(settings.kube, program.env, logging, systemClock);
  const client = createClient({ connection, version: VERSION, log: logging.log });
  const stop = new AbortController();
  const undo = (["SIGTERM", "SIGINT"] as const).map((signal) =>
    program.onSignal(signal, () => stop.abort(new Error(`stopped by ${signal}`))),
  );
  try {
    return await command.run({
      client,
      clock: systemClock,
      log: logging.log,
      env: program.env,
      signal: stop.signal,
      print: (text) => void program.stdout.write(text),
    });
  } finally {
    for (const fn of undo) fn();
    client.close();
  }
}
