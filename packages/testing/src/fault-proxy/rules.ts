/** Which request meets which fault. */

/** What happens to a request. */
export type Fault =
  /** The connection is destroyed: before the server hears of the request, or after it has answered. */
  | { kind: "cut"; when?: "before" | "after" }
  /** The connection stays open, and no byte comes any more. */
  | { kind: "blackhole" }
  /** The request reaches the server that much later. */
  | { kind: "delay"; ms: number }
  /** Every part of the answer reaches the client that much later than it left the server. */
  | { kind: "late"; ms: number }
  /** 429 with `Retry-After`; the server hears nothing of the request. */
  | { kind: "tooManyRequests"; retryAfterSeconds: number }
  /** 500; the server hears nothing of the request. */
  | { kind: "serverError" }
  /** So many lines of the answer pass, then half of the next one, then the connection is destroyed. */
  | { kind: "truncate"; lines: number };

export interface FaultRule {
  fault: Fault;
  /** Path and query: a prefix, or a pattern to be found in it. Default every path. */
  path?: string | RegExp;
  /** For example `PUT`. Default every method. */
  method?: string;
  /** True: watches only. False: everything else only. Default both. */
  watch?: boolean;
  /** Matching requests that pass before the fault begins. Default 0. */
  skip?: number;
  /** Requests that meet the fault; later ones pass. Default no limit. */
  times?: number;
}

export interface ActiveRule {
  /** Requests that met the fault so far. */
  readonly hits: number;
  remove(): void;
}

export interface RequestLine {
  method: string;
  /** Path with query. */
  url: string;
}

export interface RuleBook {
  add(rule: FaultRule): ActiveRule;
  /** The fault of a new request: that of the oldest rule which applies. Counts the request. */
  take(request: RequestLine): Fault | undefined;
  clear(): void;
}

/** True when the rule speaks of this request, whatever its counts say. */
export function matchesRequest(rule: Omit<FaultRule, "fault">, { method, url }: RequestLine): boolean {
  if (rule.method !== undefined && rule.method !== method) return false;
  if (rule.watch !== undefined && rule.watch !== isWatch(url)) return false;
  if (rule.path === undefined) return true;
  return typeof rule.path === "string" ? url.startsWith(rule.path) : url.search(rule.path) >= 0;
}

export function ruleBook(): RuleBook {
  const rules: { rule: FaultRule; seen: number; hits: number }[] = [];
  return {
    add(rule) {
      const entry = { rule, seen: 0, hits: 0 };
      rules.push(entry);
      return {
        get hits() {
          return entry.hits;
        },
        remove() {
          const index = rules.indexOf(entry);
          if (index >= 0) rules.splice(index, 1);
        },
      };
    },
    take(request) {
      for (const entry of rules) {
        const { skip = 0, times = Number.POSITIVE_INFINITY, fault } = entry.rule;
        if (entry.hits >= times || !matchesRequest(entry.rule, request)) continue;
        entry.seen++;
        if (entry.seen <= skip) continue;
        entry.hits++;
        return fault;
      }
      return undefined;
    },
    clear() {
      rules.length = 0;
    },
  };
}

function isWatch(url: string): boolean {
  const value = new URLSearchParams(url.split("?", 2)[1] ?? "").get("watch");
  return value === "true" || value === "1";
}
