/** Commands that a controller package adds to the program. */
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { ExitCode } from "../manager/errors.ts";
import type { Logger } from "../observe/types.ts";

/** What a command works with. */
export interface CommandContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the program is told to stop. */
  readonly signal: AbortSignal;
  /** Writes to the standard output. */
  print(text: string): void;
}

/** A command such as `quartet tars preflight`. */
export interface ModuleCommand {
  /** Its words, separated by blanks. */
  readonly words: string;
  /** What it does, in one line. */
  readonly help: string;
  run(context: CommandContext): Promise<ExitCode>;
}
