/** The watches behind the references of a controller: one for the names of a kind and namespace, one for a selection. */

import { ObjectSetAsideError } from "../cache/errors.ts";
import type { Cache, SizeLimits } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import type { DeepReadonly, KubeObject } from "../object.ts";
import { UnreadableError } from "./errors.ts";
import { type FollowedPlace, openFollowedPlace } from "./followed.ts";
import type { Target } from "./reference-target.ts";
import type { Debounce } from "./types.ts";

/** Selections of one kind and namespace at a time, each of which is a watch. */
const MAX_SELECTIONS = 20;

/** What of a selection is kept in memory: eight times what one ConfigMap or Secret can hold. CORE-194. */
const SELECTION_LIMITS: SizeLimits = { totalBytes: 8 * 1024 * 1024 };

/** How objects are followed. */
export interface FollowingOptions {
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  /** Ends the reads. */
  readonly signal: AbortSignal;
}

/** Who is interested, and how soon. */
export type Interested = ReadonlyMap<string, Debounce | undefined>;

/** Something that is followed. */
export interface Item {
  /** It is known what there is, or that it cannot be read. */
  isKnown(): boolean;
  /** What there is. Throws `UnreadableError`. */
  read(): readonly DeepReadonly<KubeObject>[];
}

export interface Following {
  get(id: string): Item | undefined;
  /** Follows a target for an owner; false when there are too many. */
  join(target: Target, owner: string, debounce: Debounce | undefined): boolean;
  leave(id: string, owner: string): void;
}

interface OpenItem extends Item {
  readonly interested: Map<string, Debounce | undefined>;
  close(): void;
}

interface Place {
  readonly names: FollowedPlace;
  readonly interestedIn: Map<string, OpenItem>;
}

/** @param onNews called when something has changed, or has become known */
export function createFollowing(
  options: FollowingOptions,
  onNews: (interested: Interested) => void,
): Following {
  const items = new Map<string, OpenItem>();
  const places = new Map<string, Place>();
  const selections = new Map<string, number>();
  const placeId = ({ id }: Target): string => JSON.stringify(JSON.parse(id).slice(0, 3));

  const openName = (target: Target, name: string): OpenItem => {
    const at = placeId(target);
    const place = places.get(at) ?? openPlace(target);
    places.set(at, place);
    const followed = place.names.follow(name);
    const item: OpenItem = {
      interested: new Map(),
      isKnown: () => followed.known.state !== "unknown",
      read: () => {
        const { known } = followed;
        if (known.state === "found") return [known.object];
        if (known.state === "absent") return [];
        throw unreadable(target, known.state === "unreadable" ? known.error : undefined);
      },
      close() {
        place.interestedIn.delete(name);
        place.names.unfollow(name);
        if (place.names.size > 0) return;
        places.delete(at);
        place.names.close();
      },
    };
    place.interestedIn.set(name, item);
    return item;
  };
  const openPlace = ({ kind, namespace }: Target): Place => {
    const interestedIn = new Map<string, OpenItem>();
    const onChange = (name: string): void => {
      const item = interestedIn.get(name);
      if (item !== undefined) onNews(item.interested);
    };
    return { interestedIn, names: openFollowedPlace({ ...options, kind, namespace, onChange }) };
  };

  const openSelection = (target: Target): OpenItem | undefined => {
    const at = placeId(target);
    const count = selections.get(at) ?? 0;
    if (count >= MAX_SELECTIONS) return undefined;
    selections.set(at, count + 1);
    const { kind, namespace, labelSelector = "", projection = "full" } = target;
    const informer = options.cache.informer(kind, {
      ...(kind.namespaced && { namespaces: [namespace] }),
      labelSelector,
      projection,
      limits: SELECTION_LIMITS,
      optional: true,
    });
    const interested = new Map<string, Debounce | undefined>();
    const undo = [
      informer.addHandler((event) => {
        const isNews = event.type === "add" ? !event.initial : event.type === "delete" || !event.resync;
        if (isNews) onNews(interested);
      }),
      informer.onState(() => onNews(interested)),
      () => options.cache.release(informer),
    ];
    return {
      interested,
      isKnown: () => informer.state !== "starting",
      read() {
        if (!informer.hasSynced()) throw unreadable(target, informer.lastError);
        const [aside] = informer.setAside();
        // Half of what somebody asked for is worse than none.
        if (aside !== undefined) throw unreadable(target, new ObjectSetAsideError(kind, aside));
        return informer.list();
      },
      close() {
        selections.set(at, selections.get(at)! - 1);
        if (selections.get(at) === 0) selections.delete(at);
        for (const fn of undo) fn();
      },
    };
  };

  return {
    get: (id) => items.get(id),
    join(target, owner, debounce) {
      const { id, name } = target;
      const item = items.get(id) ?? (name === undefined ? openSelection(target) : openName(target, name));
      if (item === undefined) return false;
      items.set(id, item);
      item.interested.set(owner, debounce);
      return true;
    },
    leave(id, owner) {
      const item = items.get(id);
      item?.interested.delete(owner);
      if (item === undefined || item.interested.size > 0) return;
      items.delete(id);
      item.close();
    },
  };
}

function unreadable({ kind, namespace, name, labelSelector }: Target, cause: unknown): UnreadableError {
  const what = `${kind.kind} ${namespace === "" ? "" : `${namespace}/`}${name ?? labelSelector}`;
  const why = cause === undefined ? "no answer yet" : cause instanceof Error ? cause.message : String(cause);
  return new UnreadableError(`${what} cannot be read: ${why}`, { cause });
}
