/** Plays a recorded case: takes its steps and compares what comes of them with what the peer made. */
import type { TestClient } from "@quartet/testing";
import { canonicalJson } from "../../src/desired/digest.ts";
import type { Arena, Scene } from "./arena.ts";
import { ownDecisions, unexcused } from "./decisions.ts";
import { type Difference, differences } from "./diff.ts";
import type { Json, RecordedCase, RecordedObject, Step, TraceEntry } from "./format.ts";
import { normalChild } from "./normal.ts";
import { isLeftover, productForm, resourceOf } from "./product-form.ts";
import { rest, type Snapshot, takeSnapshot } from "./snapshot.ts";

export interface Outcome {
  /** `skipped`: the product decides otherwise in this case; it was played all the same and came to rest. */
  readonly verdict: "passed" | "failed" | "skipped";
  /** All differences from the peer beyond the decisions that hold for every object. */
  readonly differences: readonly Difference[];
  /** Those of them that no decision of the case explains; they make it fail. */
  readonly faults: readonly Difference[];
  /** Why it could not be played to its end. */
  readonly error?: string;
}

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

/** Takes a step; what the API server says when it refuses, else `undefined`. */
async function take(client: TestClient, scene: Scene, { op, object }: Step): Promise<string | undefined> {
  const path = await scene.pathOf(object, object.metadata.name);
  const body = scene.here(object);
  const answer = await (async () => {
    if (op === "delete") return client.request<{ message?: string }>("DELETE", path);
    if (op === "merge") {
      const { apiVersion: _version, kind: _kind, ...patch } = body;
      return client.request<{ message?: string }>("PATCH", path, patch, {
        contentType: "application/merge-patch+json",
      });
    }
    return apply(client, path, await scene.pathOf(object), body);
  })();
  return answer.code < 400 ? undefined : `${answer.code} ${answer.body.message ?? ""}`;
}

const CONFLICT = 409;
const NOT_FOUND = 404;

/** Creates the object, or replaces the one that there is; a write of somebody else in between is read again. */
async function apply(
  client: TestClient,
  path: string,
  collection: string,
  object: RecordedObject,
): Promise<{ code: number; body: { message?: string } }> {
  for (;;) {
    const live = await client.request<{ metadata: { resourceVersion: string } }>("GET", path);
    if (live.code === NOT_FOUND) return client.request("POST", collection, object);
    const { resourceVersion } = live.body.metadata;
    const body = { ...object, metadata: { ...object.metadata, resourceVersion } };
    const answer = await client.request<{ message?: string }>("PUT", path, body);
    if (answer.code !== CONFLICT) return answer;
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
