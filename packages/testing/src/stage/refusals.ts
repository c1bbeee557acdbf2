/**
 * Has the API server refuse a controller one verb on one kind of its children, and looks at what it makes of that: it must
 * tell of it, and try again at growing intervals instead of in a loop.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { ControllerModule } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import type { Stage, StartOptions } from "./stage.ts";
import { type Refusal, type RefusedBy, WORDS, withhold } from "./withhold.ts";

/** How long a refusal is watched, in milliseconds, and the most writes that a controller may make meanwhile. */
const WATCHED_MS = 20_000;
export const MAX_WRITES = 12;
/** Longest wait between two tries is a minute. */
const RETRY_LIMIT_MS = 100_000;

/** What came of a refusal. */
export interface Refused {
  /** Writes from the first refusal on, as `verb resource name`; what led to it is the controller's work. */
  readonly writes: readonly string[];
  /** Ends the refusal; the manager goes on. */
  lift(): Promise<void>;
}

export interface RefusalCase {
  readonly stage: Stage;
  readonly module: ControllerModule;
  readonly refusal: Refusal;
  readonly by: RefusedBy;
  /** Starts a manager; by default the stage does. */
  start?(options: StartOptions): Promise<unknown>;
  /** Does what makes the controller need the verb. */
  provoke(): Promise<unknown>;
}

/** Verbs that change something. */
const WRITES: readonly string[] = ["create", "update", "patch", "delete"];

/** One refusal of a sweep. */
export interface SweptRefusal<S extends Stage> {
  /** `verb group/resource`. */
  readonly refused: string;
  /** What is there before; the manager that `start` gives is stopped after it. */
  prepare(stage: S): Promise<unknown>;
  /** Makes the controller need the verb. */
  provoke(stage: S): Promise<unknown>;
  /** What else is to refuse it on the real control plane. */
  readonly also?: readonly ("webhook" | "quota")[];
}

export interface RefusalSweep<S extends Stage> {
  /** IDs of the rules for the titles. */
  readonly ids: string;
  readonly module: ControllerModule;
  open(): Promise<S>;
  /** Starts a manager; by default the stage does. */
  start?(stage: S, options: StartOptions): Promise<{ stop(): Promise<void> }>;
  readonly cases: readonly SweptRefusal<S>[];
  /** Writes that no case can be made for, with the reason: `verb group/resource`. */
  readonly without?: Readonly<Record<string, string>>;
  /** What the reconciled objects say of their state, as text. */
  told(stage: S): Promise<string>;
}

/**
 * Tests that refuse each write to a controller in turn: by a missing right on both targets, and by an admission policy on
 * the real one. The refusal must be told in the status in the server's words, and be over when it is lifted. Another test
 * sees to it that each write among the module's rights has its case.
 */
export function testRefusals<S extends Stage>(sweep: RefusalSweep<S>): void {
  const { ids, module, cases, without = {} } = sweep;
  const rows = cases.map((one) => [one.refused, one] as const);
  const real = process.env.QUARTET_TARGET === "real";

  it(`${ids}: every write that the module has a right to is refused once`, () => {
    const covered = new Set([...cases.map(({ refused }) => refused), ...Object.keys(without)]);
    expect(writesOf(module).filter((write) => !covered.has(write))).toEqual([]);
  });

  describe.concurrent("refusals", () => {
    it.each(rows)(
      `${ids}: without the right to %s it says so, tries at growing intervals, and goes on when it may`,
      async (_refused, one) => watchRefusal(sweep, one, "rights"),
    );

    // The double has no policies.
    if (!real) return;
    it.each(rows)(
      `${ids}: a policy that denies %s is quoted, asked at growing intervals, and never in a loop`,
      async (_refused, one) => watchRefusal(sweep, one, "policy"),
    );

    it.each(cases.flatMap((one) => (one.also ?? []).map((by) => [one.refused, by, one] as const)))(
      `${ids}: %s refused by a %s is told, asked for at growing intervals, and goes on when it may`,
      async (_refused, by, one) => watchRefusal(sweep, one, by),
    );
  });
}

/** Writes to whole objects among the rights of a module, as `verb group/resource`. */
function writesOf({ rights }: ControllerModule): string[] {
  const writes = rights
    .filter(({ subresource, place = "work" }) => subresource === undefined && place === "work")
    .flatMap(({ kind, verbs }) =>
      verbs.filter((verb) => WRITES.includes(verb)).map((verb) => `${verb} ${kind.group}/${kind.plural}`),
    );
  return [...new Set(writes)];
}

async function watchRefusal<S extends Stage>(
  sweep: RefusalSweep<S>,
  { refused, prepare, provoke }: SweptRefusal<S>,
  by: RefusedBy,
): Promise<void> {
  const { module, told } = sweep;
  const stage = await sweep.open();
  const start = (options: StartOptions): Promise<{ stop(): Promise<void> }> =>
    sweep.start?.(stage, options) ?? stage.start({ modules: [module], ...options });
  try {
    const manager = await start({});
    await prepare(stage);
    await manager.stop();
    const refusal = refusalOf(refused);
    const { writes, lift } = await refuse({
      stage,
      module,
      refusal,
      by,
      start,
      provoke: () => provoke(stage),
    });
    expect(writes.length, writes.join("\n")).toBeLessThanOrEqual(MAX_WRITES);
    const words = WORDS[by];
    expect(await told(stage)).toMatch(words);
    // How long a policy stays in force after its end is the server's affair.
    if (by === "policy") return;
    await lift();
    await eventually(async () => expect(await told(stage)).not.toMatch(words), RETRY_LIMIT_MS);
  } finally {
    await stage.close();
  }
}

function refusalOf(refused: string): Refusal {
  const [verb, place] = refused.split(" ") as [Refusal["verb"], string];
  const [group = "", ...resource] = place.split("/");
  return { verb, group, resource: resource.join("/") };
}

/** Starts a manager that is refused a verb, provokes it, and watches it for 20 s. Throws when nothing was refused. */
export async function refuse({
  stage,
  module,
  refusal,
  by,
  provoke,
  ...more
}: RefusalCase): Promise<Refused> {
  const start = more.start ?? ((options) => stage.start({ modules: [module], ...options }));
  const withheld = await withhold(by, stage, module, refusal);
  await start({ kubeconfig: withheld.kubeconfig });
  const since = Date.now();
  await provoke();
  await sleep(WATCHED_MS);
  const refusals = (await stage.requests(since)).filter(({ code, verb, resource, subresource, dryRun }) => {
    const what = subresource === "" ? resource : `${resource}/${subresource}`;
    return code >= 400 && !dryRun && verb === refusal.verb && what === refusal.resource;
  });
  if (refusals.length === 0)
    throw new Error(`nothing was refused: no ${refusal.verb} of ${refusal.resource}`);
  return { writes: await stage.writes(refusals[0]!.at), lift: withheld.lift };
}
