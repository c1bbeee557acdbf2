/** In which order test files run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes: whoever begins with them late waits for them alone at the end. */
const LONG = /\.long\./;
/** Scenarios that take turns on the real control plane, since they own objects of the whole cluster. */
const TURNS = /packages\/tunnel-config\/test\//;

/** Vitest's own order (slow ones first, where it has seen them), with the long in front and those that take turns apart. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = sorted.filter(({ moduleId }) => LONG.test(moduleId));
    const others = sorted.filter((file) => !long.includes(file));
    return [...long, ...spread(others, ({ moduleId }) => TURNS.test(moduleId))];
  }
}

/** The items in their order, with those that are picked out evenly among the others. */
export function spread<T>(items: readonly T[], isPicked: (item: T) => boolean): T[] {
  const picked = items.filter(isPicked);
  const others = items.filter((item) => !isPicked(item));
  const share = others.length / Math.max(1, picked.length);
  const parts = picked.map((item, index) => [
    item,
    ...others.slice(Math.round(index * share), Math.round((index + 1) * share)),
  ]);
  return picked.length === 0 ? others : parts.flat();
}
