/** Logical keys and those of Redis: with another separator, or without the leading slash. Byte strings. */
import { bytesOf } from "@quartet/go-template";

export interface RedisKeys {
  /** The server's key of a range. */
  own(range: string): string;
  /** Pattern of the server's keys below a range. */
  below(range: string): string;
  logical(key: string): string;
}

export function redisKeys(separator: string, stripLeadingSlash: boolean): RedisKeys {
  const between = separator === "" ? "/" : bytesOf(separator);
  const bare = between !== "/" || stripLeadingSlash;
  const own = (range: string): string => (bare ? range.slice(1).replaceAll("/", between) : range);
  return {
    own,
    below: (range) => (range === "/" ? (bare ? "*" : "/*") : `${escaped(own(range) + between)}*`),
    logical: (key) => (bare ? `/${key.replaceAll(between, "/")}` : key),
  };
}

/** A text as a pattern that matches it alone. */
export const escaped = (text: string): string => text.replace(/[*?[\]\\^-]/g, (char) => `\\${char}`);
