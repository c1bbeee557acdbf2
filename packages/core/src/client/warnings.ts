/** `Warning` headers of the API server: deprecations, unknown fields. */
import type { Logger } from "../observe/types.ts";
import type { ClientObserver } from "./observer.ts";

/** Distinct texts that are remembered; beyond them warnings are counted but no longer logged. */
const MAX_REMEMBERED = 1_000;
/** `299 - "text"`, several separated by commas. */
const WARNING = /\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

export interface Warnings {
  /**
   * Takes the value of a `Warning` header: counts every text, and logs each distinct one once unless the caller wants to
   * hear of it.
   */
  take(header: string | string[], listener?: (text: string) => void): void;
}

export function createWarnings(log: Logger | undefined, observer: ClientObserver | undefined): Warnings {
  const seen = new Set<string>();
  return {
    take(header, listener) {
      for (const text of parseWarnings(header)) {
        observer?.onWarning?.(text);
        if (listener !== undefined) {
          listener(text);
          continue;
        }
        if (seen.has(text) || seen.size >= MAX_REMEMBERED) continue;
        seen.add(text);
        log?.warn("warning from the API server", { warning: text });
      }
    },
  };
}

/** Texts of a `Warning` header. */
export function parseWarnings(header: string | string[]): string[] {
  const joined = typeof header === "string" ? header : header.join(", ");
  return [...joined.matchAll(WARNING)].map((match) => (match[1] ?? "").replace(/\\(.)/g, "$1"));
}
