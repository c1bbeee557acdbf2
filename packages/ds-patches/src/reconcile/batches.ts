/** Many writes of one sort: in growing batches, and what is refused is not asked for again before its time. */
import { type Children, isProblem, type Problem, slowStart } from "@quartet/core";
import type { DaemonSet } from "../kinds.ts";

export interface Batch<Item> {
  /** Verb and kind, `create pod`. */
  readonly id: string;
  /** What a write is about, for messages: `Pod agent-x`. */
  subjectOf(item: Item): string;
  /** What all of them depend on: when it changes, a refusal does not stand any more. */
  readonly wanted: unknown;
  readonly items: readonly Item[];
  /** Tells one item from another, in later passes too; of a bounded number of names. */
  nameOf(item: Item): string;
  /** One write. An error that means that the cache lags behind is thrown on. */
  write(item: Item): Promise<unknown>;
}

export interface BatchOutcome {
  readonly done: number;
  /** What was refused in this pass. */
  readonly problems: readonly Problem[];
  /** What was refused before and is not due: nothing was asked for. */
  readonly standing: readonly Problem[];
  /** What is no refusal. */
  readonly errors: readonly unknown[];
}

/** A batch ends with a refusal. */
class RefusedError extends Error {}

/**
 * Makes the writes. Those that were never refused come first, so that one bad item does not stand before the others;
 * when all are refused, the next try is a single one, after a wait that grows.
 */
export async function inBatches<Item>(
  children: Children<DaemonSet>,
  { id, subjectOf, wanted, items, nameOf, write }: Batch<Item>,
  refused: Set<string>,
): Promise<BatchOutcome> {
  const problems: Problem[] = [];
  const standing: Problem[] = [];
  const errors: unknown[] = [];
  const idOf = (item: Item): string => `${id} ${nameOf(item)}`;
  const rank = (item: Item): number => Number(refused.has(idOf(item)));
  const sorted = [...items].sort((a, b) => rank(a) - rank(b));
  let done = 0;
  let asked = false;
  const one = async (item: Item): Promise<void> => {
    let sent = false;
    const result = await children.attempt({ id: idOf(item), subject: subjectOf(item), wanted }, () => {
      sent = true;
      return write(item);
    });
    if (!isProblem(result)) {
      refused.delete(idOf(item));
      done += 1;
    } else if (sent) {
      refused.add(idOf(item));
      problems.push(result);
      throw new RefusedError(result.message);
    } else {
      standing.push(result);
    }
  };
  if (sorted.length === 0) return { done, problems, standing, errors };
  const all = await children.attempt({ id: `${id}s`, subject: subjectOf(sorted[0]!), wanted }, async () => {
    asked = true;
    const result = await slowStart(sorted.length, (index) => one(sorted[index]!));
    errors.push(...result.errors.filter((error) => !(error instanceof RefusedError)));
    return done === 0 && errors.length === 0 && problems.length > 0 ? problems[0]! : undefined;
  });
  if (!asked && isProblem(all)) standing.push(all);
  else if (isProblem(all)) problems.splice(0, 1, all);
  return { done, problems, standing, errors };
}
