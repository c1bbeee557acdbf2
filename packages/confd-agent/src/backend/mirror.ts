/**
 * Values of watched ranges, kept current by reading the keys that the server tells of: a whole read goes through all keys
 * of a range, or of the server, however few of them changed. Keys of the server are `own` keys here; one may hold many
 * values, as a hash of Redis does.
 */
import { within } from "./backend.ts";

/** What was read of keys of the server; those without values are not there, or of no use. */
export type OwnValues = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface Mirror {
  /** Changes of these ranges are told from now on; none of them lies within another. */
  start(ranges: readonly string[]): void;
  /** Nothing more is told. */
  stop(): void;
  /** A key was changed; how many changes were told by now. */
  told(own: string): number;
  /** How many changes were told. */
  count(): number;
  /** Takes a whole read of ranges that began after so many changes. */
  fill(ranges: readonly string[], read: OwnValues, since: number): void;
  /** The keys that are to be read before the ranges can be had from here; nothing where they are not known. */
  stale(ranges: readonly string[]): readonly string[] | undefined;
  /** Takes a read of these keys that began after so many changes. */
  refresh(owns: readonly string[], read: OwnValues, since: number): void;
  values(ranges: readonly string[]): Map<string, string>;
}

export interface MirrorOptions {
  /** The logical key of a key of the server. */
  readonly logical: (own: string) => string;
  /** Keys of the server above ranges, whose fields may be theirs. */
  readonly above: (ranges: readonly string[]) => readonly string[];
}

/** With more changed keys than this that nobody read a range is read as a whole again. */
const MAX_STALE = 10_000;

/** One watched range. */
interface Part {
  /** It was read as a whole. */
  filled: boolean;
  /** Reads that began after so many changes were taken; those from before come too late. */
  at: number;
  readonly known: Map<string, ReadonlyMap<string, string>>;
  /** Changed since they were read, with the number of the last change. */
  readonly stale: Map<string, number>;
}

export function createMirror({ logical, above }: MirrorOptions): Mirror {
  let count = 0;
  const parts = new Map<string, Part>();
  /** The ranges below keys of the server that may be hashes with their fields. */
  const under = new Map<string, string[]>();

  /** The watched range that a logical key belongs to. */
  const rangeOf = (key: string): string | undefined => {
    for (let at = key.length; at > 0; at = key.lastIndexOf("/", at - 1)) {
      if (parts.has(key.slice(0, at))) return key.slice(0, at);
    }
    return parts.has("/") ? "/" : undefined;
  };
  /** The parts that a key of the server has values for. */
  const partsWith = (own: string): Part[] => {
    const range = rangeOf(logical(own));
    const ranges = [...(range === undefined ? [] : [range]), ...(under.get(own) ?? [])];
    return ranges.flatMap((one) => parts.get(one) ?? []);
  };
  const filledParts = (ranges: readonly string[]): readonly Part[] | undefined => {
    const found = ranges.map((range) => parts.get(rangeOf(range) ?? ""));
    const filled = found.filter((part) => part?.filled === true) as Part[];
    return filled.length === found.length ? [...new Set(filled)] : undefined;
  };
  return {
    start: (ranges) => {
      // Reads that have begun by now may not have seen what was changed before the server told of it.
      count += 1;
      for (const range of ranges) {
        parts.set(range, { filled: false, at: count, known: new Map(), stale: new Map() });
        for (const own of above([range])) under.set(own, [...(under.get(own) ?? []), range]);
      }
    },
    stop: () => {
      parts.clear();
      under.clear();
    },
    told: (own) => {
      count += 1;
      for (const part of partsWith(own)) {
        part.stale.set(own, count);
        if (part.stale.size > MAX_STALE) forget(part, count);
      }
      return count;
    },
    count: () => count,
    fill: (ranges, read, since) => {
      const isAsked = within(ranges);
      const filled = new Set<Part>();
      for (const [range, part] of parts) {
        if (!isAsked(range) || part.at > since) continue;
        filled.add(part);
        part.filled = true;
        part.at = since;
        part.known.clear();
        for (const [own, at] of part.stale) if (at <= since) part.stale.delete(own);
      }
      if (filled.size === 0) return;
      for (const [own, values] of read)
        for (const part of partsWith(own)) if (filled.has(part)) part.known.set(own, values);
    },
    stale: (ranges) => {
      const asked = filledParts(ranges);
      return asked && [...new Set(asked.flatMap(({ stale }) => [...stale.keys()]))];
    },
    refresh: (owns, read, since) => {
      for (const own of owns) {
        const values = read.get(own);
        for (const part of partsWith(own)) {
          // Behind a whole read that began later it comes too late.
          if (!part.filled || part.at > since) continue;
          part.at = since;
          if (values === undefined) part.known.delete(own);
          else part.known.set(own, values);
          if ((part.stale.get(own) ?? 0) <= since) part.stale.delete(own);
        }
      }
    },
    values: (ranges) => {
      const read = new Map((filledParts(ranges) ?? []).flatMap(({ known }) => [...known]));
      return merged(read, within(ranges));
    },
  };
}

function forget(part: Part, count: number): void {
  part.filled = false;
  part.at = count;
  part.known.clear();
  part.stale.clear();
}

/** The values under their logical keys. The longer of two keys that hold the same one counts. */
export function merged(read: OwnValues, isAsked: (key: string) => boolean): Map<string, string> {
  const values = new Map<string, string>();
  for (const own of [...read.keys()].sort((a, b) => a.length - b.length)) {
    for (const [key, value] of read.get(own)!) if (isAsked(key)) values.set(key, value);
  }
  return values;
}
