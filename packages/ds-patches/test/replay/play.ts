/** Plays a recorded DaemonSet case: takes its steps and compares what comes of each with what the peer did. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Difference, differences, type Json, type Outcome, untilRest } from "@quartet/testing/replay";
import { decisionsOf, unexcused } from "./decisions.ts";
import type { DaemonSetCase, StepState } from "./format.ts";
import type { Ground } from "./ground.ts";
import { openPlace, type Place } from "./place.ts";
import { nodeOf } from "./pods.ts";
import { type CaseNames, createNames, exactPod, revisionsOf, stateOf, withoutGoForm } from "./state.ts";
import { take } from "./steps.ts";

/** Time for events, which are sent apart from everything else, ms. */
const EVENTS_MS = 5_000;
const POLL_MS = 200;

/** Plays a case on a ground that is its own meanwhile. Never rejects: what goes wrong is in the outcome. */
export async function playDaemonSetCase(ground: Ground, row: DaemonSetCase): Promise<Outcome> {
  let place: Place | undefined;
  try {
    place = await openPlace(ground, row);
    const found = await takeSteps(place, row);
    const decisions = decisionsOf(row);
    const faults = unexcused(found, decisions);
    if (faults.length > 0) return { verdict: "failed", differences: found, faults };
    return { verdict: decisions.length > 0 ? "skipped" : "passed", differences: found, faults };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { verdict: "failed", differences: [], faults: [], error: message };
  } finally {
    await place?.close();
  }
}

async function takeSteps(place: Place, row: DaemonSetCase): Promise<Difference[]> {
  const names = createNames();
  const found: Difference[] = [];
  const decided = decisionsOf(row).length > 0;
  for (const [index, step] of row.steps.entries()) {
    const recorded = row.after[index]!;
    const before = place.watch.seen();
    const refused = await take(place, step, names);
    const state = await untilRest<StepState>({
      read: () => stateOf(place, { step, refused, before, recorded }, names),
      stateOf: (snapshot) => JSON.stringify(snapshot),
      isMoving: () => false,
      asRecorded: (snapshot) => stepDifferences(recorded, snapshot, index).length === 0,
      decided,
      thorough: true,
    });
    found.push(...stepDifferences(recorded, state, index));
    // What follows from another state would say nothing.
    if (unexcused(found, decisionsOf(row)).length > 0) return found;
  }
  return [...found, ...(await endDifferences(place, row, names))];
}

function stepDifferences(recorded: StepState, state: StepState, index: number): Difference[] {
  const { error, object, ...rest } = recorded;
  const { error: actualError, object: actualObject, ...actualRest } = state;
  const path = `step ${index} `;
  return [
    ...errorDifferences(error, actualError, `${path}error`),
    ...differences(withoutGoForm(object), withoutGoForm(actualObject), `${path}object`),
    ...differences(rest, actualRest, path),
  ];
}

interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly causes: readonly { readonly field?: string }[];
}

/** Of a refusal counts the field that it is about; the peer's code 500 is 422 here (D31). */
function errorDifferences(recorded: unknown, actual: unknown, path: string): Difference[] {
  if (recorded === undefined || actual === undefined)
    return recorded === actual ? [] : [{ path, expected: recorded, actual }];
  const [expected, found] = [recorded as Refusal, actual as Refusal];
  const code = expected.code === 500 ? 422 : expected.code;
  const field = fieldOf(expected.message);
  const named = [...found.causes.map(({ field: name = "" }) => name), ...found.message.split(/[\s,:]+/)];
  const isNamed = field === undefined || named.some((name) => isSamePlace(name, field));
  return [
    ...(found.code === code ? [] : [{ path: `${path}.code`, expected: code, actual: found.code }]),
    ...(isNamed ? [] : [{ path: `${path}.message`, expected: expected.message, actual: found.message }]),
  ];
}

/** The field that a refusal of the peer names first, of several in brackets; it says `rollingUpdate` twice for some. */
function fieldOf(message: string): string | undefined {
  return /denied the request: \[?([\w.[\]]+):/
    .exec(message)?.[1]
    ?.replace("rollingUpdate.rollingUpdate", "rollingUpdate");
}

/** One names the other, or what holds it. */
function isSamePlace(a: string, b: string): boolean {
  return a === b || (a !== "" && (a.startsWith(`${b}.`) || b.startsWith(`${a}.`)));
}

async function endDifferences(place: Place, row: DaemonSetCase, names: CaseNames): Promise<Difference[]> {
  const pods = await place.pods();
  const exact = row.exactPods.flatMap(({ node, pod }) => {
    const live = pods.find((candidate) => nodeOf(candidate) === node);
    return differences(pod, live && exactPod(live, names), `pod ${node} `);
  });
  const revisions = (await revisionsOf(place)).map(({ metadata, revision }) => [
    names.numberOf(metadata.labels?.["controller-revision-hash"] ?? ""),
    revision,
  ]);
  return [
    ...exact,
    ...differences(row.revisions, Object.fromEntries(revisions), "revisions "),
    ...(await eventDifferences(place, row)),
  ];
}

interface Event {
  readonly reason: string;
  readonly type: string;
  readonly involvedObject: { readonly kind: string };
}

async function eventDifferences(place: Place, row: DaemonSetCase): Promise<Difference[]> {
  const deadline = performance.now() + EVENTS_MS;
  for (;;) {
    const { items } = await place.client.ok<{ items: Event[] }>("GET", place.path("/api/v1", "events"));
    const own = items.filter(({ involvedObject }) => involvedObject.kind === "DaemonSet");
    const reasons = Object.fromEntries(own.map(({ reason, type }) => [reason, type])) as Json;
    const found = differences(row.eventReasons, reasons, "events ");
    if (found.length === 0 || performance.now() > deadline) return found;
    await sleep(POLL_MS);
  }
}
