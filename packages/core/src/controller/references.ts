/**
 * Objects that the resources of a controller refer to: followed while somebody refers to them. Who refers to an object
 * is queued when it changes, and is handed out only when all that it refers to is known, so that no worker waits for
 * what a resource names.
 */
import type { Cache } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { type DeepReadonly, type KubeObject, keyOf, keyToString } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { UnreadableError } from "./errors.ts";
import { createFollowing, type Following, type Item } from "./following.ts";
import type { BuiltReferences } from "./plan.ts";
import { nameTarget, type Target, targetOf } from "./reference-target.ts";
import type { Debounce, Reference, SourceReader } from "./types.ts";

/** Longest wait of a resource for what it refers to, milliseconds; then it runs, and reads say what cannot be read. */
const MAX_WAIT_MS = 10_000;
/** References of one resource by one declaration. */
const MAX_REFERENCES = 100;

export interface ReferencesOptions {
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Something that a resource refers to has changed. */
  onNews(owner: string, debounce: Debounce | undefined): void;
  readonly signal: AbortSignal;
}

export interface References {
  /**
   * Follows what a resource refers to now; without one, ends what was followed for it. Resolves when all of it is known;
   * `undefined` when it is already.
   */
  follow(
    owner: string,
    resource: DeepReadonly<KubeObject> | undefined,
    sources: SourceReader,
  ): Promise<void> | undefined;
  /** The sources of a controller, and before them what a resource refers to. */
  readerFor(owner: string, sources: SourceReader): SourceReader;
  stop(): void;
}

interface Owner {
  readonly ids: Set<string>;
  /** Kinds of which it names too many. */
  readonly overflows: Set<string>;
  /** What was waited for in vain. */
  readonly late: Set<string>;
  waiting: { readonly promise: Promise<void>; end(): void } | undefined;
}

export function createReferences(
  declared: readonly BuiltReferences[],
  options: ReferencesOptions,
): References {
  const { clock, log } = options;
  const owners = new Map<string, Owner>();
  const following: Following = createFollowing(options, (interested) => {
    for (const [name, debounce] of [...interested]) {
      const owner = owners.get(name);
      if (owner?.waiting === undefined) options.onNews(name, debounce);
      else if (unknownOf(owner).length === 0) owner.waiting.end();
    }
  });
  const unknownOf = ({ ids, late }: Owner): string[] =>
    [...ids].filter((id) => !late.has(id) && !following.get(id)?.isKnown());

  const forget = (name: string): void => {
    const owner = owners.get(name);
    owners.delete(name);
    for (const id of owner?.ids ?? []) following.leave(id, name);
    owner?.waiting?.end();
  };
  /** What a resource refers to. Where that cannot be told it refers to nothing: one bad object is set aside. */
  const referencesOf = (
    { kind, refs }: BuiltReferences,
    resource: DeepReadonly<KubeObject>,
    sources: SourceReader,
  ): readonly Reference[] => {
    try {
      return refs(resource, sources);
    } catch (error) {
      const object = keyToString(keyOf(resource));
      log.error("it cannot be told what an object refers to", { object, kind: kind.kind, error });
      return [];
    }
  };
  const relink = (
    name: string,
    owner: Owner,
    resource: DeepReadonly<KubeObject>,
    sources: SourceReader,
  ): void => {
    const before = new Set(owner.ids);
    owner.overflows.clear();
    for (const declaration of declared) {
      const { kind, debounce } = declaration;
      const references = referencesOf(declaration, resource, sources);
      const targets = references.flatMap((reference) => targetOf(reference, declaration, resource) ?? []);
      for (const target of targets.slice(0, MAX_REFERENCES)) {
        if (!following.join(target, name, debounce)) owner.overflows.add(kind.kind);
        else {
          owner.ids.add(target.id);
          before.delete(target.id);
        }
      }
      if (targets.length > MAX_REFERENCES) owner.overflows.add(kind.kind);
    }
    for (const id of before) {
      owner.ids.delete(id);
      owner.late.delete(id);
      following.leave(id, name);
    }
  };
  const wait = (owner: Owner): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      cancel();
      owner.waiting = undefined;
      resolve();
    };
    const cancel = clock.setTimer(MAX_WAIT_MS, () => {
      for (const id of unknownOf(owner)) owner.late.add(id);
      end();
    });
    owner.waiting = { promise, end };
    return promise;
  };

  return {
    follow(name, resource, sources) {
      if (resource === undefined) {
        forget(name);
        return undefined;
      }
      const owner = owners.get(name) ?? {
        ids: new Set(),
        overflows: new Set(),
        late: new Set(),
        waiting: undefined,
      };
      owners.set(name, owner);
      relink(name, owner, resource, sources);
      if (unknownOf(owner).length > 0) return owner.waiting?.promise ?? wait(owner);
      owner.waiting?.end();
      return undefined;
    },
    readerFor(name, sources) {
      const find = (target: Target | undefined): Item | undefined =>
        target && owners.get(name)?.ids.has(target.id) ? following.get(target.id) : undefined;
      const refuseOverflow = (kind: string): void => {
        if (owners.get(name)?.overflows.has(kind))
          throw new UnreadableError(
            `${kind}: more are referred to than the ${MAX_REFERENCES} that are followed`,
          );
      };
      const isReferred = (kind: { group: string; kind: string }): boolean =>
        declared.some((one) => one.kind.group === kind.group && one.kind.kind === kind.kind);
      return {
        ...sources,
        async get(kind, key) {
          if (!isReferred(kind)) return sources.get(kind, key);
          const target = nameTarget(kind, key);
          // There is no object of an impossible name.
          if (target === undefined) return undefined;
          const found = find(target);
          if (found !== undefined) return found.read()[0] as never;
          refuseOverflow(kind.kind);
          return sources.get(kind, key);
        },
        async list(kind, filter = {}) {
          const target =
            filter.labels && targetOf({ ...filter, labels: filter.labels }, { kind, elsewhere: true });
          const found = find(target);
          if (found !== undefined) return found.read() as never;
          if (target !== undefined && isReferred(kind)) refuseOverflow(kind.kind);
          return sources.list(kind, filter);
        },
      };
    },
    stop() {
      for (const name of [...owners.keys()]) forget(name);
    },
  };
}
