/** In which order test files run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that keep a core busy for minutes, and scenarios that take turns on the real control plane. */
const APART = /\.long\.|packages\/tunnel-config\/test\//;

/** Vitest's own order (slow ones first, where it has seen them), but those that get in each other's way are far apart. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return spread(await super.sort(files), ({ moduleId }) => APART.test(moduleId));
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
