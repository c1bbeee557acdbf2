/** State of the pods in the TEndpoint, and the status of the TServer (R-040 to 043, R-070 to 076). */
import { type Condition, type DeepReadonly, isNotFound, keyOf, sameJson, setCondition } from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { podStates } from "../desired/endpoint-status.ts";
import type { Pod } from "../desired/k8s.ts";
import { effectiveReplicas } from "../desired/replicas.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_ENDPOINT, T_SERVER } from "../kinds.ts";
import { APP_LABEL, SERVER_LABEL } from "../labels.ts";
import { describeProblems } from "./children-step.ts";
import type { Memory } from "./memory.ts";
import type { Pass } from "./pass.ts";
import { measurePods } from "./pod-figures.ts";

/** How long a change may wait for further ones, which come in bursts, ms. */
interface Patience {
  /** Without another change. */
  readonly quiet: number;
  /** In all. */
  readonly longest: number;
}

/** Together with the work of a pass below the 500 ms of R-076. */
const ENDPOINT: Patience = { quiet: 280, longest: 420 };
/** Nobody routes by the status of a TServer; a pod that is replaced changes it once instead of twice. */
const SERVER: Patience = { quiet: 450, longest: 900 };

type Status = NonNullable<TServer["status"]>;

/** Writes what has changed; the time to come back after, ms, while changes are still coming. */
export async function writeStatus(pass: Pass): Promise<number | undefined> {
  measurePods(pass);
  const waits = await Promise.all([writeEndpoint(pass), writeServer(pass)]);
  const times = waits.filter((wait) => wait !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Writes a value when it has waited long enough; else the time that is left, ms. */
async function settle<T>(
  { memory, clock, problems }: Pass,
  what: keyof Memory["pending"],
  { found, wanted, patience }: { found: unknown; wanted: T; patience: Patience },
  write: (value: T) => Promise<unknown>,
): Promise<number | undefined> {
  const { pending } = memory;
  if (sameJson(found, wanted)) {
    pending[what] = undefined;
    return undefined;
  }
  const now = clock.monotonic();
  const text = JSON.stringify(wanted);
  const before = pending[what];
  const waiting = before?.text === text ? before : { text, since: before?.since ?? now, changed: now };
  pending[what] = waiting;
  const left = Math.min(waiting.changed + patience.quiet, waiting.since + patience.longest) - now;
  // With a problem the pass is repeated at growing pauses, and not for the sake of the status.
  if (left > 0 && problems.length === 0) return left;
  pending[what] = undefined;
  await write(wanted);
  return undefined;
}

async function writeEndpoint(pass: Pass): Promise<number | undefined> {
  const { ctx, server, informers } = pass;
  const endpoint = informers.endpoints.get(keyOf(server));
  if (endpoint === undefined) return undefined;
  const options = { signal: ctx.signal, subresource: "status", fieldManager: FIELD_MANAGER };
  const state = { found: endpoint.status?.pods, wanted: podStates(pass.pods), patience: ENDPOINT };
  return settle(pass, "endpoint", state, (pods) => {
    const body = { status: { pods } };
    return ctx.client.patch(T_ENDPOINT, keyOf(server), { type: "merge", body }, options).catch(ignoreGone);
  });
}

async function writeServer(pass: Pass): Promise<number | undefined> {
  const { ctx, server } = pass;
  const options = { signal: ctx.signal, fieldManager: FIELD_MANAGER };
  const state = { found: server.status, wanted: statusOf(pass), patience: SERVER };
  return settle(pass, "server", state, (status) =>
    ctx.client.patchStatus(T_SERVER, server, status, options).catch(ignoreGone),
  );
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function statusOf(pass: Pass): Status {
  const { server, model, pods } = pass;
  const { app, server: name } = model;
  const readyReplicas = pods.filter(isReady).length;
  return {
    ...(server.status as Status | undefined),
    replicas: model.k8s.replicas ?? 0,
    currentReplicas: pods.length,
    readyReplicas,
    selector: `${APP_LABEL}=${app},${SERVER_LABEL}=${name}`,
    observedGeneration: server.metadata.generation ?? 0,
    conditions: conditionsOf(pass, readyReplicas),
  };
}

function isReady({ metadata, status }: DeepReadonly<Pod>): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false)
  );
}

function conditionsOf(pass: Pass, ready: number): Condition[] {
  const { server, model, clock, problems } = pass;
  const observedGeneration = server.metadata.generation ?? 0;
  let conditions = server.status?.conditions as readonly Condition[] | undefined;
  const set = (type: string, on: boolean, reason: string, message = ""): void => {
    const input = {
      type,
      status: on ? ("True" as const) : ("False" as const),
      reason,
      message,
      observedGeneration,
    };
    ({ conditions } = setCondition(conditions, input, clock.now()));
  };
  const { released } = model;
  set("Released", released !== undefined, released === undefined ? "NoRelease" : "Released", released?.id);
  const synced = problems.length === 0;
  set("WorkloadSynced", synced, synced ? "Synced" : "SyncFailed", synced ? "" : describeProblems(pass));
  const desired = effectiveReplicas(model, server.metadata.annotations);
  const enough = released !== undefined && ready >= desired;
  const why = released === undefined ? "NoRelease" : enough ? "PodsReady" : "PodsNotReady";
  set(
    "Ready",
    enough,
    why,
    enough ? "" : released === undefined ? "no version is released" : `${ready} of ${desired} pods are ready`,
  );
  return [...conditions!];
}
