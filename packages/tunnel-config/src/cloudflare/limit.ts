/** What the API says of the calls that are left (TUN-1003, TUN-1104). */
import type { IncomingHttpHeaders } from "node:http";

/** Calls in a window, where the API does not say it. */
const USUAL = 1200;

export interface Limit {
  readonly left: number;
  /** Calls in a whole window. */
  readonly of: number;
  /** Milliseconds until there are more. */
  readonly resetMs: number;
}

/** Of the headers `Ratelimit: "default";r=<left>;t=<seconds>` and `Ratelimit-Policy: "default";q=<calls>;w=<seconds>`. */
export function limitOf(headers: IncomingHttpHeaders): Limit | undefined {
  const [left, seconds] = [numberIn(headers.ratelimit, "r"), numberIn(headers.ratelimit, "t")];
  if (left === undefined || seconds === undefined) return undefined;
  return { left, of: numberIn(headers["ratelimit-policy"], "q") ?? USUAL, resetMs: seconds * 1000 };
}

function numberIn(header: string | readonly string[] | undefined, name: string): number | undefined {
  const text = /;\s*(\w)=(\d{1,9})/g;
  for (const [, key, value] of String(header ?? "").matchAll(text)) if (key === name) return Number(value);
  return undefined;
}
