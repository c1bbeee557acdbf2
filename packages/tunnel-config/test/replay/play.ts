/** Plays a recorded case: takes its steps and compares what comes of them with what the peer made. */
import { setTimeout as sleep } from "node:timers/promises";
import { type CloudflareFault, DEFAULT_TOKEN } from "@quartet/testing";
import type { Difference, Json, Outcome } from "@quartet/testing/replay";
import { finalDifferences, type Refusals, snapshotDifferences } from "./compare.ts";
import { ownDecisions, unexcused } from "./decisions.ts";
import type { CaseObject, TunnelCase, TunnelStep } from "./format.ts";
import { asMap } from "./normal.ts";
import { type Ground, type Place, STRANGER } from "./place.ts";
import { createObserver, namespacesOf, type Snapshot } from "./world.ts";

/** Pause between two looks, ms. */
const POLL_MS = 50;
/**
 * Looks in a row at which the manager has nothing to do, over more time than it gathers changes. Each asks the API server
 * too: on a busy machine, where an event takes its time, so do the looks.
 */
const CALM_LOOKS = 10;
/** Time for what is recorded to come about, ms. */
const PATIENCE_MS = 25_000;
/** Everything rests by then, ms. */
const LIMIT_MS = 60_000;
const ACTIVITY = /^(controller_runtime_reconcile_total|controller_runtime_active_workers|workqueue_depth)\b/;
const MERGE = "application/merge-patch+json";

type Observer = ReturnType<typeof createObserver>;

/** Plays a case in a place of its own. Never rejects: what goes wrong is in the outcome. */
export async function playTunnelCase(ground: Ground, row: TunnelCase): Promise<Outcome> {
  let found: Difference[] = [];
  try {
    const place = await ground.open(namespacesOf(row));
    try {
      found = await takeSteps(place, row);
    } finally {
      await place.close();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { verdict: "failed", differences: found, faults: found, error: message };
  }
  const faults = unexcused(found, row);
  if (faults.length > 0) return { verdict: "failed", differences: found, faults };
  const decided = ownDecisions(row).length > 0;
  return { verdict: decided && found.length > 0 ? "skipped" : "passed", differences: found, faults };
}

async function takeSteps(place: Place, row: TunnelCase): Promise<Difference[]> {
  const observer = createObserver(place, row);
  admitTokens(place, row);
  for (const call of row.remote) await callRemote(place, observer, call);
  const refusals: Refusals = [];
  const found: Difference[] = [];
  for (const [index, step] of row.steps.entries()) {
    const code = await take(place, observer, step);
    if (code >= 400) refusals.push({ step: index, code });
    const last = index === row.steps.length - 1;
    const compare = (snapshot: Snapshot): Difference[] => [
      ...snapshotDifferences(row, index, snapshot),
      ...(last ? finalDifferences(row, snapshot, refusals) : []),
    ];
    // What is not seen by anybody need not be waited for.
    if (step.op === "fault" || step.op === "clearFaults") {
      if (!last) continue;
    }
    found.push(...(await settled(place, observer, row, compare)));
  }
  return found;
}

/** The peer's stand-in takes any token: those that the case makes up are good ones. */
function admitTokens({ cloudflare }: Place, { steps }: TunnelCase): void {
  const tester = cloudflare.users.tokens.get(DEFAULT_TOKEN)!;
  for (const { object } of steps) {
    if (object?.kind !== "Secret") continue;
    for (const value of Object.values(asMap(object.stringData)))
      cloudflare.users.tokens.set(String(value), tester);
  }
}

/** Differences at rest. Those that no decision excuses are given time to go away. */
async function settled(
  place: Place,
  observer: Observer,
  row: TunnelCase,
  compare: (snapshot: Snapshot) => Difference[],
): Promise<Difference[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    await rest(place);
    const found = compare(await observer.read());
    const faults = unexcused(found, row);
    if ((faults.length === 0 && !isEnding(found, row)) || performance.now() > deadline) return found;
  }
}

/** Whether an object that the case deletes is still there though the account does as it is told: its end takes a while. */
function isEnding(found: readonly Difference[], { steps }: TunnelCase): boolean {
  if (steps.findLast(({ op }) => op === "fault" || op === "clearFaults")?.op === "fault") return false;
  const deleted = steps.flatMap(({ op, object }) =>
    op === "delete" && object !== undefined ? `status ${object.kind}/${object.metadata.name} ` : [],
  );
  return found.some(({ path, expected }) => expected === "absent" && deleted.includes(path));
}

/** Waits until neither objects are reconciled nor calls made. A faulty API is asked again, at growing intervals. */
async function rest({ client, manager, cloudflare }: Place): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  let before = "";
  for (let calm = 0; calm < CALM_LOOKS; calm += 1) {
    await client.request("GET", "/version");
    const seen = `${activity(await manager.metrics())} ${cloudflare.requests.length}`;
    if (seen !== before) calm = 0;
    before = seen;
    if (performance.now() > deadline)
      throw new Error(`no rest within ${LIMIT_MS / 1000} s: objects keep changing`);
    await sleep(POLL_MS);
  }
}

/** What the controllers have done and still have to do. */
function activity(metrics: string): string {
  return metrics
    .split("\n")
    .filter((line) => ACTIVITY.test(line))
    .join();
}

/** Takes a step; the code that the API server answers with. */
async function take(place: Place, observer: Observer, step: TunnelStep): Promise<number> {
  const { op, patch, subresource } = step;
  if (op === "wait") await sleep(Number(step.seconds) * 1000);
  if (op === "clearFaults") place.cloudflare.faults.clear();
  if (op === "fault") place.cloudflare.faults.add(faultOf(step.fault ?? {}));
  if (op === "remote" && step.remote !== undefined) await callRemote(place, observer, step.remote);
  if (step.object === undefined) return 200;
  const object = JSON.parse(observer.resolve(JSON.stringify(step.object))) as CaseObject;
  if (op === "apply") return (await place.apply(object)).code;
  const path = await place.pathOf(object);
  if (op === "delete") return (await place.client.request("DELETE", path)).code;
  const target = subresource === undefined ? path : `${path}/${subresource}`;
  return (await place.client.request("PATCH", target, patch, { contentType: MERGE })).code;
}

function faultOf(fault: Json): CloudflareFault {
  const { path, method, count, ...rest } = fault;
  return {
    ...(rest as Omit<CloudflareFault, "path">),
    path: new RegExp(String(path)),
    ...(typeof method === "string" && { method: new RegExp(method) }),
    ...(typeof count === "number" && { times: count }),
  };
}

async function callRemote(
  place: Place,
  observer: Observer,
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<void> {
  const answer = await fetch(place.cloudflare.url + observer.resolve(path), {
    method,
    headers: { authorization: `Bearer ${STRANGER}` },
    ...(body !== undefined && { body: observer.resolve(JSON.stringify(body)) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: HTTP ${answer.status}: ${await answer.text()}`);
}
