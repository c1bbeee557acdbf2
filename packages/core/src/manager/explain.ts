/** What a manager knows of one object: the answer of `quartet explain`. */
import type { Cache, Informer } from "../cache/types.ts";
import type { Controller } from "../controller/types.ts";
import { type Kind, keyToString, parseKey } from "../object.ts";
import type { PlanEntry } from "../plan/planner.ts";
import type { WriteJournal } from "./write-journal.ts";

/** Names of set-aside objects that the answer holds at most. */
const MAX_SET_ASIDE = 20;

export interface ExplainOptions {
  controllers: readonly Controller[];
  cache: Pick<Cache, "informers">;
  journal: WriteJournal;
  leader: boolean;
  /** What a controller would change, if it only plans. */
  planOf?: (controller: Controller) => readonly PlanEntry[] | undefined;
}

/**
 * Conditions of the object, state of the queue, last outcome and last writes of a key, for each controller of that name or
 * kind; a text that names those that there are when none is meant. `kind` is a controller's name, a kind or a plural, in
 * any case.
 */
export function explain(
  kind: string,
  key: string,
  options: ExplainOptions,
): Record<string, unknown> | string {
  const wanted = kind.toLowerCase();
  const found = options.controllers.filter((controller) => {
    const primary = primaryKind(controller);
    const names = [
      controller.name,
      primary?.kind,
      primary?.plural,
      primary && `${primary.plural}.${primary.group}`,
    ];
    return names.some((name) => name?.toLowerCase() === wanted);
  });
  if (found.length === 0) {
    const known = options.controllers.map((controller) => {
      const { kind: primary = controller.name } = primaryKind(controller) ?? {};
      return primary.toLowerCase() === controller.name ? primary : `${controller.name} (${primary})`;
    });
    return `no controller works on ${JSON.stringify(kind)}: name one of ${known.join(", ")}`;
  }
  return {
    leader: options.leader,
    controllers: found.map((controller) => {
      const plan = options.planOf?.(controller);
      return {
        object: objectFacts(primaryKind(controller), key, options.cache),
        ...controller.explain(parseKey(key)),
        ...(plan !== undefined && { dryRun: true, plan }),
        lastWrites: options.journal.entries(controller.name, key),
      };
    }),
    caches: cacheFacts(options.cache),
  };
}

function primaryKind(controller: Controller): Kind | undefined {
  return controller.sources.find((source) => source.role === "for")?.kind;
}

/** What the object itself says of its state: the conditions name the reasons. */
function objectFacts(
  kind: Kind | undefined,
  key: string,
  cache: Pick<Cache, "informers">,
): Record<string, unknown> | undefined {
  if (kind === undefined) return undefined;
  const informers = cache.informers(kind);
  const object = informers
    .map((informer) => informer.get(parseKey(key)))
    .find((found) => found !== undefined);
  const aside = informers
    .flatMap((informer) => informer.setAside())
    .find((entry) => keyToString(entry.key) === key);
  const setAside = aside && { setAside: `version ${aside.version} cannot be cached: ${aside.reason}` };
  if (object === undefined) return { found: false, ...setAside };
  const { generation, deletionTimestamp, finalizers } = object.metadata;
  const status = (object as { status?: Record<string, unknown> }).status ?? {};
  const { observedGeneration, phase } = status;
  return {
    found: true,
    ...setAside,
    ...(generation !== undefined && { generation }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp, finalizers }),
    ...(phase !== undefined && { phase }),
    conditions: conditionsIn(status),
  };
}

/** Each once, though a kind may keep them in two lists for the sake of its clients. */
function conditionsIn(status: Record<string, unknown>): Record<string, unknown>[] {
  const all = Object.values(status)
    .filter((field) => Array.isArray(field))
    .flatMap((field) => field.filter(isCondition).map(describeCondition));
  return [...new Map(all.map((condition) => [JSON.stringify(condition), condition])).values()];
}

interface ConditionLike {
  type: string;
  status: string;
  reason: string;
  message?: unknown;
  lastTransitionTime?: unknown;
}

/** Kinds keep their conditions under several names; a reason tells them from lists of other things. */
function isCondition(value: unknown): value is ConditionLike {
  const { type, status, reason } = (value ?? {}) as Partial<ConditionLike>;
  return typeof type === "string" && typeof status === "string" && typeof reason === "string";
}

function describeCondition(condition: ConditionLike): Record<string, unknown> {
  const { type, status, reason, message, lastTransitionTime } = condition;
  return { type, status, reason, ...(message !== "" && { message }), since: lastTransitionTime };
}

/** One entry for a kind, whatever the number of its informers: for single namespaces, names or labels. */
function cacheFacts(cache: Pick<Cache, "informers">): Record<string, unknown>[] {
  const kinds = new Map<string, Informer[]>();
  for (const informer of cache.informers()) {
    const { kind, version, group } = informer.kind;
    const name = `${kind}.${version}.${group || "core"}`;
    kinds.set(name, [...(kinds.get(name) ?? []), informer]);
  }
  return [...kinds].map(([kind, informers]) => ({
    kind,
    state: [...new Set(informers.map(({ state }) => state))].join(", "),
    objects: informers.reduce((sum, informer) => sum + informer.list().length, 0),
    ...setAsideFacts(informers),
  }));
}

/** Objects that the cache could not take in, the first of them by name; nothing where there are none. */
function setAsideFacts(informers: readonly Informer[]): Record<string, unknown> {
  const entries = informers.flatMap((informer) => informer.setAside());
  if (entries.length === 0) return {};
  const named = entries.slice(0, MAX_SET_ASIDE).map(({ key, reason }) => `${keyToString(key)}: ${reason}`);
  return { setAside: entries.length, setAsideObjects: named };
}
