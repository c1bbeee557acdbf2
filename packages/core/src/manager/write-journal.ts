/** Remembers the last writes for each reconciled object, for `quartet explain`. No value is kept, only paths. */
import type { Cache } from "../cache/types.ts";
import { mergeDiff } from "../client/merge-diff.ts";
import type { ClientHooks, WriteInfo } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { isTooDeep } from "../nesting.ts";
import { type KubeObject, keyToString } from "../object.ts";

/** Writes remembered per object, and objects per process. */
const WRITES_PER_KEY = 10;
const MAX_KEYS = 1_000;
/** Changed fields shown per write. */
const MAX_PATHS = 20;

/** Fields that change with every write. */
const BOOKKEEPING =
  /^metadata\.(resourceVersion|managedFields|generation|uid|creationTimestamp|selfLink)(\.|$)/;

/** A write as it is shown. */
interface JournalEntry {
  /** RFC 3339. */
  readonly at: string;
  /** For example `apply statefulsets.apps ns/name`. */
  readonly write: string;
  /** Paths of the fields that it changed, as far as the object before it was cached. */
  readonly changed: readonly string[];
}

export interface WriteJournal {
  /** Hooks for the client of a controller; they must run before those that change the cache. */
  hooks(controller: string): ClientHooks;
  /** Last writes for a key of a controller, newest first. */
  entries(controller: string, key: string): readonly JournalEntry[];
}

/** An empty journal. `currentKey` tells for which key the calling code runs, if any. */
export function createWriteJournal(
  cache: Pick<Cache, "informers">,
  clock: Clock,
  currentKey: () => string | undefined,
): WriteJournal {
  const byKey = new Map<string, JournalEntry[]>();
  const idOf = (controller: string, key: string): string => `${controller}\n${key}`;
  /** Objects as they were cached: the watch may tell of a write before its answer comes. */
  const before = new WeakMap<WriteInfo, { object: unknown }>();
  return {
    hooks: (controller) => ({
      beforeWrite(info) {
        if (!before.has(info)) before.set(info, { object: cachedBefore(cache, info) });
      },
      afterWrite(info, object) {
        const key = currentKey();
        // Events tell of the writes, and would push them out.
        if (key === undefined || info.kind.plural === "events") return;
        const id = idOf(controller, key);
        const earlier = byKey.get(id) ?? [];
        const entry = {
          at: new Date(clock.now()).toISOString(),
          write: describe(info),
          changed: object === undefined ? [] : changedPaths(before.get(info)?.object, object),
        };
        byKey.delete(id);
        byKey.set(id, [entry, ...earlier].slice(0, WRITES_PER_KEY));
        if (byKey.size > MAX_KEYS) byKey.delete(byKey.keys().next().value!);
      },
    }),
    entries: (controller, key) => byKey.get(idOf(controller, key)) ?? [],
  };
}

function describe({ verb, kind, key, subresource, dryRun }: WriteInfo): string {
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${what} ${keyToString(key)}${dryRun ? " (dry run)" : ""}`;
}

function cachedBefore(cache: Pick<Cache, "informers">, { kind, key }: WriteInfo): unknown {
  for (const informer of cache.informers(kind)) {
    const found = informer.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Dotted paths of the fields in which two objects differ. An object that was not there has changed in `(new)`. */
export function changedPaths(before: unknown, answer: KubeObject): string[] {
  if (before === undefined) return ["(new)"];
  const { managedFields: _, ...metadata } = answer.metadata;
  const after = { ...answer, metadata };
  const paths: string[] = [];
  const visit = (change: unknown, path: string): void => {
    if (BOOKKEEPING.test(path)) return;
    if (typeof change === "object" && change !== null && !Array.isArray(change)) {
      for (const [name, value] of Object.entries(change))
        visit(value, path === "" ? name : `${path}.${name}`);
    } else if (path !== "") paths.push(path);
  };
  if (isTooDeep(after)) return ["(nested too deep to be compared)"];
  visit(mergeDiff(before, after), "");
  return paths.length <= MAX_PATHS
    ? paths
    : [...paths.slice(0, MAX_PATHS), `and ${paths.length - MAX_PATHS} more`];
}
