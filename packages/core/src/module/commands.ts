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
  /** Name of the Lease that managers hold (`--leader-election-id`). */
  readonly lease: string;
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

/** A command such as `quartet tunnel import`, which makes a text of its arguments and needs no cluster. */
export interface OfflineCommand {
  /** Its words, separated by blanks. */
  readonly words: string;
  /** What it does, in one line, behind its arguments. */
  readonly help: string;
  /** The text; throws `ConfigurationError` for a wrong call. */
  text(args: readonly string[]): Promise<string>;
}
