/** Plays a recorded case: takes its steps and compares what comes of them with what the peer made. */
import type { TestClient } from "@quartet/testing";
import {
  type Arena,
  type Difference,
  differences,
  type Json,
  type Outcome,
  type RecordedObject,
  type Scene,
  take,
} from "@quartet/testing/replay";
import { canonicalJson } from "../../src/desired/digest.ts";
import { ownDecisions, unexcused } from "./decisions.ts";
import type { RecordedCase, TraceEntry } from "./format.ts";
import { normalChild } from "./normal.ts";
import { isLeftover, productForm, resourceOf } from "./product-form.ts";
import { rest, type Snapshot, takeSnapshot } from "./snapshot.ts";

const DIGEST_ANNOTATION = "nacos.io/config-digest";

export interface PlayOptions {
  /** Wait for the end of the last rollout also when everything is as recorded. Default false. */
  readonly thorough?: boolean;
}

/** Plays a case in namespaces of its own. Never rejects: what goes wrong is in the outcome. */
export async function playCase(arena: Arena, row: RecordedCase, options: PlayOptions = {}): Promise<Outcome> {
  const found: Difference[] = [];
  try {
    const scene = await arena.openScene(row.steps.map(({ object }) => object));
    try {
      const manager = await scene.startManager();
      try {
        await takeSteps(arena.client, scene, row, { ...options, found });
      } finally {
        await manager.stop();
      }
    } finally {
      await scene.close();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { verdict: "failed", differences: found, faults: found, error: message };
  }
  const faults = unexcused(found, row.differs);
  if (faults.length > 0) return { verdict: "failed", differences: found, faults };
  return { verdict: ownDecisions(row.differs).length > 0 ? "skipped" : "passed", differences: found, faults };
}

async function takeSteps(
  client: TestClient,
  scene: Scene,
  row: RecordedCase,
  { thorough = false, found }: PlayOptions & { found: Difference[] },
): Promise<void> {
  const nacos = resourceOf(row.steps);
  const { trace } = row.expect;
  let before: Snapshot | undefined;
  for (const [index, step] of row.steps.entries()) {
    const refusal = await take(client, scene, step);
    const entry = trace.find(({ afterStep }) => afterStep === index);
    if ((refusal !== undefined) !== (entry?.apiError !== undefined))
      found.push({ path: `after step ${index}: the API server`, expected: entry?.apiError, actual: refusal });
    const last = index === row.steps.length - 1;
    if (entry === undefined && !last) continue;
    const previous = before;
    const compare = (snapshot: Snapshot): Difference[] => [
      ...(entry === undefined ? [] : entryDifferences(entry, snapshot, previous)),
      ...(last ? childDifferences(row, snapshot) : []),
    ];
    const snapshot = await rest({
      read: () => takeSnapshot(client, scene, nacos),
      asRecorded: (state) => compare(state).length === 0,
      decided: ownDecisions(row.differs).length > 0,
      thorough: thorough && last,
    });
    found.push(...compare(snapshot));
    before = snapshot;
  }
}

/** Compared only as far as they are recorded. */
const COMPARED = ["generation", "templateChanged", "recreated", "replicas"] as const;

function entryDifferences(entry: TraceEntry, now: Snapshot, before: Snapshot | undefined): Difference[] {
  const at = `after step ${entry.afterStep}:`;
  const { statefulSet } = now;
  if (entry.statefulSet === null || statefulSet === undefined) {
    if (entry.statefulSet === null && statefulSet === undefined) return [];
    const state = (present: boolean): string | null => (present ? "present" : null);
    const [expected, actual] = [state(entry.statefulSet !== null), state(statefulSet !== undefined)];
    return [{ path: `${at} statefulSet`, expected, actual }];
  }
  const { metadata } = statefulSet;
  const spec = statefulSet.spec as Json;
  const template = spec.template as { metadata?: { annotations?: Record<string, string> } };
  const past = before?.statefulSet;
  const actual: TraceEntry = {
    afterStep: entry.afterStep,
    generation: metadata.generation ?? 1,
    templateChanged:
      past !== undefined && canonicalJson((past.spec as Json).template) !== canonicalJson(template),
    recreated: past !== undefined && past.metadata.uid !== metadata.uid,
    replicas: Number(spec.replicas ?? 1),
  };
  const digest = template.metadata?.annotations?.[DIGEST_ANNOTATION];
  return [
    ...COMPARED.flatMap((field) =>
      entry[field] === undefined ? [] : differences(entry[field], actual[field], `${at} ${field}`),
    ),
    ...differences(entry.digest, digest, `${at} digest`),
  ];
}

function childDifferences({ steps, expect }: RecordedCase, { children }: Snapshot): Difference[] {
  const keyOf = ({ kind, metadata }: RecordedObject): string => `${kind}/${metadata.name}`;
  const kept = expect.children.filter((child) => !isLeftover(child, steps));
  const expected = new Map(kept.map((child) => [keyOf(child), productForm(child, steps)]));
  const actual = new Map(children.map((child) => [keyOf(child), child]));
  return [...new Set([...expected.keys(), ...actual.keys()])].flatMap((key) => {
    const [wanted, live] = [expected.get(key), actual.get(key)];
    if (wanted === undefined) return [{ path: key, expected: undefined, actual: "present" }];
    if (live === undefined) return [{ path: key, expected: "present", actual: undefined }];
    return differences(normalChild(wanted), normalChild(live), `${key} `);
  });
}
