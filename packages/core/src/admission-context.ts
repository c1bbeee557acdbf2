/** Tells code that runs within a webhook's handler. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Module-level because it follows asynchronous calls; it holds no state of its own. */
const handlers: AsyncLocalStorage<{ readonly mayWrite: boolean }> = new AsyncLocalStorage();

/**
 * Runs a webhook's handler, and all that it starts, so that {@link admissionWrites} tells of it.
 * @param mayWrite it has declared side effects, and the request is no dry run
 */
export function inAdmission<T>(handle: () => T, mayWrite = false): T {
  return handlers.run({ mayWrite }, handle);
}

/** What the webhook's handler that runs may do about writes; `undefined` outside of handlers. */
export function admissionWrites(): "refused" | "allowed" | undefined {
  const handler = handlers.getStore();
  if (handler === undefined) return undefined;
  return handler.mayWrite ? "allowed" : "refused";
}
