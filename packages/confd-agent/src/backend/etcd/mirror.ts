/**
 * Values of watched ranges, kept current by what the watch tells: after a change a run need not ask the server again.
 * One watcher tells of all keys of its range in the order of the store's revisions, so a range is always as the store was
 * at one revision; two ranges need not be at the same one.
 */
import { belongs } from "../backend.ts";
import type { EtcdSnapshot } from "./read.ts";

/** A key's new value; without one it was deleted. Byte strings. */
export interface Change {
  readonly key: string;
  readonly value: string | undefined;
  readonly revision: number;
}

export interface Mirror {
  /** A watcher stands: all changes of the range behind the position will be told. */
  start(range: string, position: number): void;
  /** Nothing more is told of the range. */
  stop(range: string): void;
  /** Takes what was read of the ranges. */
  fill(ranges: readonly string[], snapshot: EtcdSnapshot): void;
  /** A watcher's changes, in their order; not `complete` when more of the same revision follow. */
  apply(range: string, changes: readonly Change[], complete: boolean): void;
  /** The ranges as they were at one revision, the given one or a later one; nothing where that is not known. */
  read(ranges: readonly string[], atLeast: number): EtcdSnapshot | undefined;
}

interface Part {
  /** Changes up to here were told. */
  position: number;
  /** Changes up to here were in what was read. */
  readAt: number;
  complete: boolean;
  /** What the range holds at the position; nothing before it was read. */
  values: Map<string, string> | undefined;
}

export function createMirror(): Mirror {
  const parts = new Map<string, Part>();
  let clusterId = "";
  return {
    start: (range, position) =>
      void parts.set(range, { position, readAt: 0, complete: true, values: undefined }),
    stop: (range) => void parts.delete(range),
    fill: (ranges, snapshot) => {
      clusterId = snapshot.clusterId;
      const filled = new Map<string, Map<string, string>>();
      for (const [range, part] of parts) {
        // What was told since the read is not in it.
        const isBehind = snapshot.revision < part.position || !part.complete;
        if (isBehind || !ranges.some((asked) => belongs(range, asked))) continue;
        part.values = new Map();
        part.position = snapshot.revision;
        part.readAt = snapshot.revision;
        filled.set(range, part.values);
      }
      if (filled.size === 0) return;
      for (const [key, value] of snapshot.values) filled.get(rangeOf(key, filled) ?? "")?.set(key, value);
    },
    apply: (range, changes, complete) => {
      const part = parts.get(range);
      if (part === undefined) return;
      for (const { key, value, revision } of changes) {
        if (revision <= part.readAt) continue;
        if (value === undefined) part.values?.delete(key);
        else part.values?.set(key, value);
        part.position = Math.max(part.position, revision);
      }
      part.complete = complete;
    },
    read: (ranges, atLeast) => {
      for (const [range, { position, complete, values }] of parts) {
        if (values === undefined || !complete || position < atLeast) continue;
        if (!ranges.every((asked) => belongs(asked, range))) continue;
        const isWhole = ranges.length === 1 && ranges[0] === range;
        const asked = isWhole
          ? values
          : [...values].filter(([key]) => ranges.some((one) => belongs(key, one)));
        return { values: new Map(asked), revision: position, clusterId };
      }
      return undefined;
    },
  };
}

/** The range that a key belongs to; none of them lies within another. */
function rangeOf(key: string, ranges: ReadonlyMap<string, unknown>): string | undefined {
  for (let at = key.length; at > 0; at = key.lastIndexOf("/", at - 1)) {
    const range = key.slice(0, at);
    if (ranges.has(range)) return range;
  }
  return ranges.has("/") ? "/" : undefined;
}
