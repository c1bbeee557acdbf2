/** How many bytes a cache keeps: of a source, and of a namespace in all sources together. CORE-194. */
import { type KubeObject, keyOf } from "../../object.ts";
import type { Budget, SizeLimits } from "../types.ts";
import { createObjectMap } from "./store.ts";

/** An object is larger than what may be kept of its source or namespace. */
export class SizeLimitError extends Error {
  override readonly name = "SizeLimitError";
}

/** Bytes that the objects of each namespace take in all sources of one cache. */
export interface NamespaceUsage {
  /** Most bytes of one namespace. */
  readonly limit: number;
  of(namespace: string): number;
  add(namespace: string, bytes: number): void;
}

export function createNamespaceUsage(limit: number): NamespaceUsage {
  const used = new Map<string, number>();
  return {
    limit,
    of: (namespace) => used.get(namespace) ?? 0,
    add(namespace, bytes) {
      const next = (used.get(namespace) ?? 0) + bytes;
      if (next > 0) used.set(namespace, next);
      else used.delete(namespace);
    },
  };
}

export interface SourceBudget<T extends KubeObject> extends Budget<T> {
  /** A budget for a new list of all objects; it counts for the namespaces once it has taken this one's place. */
  successor(): SourceBudget<T>;
  /** Begins to count for the namespaces, in place of the budget that it succeeds. */
  takePlace(): void;
}

/**
 * Budget of one source.
 * @param usage of the source's cache; objects without a namespace are not counted there: no tenant may write them
 */
export function createBudget<T extends KubeObject>(
  limits: SizeLimits | undefined,
  usage: NamespaceUsage,
  predecessor?: ReadonlyMap<string, number>,
): SourceBudget<T> {
  const { objectBytes = Number.POSITIVE_INFINITY, totalBytes = Number.POSITIVE_INFINITY } = limits ?? {};
  const sizes = createObjectMap<number>();
  const byNamespace = new Map<string, number>();
  let counts = predecessor === undefined;
  let total = 0;
  const count = (namespace: string, bytes: number): void => {
    total += bytes;
    byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + bytes);
    if (counts) usage.add(namespace, bytes);
  };
  /** Bytes of a namespace in all sources, as if this budget counted already. */
  const used = (namespace: string): number =>
    counts
      ? usage.of(namespace)
      : usage.of(namespace) - (predecessor?.get(namespace) ?? 0) + (byNamespace.get(namespace) ?? 0);
  return {
    admit(object) {
      const key = keyOf(object);
      const size = jsonSize(object);
      const more = size - (sizes.get(key) ?? 0);
      if (size > objectBytes) throw new SizeLimitError(`larger than ${objectBytes} bytes`);
      if (total + more > totalBytes) {
        throw new SizeLimitError(`with it the source would hold more than ${totalBytes} bytes`);
      }
      if (more > 0 && key.namespace !== "" && used(key.namespace) + more > usage.limit) {
        throw new SizeLimitError(`with it the namespace would take more than ${usage.limit} bytes`);
      }
      count(key.namespace, more);
      sizes.set(key, size);
      return object;
    },
    release(key) {
      const size = sizes.get(key);
      if (size === undefined) return;
      sizes.delete(key);
      count(key.namespace, -size);
    },
    successor: () => createBudget(limits, usage, byNamespace),
    takePlace() {
      if (counts) return;
      for (const [namespace, bytes] of predecessor ?? []) usage.add(namespace, -bytes);
      for (const [namespace, bytes] of byNamespace) usage.add(namespace, bytes);
      counts = true;
    },
    close() {
      if (!counts) return;
      for (const [namespace, bytes] of byNamespace) usage.add(namespace, -bytes);
      counts = false;
    },
  };
}

/** Characters that quotes, colons and commas add. */
const AROUND = 4;
/** A number, `true`, `null`. */
const SCALAR = 8;

/** Length of the JSON text of a value, nearly. */
function jsonSize(value: unknown): number {
  let size = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === "string") size += next.length + AROUND;
    else if (typeof next !== "object" || next === null) size += SCALAR;
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else {
      for (const [key, child] of Object.entries(next)) {
        size += key.length + AROUND;
        pending.push(child);
      }
    }
  }
  return size;
}
