/** Tells code that runs within a webhook's handler. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Module-level because it follows asynchronous calls; it holds no state of its own. */
const handlers: AsyncLocalStorage<true> = new AsyncLocalStorage();

/** Runs a webhook's handler, and all that it starts, so that {@link isInAdmission} is true in it. */
export function inAdmission<T>(handle: () => T): T {
  return handlers.run(true, handle);
}

export function isInAdmission(): boolean {
  return handlers.getStore() === true;
}
