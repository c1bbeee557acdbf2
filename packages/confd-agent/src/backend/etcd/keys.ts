/** Logical keys and etcd's own: the same, or without the leading slash. Byte strings. */

/** An interval of keys; without an end the key alone. */
export interface Interval {
  readonly key: string;
  readonly end?: string;
}

export interface Keys {
  /** A range as intervals: the key itself, and everything below it. */
  intervals(range: string): readonly Interval[];
  /** One interval that holds the range, and perhaps neighbours: what sorts between `a` and `a/`, such as `a-b`. */
  span(range: string): Interval;
  /** The logical key of one of etcd's; nothing when it has none. */
  logical(key: string): string | undefined;
}

/** The byte behind `/`: every key below `a/` is less than `a0`. */
const BEHIND_SLASH = "0";

export function etcdKeys(stripLeadingSlash: boolean): Keys {
  if (stripLeadingSlash) {
    const all: Interval = { key: "\0", end: "\0" };
    return {
      intervals: (range) => (range === "/" ? [all] : intervals(range.slice(1))),
      span: (range) => (range === "/" ? all : span(range.slice(1))),
      logical: (key) => (key.startsWith("/") ? undefined : `/${key}`),
    };
  }
  const all: Interval = { key: "/", end: BEHIND_SLASH };
  return {
    intervals: (range) => (range === "/" ? [all] : intervals(range)),
    span: (range) => (range === "/" ? all : span(range)),
    logical: (key) => key,
  };
}

const intervals = (key: string): Interval[] => [{ key }, { key: `${key}/`, end: `${key}${BEHIND_SLASH}` }];
const span = (key: string): Interval => ({ key, end: `${key}${BEHIND_SLASH}` });
