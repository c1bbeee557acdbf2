/** Where a module may write: beside the object that it works for, and elsewhere only by a declared right. */
import type { AdmissionCall } from "../admission-context.ts";
import type { ClientHooks, WriteInfo } from "../client/types.ts";
import type { RunContext } from "../controller/rejections.ts";
import type { FlagValues } from "../module/flags.ts";
import type { Right } from "../module/rights.ts";
import { keyToString, parseKey } from "../object.ts";

/** A write to a place that the reconciled object gives no right to. */
export class WriteOutOfBoundsError extends Error {
  override readonly name = "WriteOutOfBoundsError";
}

/** In the course of what code runs. */
export interface Course {
  /** The reconcile, if any. */
  readonly run: () => RunContext | undefined;
  /** The call of a webhook's handler, if any. */
  readonly admission: () => AdmissionCall | undefined;
}

/**
 * Hooks that keep the writes of a module in the namespace of the object that they are about, reconciled or asked about by
 * a webhook, whatever a tenant managed to have written into what is sent (CORE-244). What is written in no such course
 * has no object of its own, and goes only where a right says so.
 * @param rights of the module; those with `elsewhere` allow more
 * @param flags of the module, by which a right may name namespaces
 */
export function writeBounds(
  rights: readonly Right[],
  flags: FlagValues,
  { run, admission }: Course,
): ClientHooks {
  return {
    beforeWrite(info) {
      const reconcile = run();
      const call = admission();
      if (reconcile !== undefined && isBeside(reconcile, info)) return;
      if (call !== undefined && info.kind.namespaced && info.key.namespace === call.namespace) return;
      if (isAllowed(rights, flags, info)) return;
      const { verb, kind, key } = info;
      throw new WriteOutOfBoundsError(
        `${verb} of ${kind.plural} ${keyToString(key)} not sent: ${describe(reconcile, call)} may not write there; ` +
          `a module that has to declares the right with "elsewhere"`,
      );
    },
  };
}

function describe(run: RunContext | undefined, call: AdmissionCall | undefined): string {
  if (run !== undefined) return `a reconcile of ${run.key} by controller ${run.controller}`;
  if (call !== undefined) return `a webhook's handler for namespace ${JSON.stringify(call.namespace)}`;
  return "code outside of reconciles and webhooks";
}

/** In the namespace of the reconciled object, or that object itself. */
function isBeside(run: RunContext, { kind, key }: WriteInfo): boolean {
  const own = parseKey(run.key);
  if (kind.namespaced && key.namespace === own.namespace) return true;
  const sameKind = run.kind?.group === kind.group && run.kind.plural === kind.plural;
  return sameKind && key.name === own.name && key.namespace === own.namespace;
}

function isAllowed(rights: readonly Right[], flags: FlagValues, info: WriteInfo): boolean {
  const { kind, key, subresource } = info;
  const verb = info.verb === "apply" ? "patch" : info.verb;
  return rights.some((right) => {
    const { names } = right;
    const elsewhere = typeof right.elsewhere === "function" ? right.elsewhere(flags) : right.elsewhere;
    if (elsewhere === undefined || (elsewhere !== "any" && !elsewhere.includes(key.namespace))) return false;
    if (right.kind.group !== kind.group || right.kind.plural !== kind.plural) return false;
    if (right.subresource !== subresource || !right.verbs.includes(verb)) return false;
    return names === undefined || names.includes(key.name);
  });
}
