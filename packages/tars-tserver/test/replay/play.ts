/** Plays a recorded case: takes its steps and compares what comes of them with what the peer did. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";
import {
  type Difference,
  differences,
  type Json,
  type Outcome,
  type RecordedObject,
} from "@quartet/testing/replay";
import { decisionsOf, ownDecisions, unexcused } from "./decisions.ts";
import type { TarsCase, TarsStep } from "./format.ts";
import { normalObject, productForm } from "./normal.ts";
import type { Place } from "./place.ts";

/** Pause between two looks, ms. */
const POLL_MS = 150;
/** Nothing changes for so long between two steps, ms. */
const REST_MS = 700;
/** Time for what is recorded to come about, ms; less where the product decides otherwise. */
const PATIENCE_MS = 20_000;
const DECIDED_MS = 4_000;
/** Everything rests by then, ms. */
const LIMIT_MS = 60_000;
const CONFLICT = 409;

const CHILD_KINDS = [
  { apiVersion: "v1", kind: "Service" },
  { apiVersion: "apps/v1", kind: "StatefulSet" },
  { apiVersion: "apps/v1", kind: "DaemonSet" },
  { apiVersion: "k8s.tars.io/v1beta2", kind: "TEndpoint" },
  { apiVersion: "k8s.tars.io/v1beta2", kind: "TExitedRecord" },
  { apiVersion: "v1", kind: "PersistentVolumeClaim" },
];
const OTHER_KINDS = [
  "TServer",
  "TConfig",
  "TTemplate",
  "TAccount",
  "TImage",
  "TFrameworkConfig",
  "TTree",
  "TDeploy",
];

/** Plays a case in a namespace of its own. Never rejects: what goes wrong is in the outcome. */
export async function playTarsCase(place: Place, row: TarsCase): Promise<Outcome> {
  try {
    for (const object of row.setup) await place.create(object);
    const found = await takeSteps(place, row);
    const faults = unexcused(found, decisionsOf(row));
    if (faults.length > 0) return { verdict: "failed", differences: found, faults };
    const decided = ownDecisions(decisionsOf(row)).length > 0;
    return { verdict: decided ? "skipped" : "passed", differences: found, faults };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { verdict: "failed", differences: [], faults: [], error: message };
  }
}

async function takeSteps(place: Place, row: TarsCase): Promise<Difference[]> {
  const last = row.steps.length - 1;
  await rest(place);
  for (const [index, step] of row.steps.slice(0, last).entries()) {
    const denied = await take(place, step);
    const found = denialDifferences(step.denied, denied?.message, index);
    if (found.length > 0) return found;
    await rest(place);
  }
  const answer = await take(place, row.steps[last]!);
  const { denied, code } = row.result;
  const refused = denialDifferences(denied, answer?.message, last);
  if (denied !== undefined || refused.length > 0) {
    // Where the product refuses by its webhook what the peer lets crash, the code is another one.
    const sameCode = code === answer?.code || code === 500;
    return [
      ...refused,
      ...(denied === undefined || sameCode ? [] : [{ path: "code", expected: code, actual: answer?.code }]),
    ];
  }
  const patience = ownDecisions(decisionsOf(row)).length > 0 ? DECIDED_MS : PATIENCE_MS;
  const deadline = performance.now() + patience;
  for (;;) {
    const state = await rest(place);
    const found = await stateDifferences(place, row);
    if (found.length === 0) return found;
    // What changes meanwhile, on a busy machine, is not the state at rest.
    if (performance.now() > deadline && (await stateOf(place)).text === state) return found;
  }
}

interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** Takes a step; what the API server says when it refuses. */
async function take(
  place: Place,
  { op, object, merge, subresource }: TarsStep,
): Promise<Refusal | undefined> {
  const { client } = place;
  // Of a Scale the path is that of the server.
  const kind = subresource === undefined ? object : SCALED;
  const path = await place.pathOf(kind, object.metadata.name);
  const target = subresource === undefined ? path : `${path}/${subresource}`;
  const body = place.here(object);
  for (;;) {
    const answer = await (async () => {
      if (op === "delete") return client.request<{ message?: string }>("DELETE", path);
      if (op === "create")
        return client.request<{ message?: string }>("POST", await place.pathOf(object), body);
      if (merge) return patch(client, target, body);
      const live = await client.request<{ metadata: { resourceVersion: string } }>("GET", target);
      const { resourceVersion } = live.body.metadata;
      const metadata = { ...body.metadata, resourceVersion };
      return client.request<{ message?: string }>("PUT", target, { ...body, metadata });
    })();
    // Somebody has written in between; the step means the object as it is now.
    if (answer.code === CONFLICT && op === "update") continue;
    return answer.code < 400
      ? undefined
      : { code: answer.code, message: place.recorded(answer.body.message ?? "") };
  }
}

function patch(client: TestClient, path: string, body: RecordedObject) {
  const { apiVersion: _version, kind: _kind, ...rest } = body;
  return client.request<{ message?: string }>("PATCH", path, rest, {
    contentType: "application/merge-patch+json",
  });
}

const SCALED = { apiVersion: "k8s.tars.io/v1beta2", kind: "TServer" };
const DENIED = "denied the request: ";

/** Of a denial counts what the webhook says, or the path that the schema names. */
function denialDifferences(
  expected: string | undefined,
  actual: string | undefined,
  index: number,
): Difference[] {
  const path = `step ${index}: denied`;
  if (expected === undefined || actual === undefined)
    return expected === actual ? [] : [{ path, expected, actual }];
  return sameDenial(expected, actual) ? [] : [{ path, expected, actual }];
}

function sameDenial(expected: string, actual: string): boolean {
  const at = expected.indexOf(DENIED);
  if (at >= 0) {
    const content = expected.slice(at + DENIED.length);
    // Before the colon the peer prints a whole object, whose form is its own.
    const part = content.startsWith("<volatile>") ? content.slice(content.lastIndexOf(":") + 1) : content;
    return actual.includes(part.trim());
  }
  const fault = schemaPath(expected);
  return fault === undefined ? true : actual.includes(fault);
}

/** The path of a refusal by the schema, such as `spec.k8s.mounts[0].source`; none for a failure of the peer itself. */
function schemaPath(message: string): string | undefined {
  const problem = message.split(" is invalid: ")[1];
  if (problem === undefined) return undefined;
  return (
    /"((?:spec|apply)[\w.[\]]*)" must validate/.exec(problem)?.[1] ?? /^\[?([\w.[\]]+): /.exec(problem)?.[1]
  );
}

/** What must not change any more, as text, and whether something is being deleted. */
async function stateOf(place: Place): Promise<{ text: string; isGoing: boolean }> {
  const versions = await place.versions(CHILD_KINDS, OTHER_KINDS);
  const isGoing = versions.flat().some(([, , deletionTimestamp]) => deletionTimestamp !== undefined);
  return { text: JSON.stringify(versions), isGoing };
}

/** Waits until nothing in the namespace changes any more; the state that it is then in. */
async function rest(place: Place): Promise<string> {
  const start = performance.now();
  let before = "";
  let since = start;
  for (;;) {
    const { text, isGoing } = await stateOf(place);
    const now = performance.now();
    if (text !== before) since = now;
    before = text;
    if (now - since >= REST_MS && !isGoing) return text;
    if (now - start > LIMIT_MS) throw new Error(`no rest within ${LIMIT_MS / 1000} s: objects keep changing`);
    await sleep(POLL_MS);
  }
}

async function stateDifferences(place: Place, row: TarsCase): Promise<Difference[]> {
  const { stored, children = [], others = [] } = row.result;
  const { object, subresource } = row.steps.at(-1)!;
  const step = subresource === undefined ? object : { ...object, ...SCALED };
  const recorded = [...(stored ? [stored] : []), ...others, ...children];
  const normal = (object: RecordedObject): Json => normalObject(object, row);
  const live = await place.find(step);
  const wanted = stored ? normal(productForm(kept(stored, row), recorded)) : null;
  const found = live === undefined ? null : normal(live);
  const result = compareVolatile(wanted, found, "stored ");
  const keyOf = ({ kind, metadata }: RecordedObject): string => `${kind}/${metadata.name}`;
  // What the step is about stands in `stored` alone.
  const beside = (await place.list(CHILD_KINDS)).filter((child) => keyOf(child) !== keyOf(step));
  const actual = new Map(beside.map((child) => [keyOf(child), child]));
  const expected = new Map(children.map((object) => [keyOf(object), object]));
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    const [left, right] = [expected.get(key), actual.get(key)];
    if (left === undefined) result.push({ path: key, expected: undefined, actual: "present" });
    else if (right === undefined) result.push({ path: key, expected: "present", actual: undefined });
    else result.push(...compareVolatile(normal(productForm(left, recorded)), normal(right), `${key} `));
  }
  for (const object of others) {
    const now = await place.find(object);
    const other = now === undefined ? undefined : normal(now);
    result.push(
      ...compareVolatile(normal(productForm(kept(object, row), recorded)), other, `${keyOf(object)} `),
    );
  }
  return result;
}

/** A TDeploy with the note and the person that the peer's controller loses when it writes one. */
function kept(object: RecordedObject, { steps }: TarsCase): RecordedObject {
  if (object.kind !== "TDeploy" || object.deployed !== true) return object;
  const asked = steps.find((step) => step.object.kind === "TDeploy" && step.op === "create")?.object;
  const { mark, person } = (asked?.apply ?? {}) as Json;
  return { ...object, apply: { mark, person, ...(object.apply as Json) } };
}

/** Differences, but for values that are another each time. */
function compareVolatile(expected: unknown, actual: unknown, path: string): Difference[] {
  return differences(filled(expected, actual), actual, path);
}

/** The recorded value with the live one wherever it is another each time. */
function filled(expected: unknown, actual: unknown): unknown {
  if (expected === "<volatile>" && actual !== undefined) return actual;
  if (Array.isArray(expected) && Array.isArray(actual))
    return expected.map((item, index) => filled(item, actual[index]));
  if (isMap(expected) && isMap(actual))
    return Object.fromEntries(
      Object.entries(expected).map(([key, value]) => [key, filled(value, actual[key])]),
    );
  return expected;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
