/** What a manager knows of one object: the answer of `quartet explain`. */
import type { Cache } from "../cache/types.ts";
import type { Controller } from "../controller/types.ts";
import { parseKey } from "../object.ts";
import type { PlanEntry } from "../plan/planner.ts";
import type { WriteJournal } from "./write-journal.ts";

export interface ExplainOptions {
  controllers: readonly Controller[];
  cache: Pick<Cache, "informers">;
  journal: WriteJournal;
  leader: boolean;
  /** What a controller would change, if it only plans. */
  planOf?: (controller: string) => readonly PlanEntry[] | undefined;
}

/**
 * State of the queue, last outcome and last writes of a key, for each controller of that name or kind; `undefined`
 * when there is none. `kind` is a controller's name, a kind or a plural, in any case.
 */
export function explain(
  kind: string,
  key: string,
  options: ExplainOptions,
): Record<string, unknown> | undefined {
  const wanted = kind.toLowerCase();
  const found = options.controllers.filter((controller) => {
    const primary = controller.sources.find((source) => source.role === "for")?.kind;
    const names = [
      controller.name,
      primary?.kind,
      primary?.plural,
      primary && `${primary.plural}.${primary.group}`,
    ];
    return names.some((name) => name?.toLowerCase() === wanted);
  });
  if (found.length === 0) return undefined;
  return {
    leader: options.leader,
    controllers: found.map((controller) => {
      const plan = options.planOf?.(controller.name);
      return {
        ...controller.explain(parseKey(key)),
        ...(plan !== undefined && { dryRun: true, plan }),
        lastWrites: options.journal.entries(controller.name, key),
      };
    }),
    caches: options.cache.informers().map((informer) => ({
      kind: `${informer.kind.kind}.${informer.kind.version}.${informer.kind.group || "core"}`,
      state: informer.state,
      objects: informer.list().length,
    })),
  };
}
