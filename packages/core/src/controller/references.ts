/**
 * Objects that the resources of a controller refer to: followed while somebody refers to them. Who refers to an object
 * is queued when it changes, and is handed out only when all that it refers to is known, so that no worker waits for
 * what a resource names.
 */
import { type DeepReadonly, type Kind, type KubeObject, keyOf, keyToString, parseKey } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { UnreadableError } from "./errors.ts";
import { createFollowing, type Following, type FollowingOptions } from "./following.ts";
import type { BuiltReferences } from "./plan.ts";
import { describeTarget, targetOf } from "./reference-target.ts";
import type { Debounce, Reference, SourceReader } from "./types.ts";

/** Longest wait of a resource for what it refers to, milliseconds; then it runs, and reads say what cannot be read. */
const MAX_WAIT_MS = 10_000;
/** References of one resource by one declaration. */
const MAX_REFERENCES = 100;

export interface ReferencesOptions extends FollowingOptions {
  readonly log: Logger;
  /** Something that a resource refers to has changed. */
  onNews(owner: string, debounce: Debounce | undefined): void;
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
  /** What a resource waits for, as `Secret ns/name`; empty when it waits for nothing. */
  waitsFor(owner: string): readonly string[];
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
      const targets = references.flatMap(
        (reference) => targetOf(reference, declaration, resource.metadata.namespace ?? "") ?? [],
      );
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
      // Without references nothing is kept about a resource.
      if (declared.length === 0) return undefined;
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
      if (declared.length === 0) return sources;
      const { namespace } = parseKey(name);
      const isReferred = (kind: { group: string; kind: string }): boolean =>
        declared.some((one) => one.kind.group === kind.group && one.kind.kind === kind.kind);
      const refuseOverflow = (kind: string): void => {
        if (owners.get(name)?.overflows.has(kind))
          throw new UnreadableError(
            `${kind}: more are referred to than the ${MAX_REFERENCES} that are followed`,
          );
      };
      /** What a reference names; `undefined` when it is none of the object's. */
      const read = <T extends KubeObject>(
        kind: Kind<T>,
        reference: Reference,
      ): readonly DeepReadonly<T>[] | undefined => {
        if (!isReferred(kind)) return undefined;
        const target = targetOf(reference, { kind: kind as unknown as Kind, elsewhere: true }, namespace);
        // There is no object of an impossible name.
        if (target === undefined) return [];
        const found = owners.get(name)?.ids.has(target.id) ? following.get(target.id) : undefined;
        return found?.read() as readonly DeepReadonly<T>[] | undefined;
      };
      return {
        ...sources,
        async get(kind, key) {
          const found = read(kind, key);
          if (found !== undefined) return found[0];
          const other = await sources.get(kind, key).catch((error) => {
            refuseOverflow(kind.kind);
            throw error;
          });
          if (other === undefined) refuseOverflow(kind.kind);
          return other;
        },
        async list(kind, filter = {}) {
          const found = filter.labels && read(kind, { ...filter, labels: filter.labels });
          if (found === undefined) refuseOverflow(kind.kind);
          return found ?? sources.list(kind, filter);
        },
        referred(kind, reference) {
          const found = read(kind, reference);
          if (found === undefined) refuseOverflow(kind.kind);
          return found ?? sources.referred(kind, reference);
        },
      };
    },
    waitsFor(name) {
      const owner = owners.get(name);
      return owner?.waiting === undefined ? [] : unknownOf(owner).map(describeTarget);
    },
    stop() {
      for (const name of [...owners.keys()]) forget(name);
    },
  };
}
