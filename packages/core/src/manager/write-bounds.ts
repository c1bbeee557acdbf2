/** Where a controller may write: beside the object that it reconciles, and elsewhere only by a declared right. */
import type { ClientHooks, WriteInfo } from "../client/types.ts";
import type { RunContext } from "../controller/rejections.ts";
import type { Right } from "../module/rights.ts";
import { keyToString, parseKey } from "../object.ts";

/** A write to a place that the reconciled object gives no right to. */
export class WriteOutOfBoundsError extends Error {
  override readonly name = "WriteOutOfBoundsError";
}

/**
 * Hooks that keep the writes of a controller's reconciles in the namespace of the reconciled object, whatever a tenant
 * managed to have written into what is sent (CORE-244).
 * @param rights of the module; those with `elsewhere` allow more
 * @param currentRun the reconcile in whose course the write is sent
 */
export function writeBounds(rights: readonly Right[], currentRun: () => RunContext | undefined): ClientHooks {
  return {
    beforeWrite(info) {
      const run = currentRun();
      if (run === undefined || isBeside(run, info) || isAllowed(rights, info)) return;
      const { verb, kind, key } = info;
      throw new WriteOutOfBoundsError(
        `${verb} of ${kind.plural} ${keyToString(key)} not sent: a reconcile of ${run.key} by controller ${run.controller} ` +
          `may not write there; a module that has to declares the right with "elsewhere"`,
      );
    },
  };
}

/** In the namespace of the reconciled object, or that object itself. */
function isBeside(run: RunContext, { kind, key }: WriteInfo): boolean {
  const own = parseKey(run.key);
  if (kind.namespaced && key.namespace === own.namespace) return true;
  const sameKind = run.kind?.group === kind.group && run.kind.plural === kind.plural;
  return sameKind && key.name === own.name && key.namespace === own.namespace;
}

function isAllowed(rights: readonly Right[], info: WriteInfo): boolean {
  const { kind, key, subresource } = info;
  const verb = info.verb === "apply" ? "patch" : info.verb;
  return rights.some((right) => {
    const { elsewhere, names } = right;
    if (elsewhere === undefined || (elsewhere !== "any" && !elsewhere.includes(key.namespace))) return false;
    if (right.kind.group !== kind.group || right.kind.plural !== kind.plural) return false;
    if (right.subresource !== subresource || !right.verbs.includes(verb)) return false;
    return names === undefined || verb === "create" || names.includes(key.name);
  });
}
