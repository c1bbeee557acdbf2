/** Attributes unhandled rejections to the reconcile that started them (CORE-231). */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Kind } from "../object.ts";
import type { Logger } from "../observe/types.ts";

/** The reconcile in whose context code runs. */
export interface RunContext {
  controller: string;
  key: string;
  /** Kind of the reconciled object, if the controller has one. */
  kind?: Kind | undefined;
  log: Logger;
  /** Counts the rejection as a panic of the controller. */
  onPanic: (error: unknown) => void;
}

/** Context of the running reconcile; module-level because Node's hook is process-wide. It holds no state itself. */
export const runContext: AsyncLocalStorage<RunContext> = new AsyncLocalStorage();

/**
 * Listens for unhandled rejections of the process: one inside a reconcile is logged and counted there, any other goes
 * to `onFatal`. Returns the function that removes the listener.
 */
export function handleRejections(onFatal: (error: unknown) => void): () => void {
  const listener = (error: unknown): void => {
    const context = runContext.getStore();
    if (context === undefined) {
      onFatal(error);
      return;
    }
    context.log.error("unhandled rejection in a reconcile", { error });
    context.onPanic(error);
  };
  process.on("unhandledRejection", listener);
  return () => void process.off("unhandledRejection", listener);
}
