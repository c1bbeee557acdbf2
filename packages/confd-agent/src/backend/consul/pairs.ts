/** Consul's pairs as its API gives them. Keys and values are byte strings. */
import { bytesOf } from "@quartet/go-template";
import { BackendError } from "../../errors.ts";

export interface Pair {
  /** Logical key: with a slash in front. */
  readonly key: string;
  readonly value: string;
  /** Position of its last change. */
  readonly modified: number;
}

/** Reads the answer to a query for keys; throws a {@link BackendError} on what is none. */
export function pairsOf(text: string): Pair[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw new BackendError("consul: the answer is no JSON");
  }
  if (!Array.isArray(list)) throw new BackendError("consul: the answer is no list of pairs");
  return list.map((entry: unknown) => {
    const { Key, Value, ModifyIndex } = entry as { Key?: unknown; Value?: unknown; ModifyIndex?: unknown };
    if (typeof Key !== "string") throw new BackendError("consul: a pair of the answer has no key");
    return {
      key: `/${bytesOf(Key)}`,
      value: typeof Value === "string" ? Buffer.from(Value, "base64").toString("latin1") : "",
      modified: Number(ModifyIndex),
    };
  });
}

/** Keys that came, went, or were written between two answers. */
export function changedKeys(before: ReadonlyMap<string, Pair>, after: ReadonlyMap<string, Pair>): string[] {
  const written = [...after.values()].filter(({ key, modified }) => before.get(key)?.modified !== modified);
  const gone = [...before.keys()].filter((key) => !after.has(key));
  return [...written.map(({ key }) => key), ...gone];
}
