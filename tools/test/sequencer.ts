/** In which order test files run. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that keep a core busy for minutes. */
const LONG = /\.long\./;
/** Scenarios that take turns on the real control plane. */
const IN_TURN = /packages\/tunnel-config\/test\//;

/** Vitest's own order (slow ones first, where it has seen them), but those that get in each other's way are far apart. */
export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return apart(await super.sort(files));
  }
}

interface TestFile {
  readonly project: { readonly name: string };
  readonly moduleId: string;
}

/** Unit tests run by themselves: among them nothing would be apart. */
export function apart<T extends TestFile>(files: readonly T[]): T[] {
  const isUnit = ({ project }: T): boolean => project.name === "unit";
  const inTheWay = ({ project, moduleId }: T): boolean =>
    LONG.test(moduleId) || (project.name === "real" && IN_TURN.test(moduleId));
  const scenarios = files.filter((file) => !isUnit(file));
  return [...files.filter(isUnit), ...spread(scenarios, inTheWay)];
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
