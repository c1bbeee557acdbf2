/** Tells code that runs within a webhook's handler. */
import { AsyncLocalStorage } from "node:async_hooks";

/** A call of a webhook's handler. */
export interface AdmissionCall {
  /** It has declared side effects, and the request is no dry run. */
  readonly mayWrite: boolean;
  /** Of the object that it is asked about; `""` for cluster-scoped ones. */
  readonly namespace: string;
}

/** Module-level because it follows asynchronous calls; it holds no state of its own. */
const calls: AsyncLocalStorage<AdmissionCall> = new AsyncLocalStorage();

/** Runs a webhook's handler, and all that it starts, so that {@link currentAdmission} tells of it. */
export function inAdmission<T>(handle: () => T, call: AdmissionCall): T {
  return calls.run(call, handle);
}

/** The call in whose course code runs; `undefined` outside of handlers. */
export function currentAdmission(): AdmissionCall | undefined {
  return calls.getStore();
}
