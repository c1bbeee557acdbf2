/** State of the pods in the TEndpoint, and the status of the TServer (R-040 to 043, R-070 to 076). */
import { type Condition, type DeepReadonly, isNotFound, keyOf, sameJson, setCondition } from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { type PodState, podStates } from "../desired/endpoint-status.ts";
import type { Pod } from "../desired/k8s.ts";
import { effectiveReplicas } from "../desired/replicas.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_ENDPOINT, T_SERVER } from "../kinds.ts";
import { APP_LABEL, SERVER_LABEL } from "../labels.ts";
import { describeProblems } from "./children-step.ts";
import type { Pass } from "./pass.ts";

/** Changes of pods come in bursts: they are written after so long without another one, ms. */
const QUIET_MS = 100;
/** Longest wait of a change, ms; together with the work of a pass below the 500 ms of R-076. */
const LONGEST_MS = 350;

type Status = NonNullable<TServer["status"]>;

/** Writes what has changed; the time to come back after, ms, while changes are still coming. */
export async function writeStatus(pass: Pass): Promise<number | undefined> {
  const pods = podStates(pass.pods);
  const status = statusOf(pass);
  const endpoint = pass.informers.endpoints.get(keyOf(pass.server));
  const endpointDue = endpoint !== undefined && !sameJson(endpoint.status?.pods, pods);
  const statusDue = !sameJson(pass.server.status, status);
  if (!endpointDue && !statusDue) {
    pass.memory.pending = undefined;
    return undefined;
  }
  const wait = timeToWait(pass, JSON.stringify([pods, status]));
  if (wait > 0) return wait;
  pass.memory.pending = undefined;
  await Promise.all([endpointDue && writeEndpoint(pass, pods), statusDue && writeServer(pass, status)]);
  return undefined;
}

function timeToWait({ memory, clock }: Pass, text: string): number {
  const now = clock.monotonic();
  const before = memory.pending;
  if (before?.text !== text) memory.pending = { text, since: before?.since ?? now, changed: now };
  const { since, changed } = memory.pending!;
  return Math.min(changed + QUIET_MS, since + LONGEST_MS) - now;
}

async function writeEndpoint({ ctx, server, informers }: Pass, pods: PodState[]): Promise<void> {
  const endpoint = informers.endpoints.get(keyOf(server));
  if (endpoint === undefined) return;
  const body = { status: { pods } };
  const options = { signal: ctx.signal, subresource: "status", fieldManager: FIELD_MANAGER };
  await ctx.client.patch(T_ENDPOINT, keyOf(server), { type: "merge", body }, options).catch(ignoreGone);
}

async function writeServer({ ctx, server }: Pass, status: Status): Promise<void> {
  await ctx.client
    .patchStatus(T_SERVER, server, status, { signal: ctx.signal, fieldManager: FIELD_MANAGER })
    .catch(ignoreGone);
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
