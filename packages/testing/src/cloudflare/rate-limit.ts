/** The limit on calls that the API sets every user. */

export interface RateLimit {
  /** Calls of a user, all their tokens together, within the window. */
  readonly calls: number;
  readonly windowMs: number;
}

/** 1200 calls in five minutes. */
export const ACCOUNT_LIMIT: RateLimit = { calls: 1200, windowMs: 300_000 };
/** 200 calls a second from one address. */
export const ADDRESS_LIMIT: RateLimit = { calls: 200, windowMs: 1000 };

export interface Allowance {
  readonly allowed: boolean;
  readonly left: number;
  /** Seconds until a call is free again. */
  readonly seconds: number;
}

/** Counts calls by key; a call that is refused does not count. */
export function createRateLimiter(limit: RateLimit, now: () => number): (key: string) => Allowance {
  const windows = new Map<string, number[]>();
  return (key) => {
    const time = now();
    const recent = (windows.get(key) ?? []).filter((at) => at > time - limit.windowMs);
    const allowed = recent.length < limit.calls;
    if (allowed) recent.push(time);
    windows.set(key, recent);
    const oldest = recent[0] ?? time;
    const seconds = Math.max(1, Math.ceil((oldest + limit.windowMs - time) / 1000));
    return { allowed, left: limit.calls - recent.length, seconds };
  };
}
