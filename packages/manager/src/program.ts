/** What the command line runs in. */
import type { ControllerModule } from "@quartet/core";

/** The outside of the program, so that tests can give another one. */
export interface Program {
  /** Command line without the program's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly modules: readonly ControllerModule[];
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Calls `fn` on every such signal of the process; the returned function undoes it. */
  onSignal(signal: NodeJS.Signals, fn: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}
