/** Faults that a test asks for. */
import type { RequestRecord } from "../api-server.ts";

export interface RequestFault {
  /** Requests it concerns: all given fields are equal. */
  match?: Partial<RequestRecord>;
  /** The first so many matching requests pass unharmed. Default 0. */
  skip?: number;
  /** How many requests it hits. Default: all until it is taken back. */
  times?: number;
  /** Wait before anything else, ms of real time. */
  delayMs?: number;
  /** Answer with this status instead of doing the work. */
  code?: number;
  reason?: string;
  message?: string;
  retryAfterSeconds?: number;
  /** Cut the connection: before the work, or after it so that only the answer is lost. */
  cut?: "before" | "after";
}

export interface Faults {
  /** Adds a fault; the returned function takes it back. */
  inject(fault: RequestFault): () => void;
  /** The fault of a request, counted as used. */
  next(request: RequestRecord): RequestFault | undefined;
}

export function matches(request: RequestRecord, wanted: Partial<RequestRecord>): boolean {
  return Object.entries(wanted).every(([key, value]) => request[key as keyof RequestRecord] === value);
}

export function createFaults(): Faults {
  const active: { fault: RequestFault; seen: number; used: number }[] = [];
  return {
    inject(fault) {
      const entry = { fault, seen: 0, used: 0 };
      active.push(entry);
      return () => {
        const index = active.indexOf(entry);
        if (index >= 0) active.splice(index, 1);
      };
    },
    next(request) {
      for (const entry of active) {
        if (!matches(request, entry.fault.match ?? {})) continue;
        entry.seen += 1;
        if (entry.seen <= (entry.fault.skip ?? 0)) continue;
        if (entry.used >= (entry.fault.times ?? Number.POSITIVE_INFINITY)) continue;
        entry.used += 1;
        return entry.fault;
      }
      return undefined;
    },
  };
}
