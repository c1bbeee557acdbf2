/** Reconciles a TServer (tars.md 7.1 to 7.3, 7.6). */
import {
  controllerOf,
  type DeepReadonly,
  groupOf,
  isNotFound,
  type Kind,
  type KubeObject,
  keyToString,
  messageOf,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import type { TServer } from "../api.gen.ts";
import { frameworkSettings } from "../desired/framework.ts";
import { effectiveReplicas } from "../desired/replicas.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { DAEMON_SET, SERVICE, STATEFUL_SET, T_ENDPOINT, T_EXITED_RECORD, T_SERVER } from "../kinds.ts";
import { APP_LABEL, SERVER_LABEL } from "../labels.ts";
import { removeChild } from "./child.ts";
import { describeProblems, GOING_MS, syncChildren } from "./children-step.ts";
import { annotateClaims } from "./claims-step.ts";
import { recordExited } from "./exited-step.ts";
import { tendGates } from "./gate-step.ts";
import { newPass, type Parts, type Pass, type Sources, sourcesOf } from "./pass.ts";
import { podsOf } from "./pods.ts";
import { isRefusal } from "./refusals.ts";
import { writeStatus } from "./status-step.ts";

/** Some children could not be brought to what is wanted; what and why is in the message and in events. */
export class ChildrenError extends Error {
  override readonly name = "ChildrenError";
}

/** The reconcile of servers. */
export function createServerReconcile(parts: Parts): Reconcile {
  return async (key, ctx) => {
    const informers = sourcesOf(ctx.cache);
    const server = informers.servers.get(key);
    if (server === undefined || server.metadata.deletionTimestamp !== undefined) {
      await removeAll(key, server, informers, ctx);
      if (server === undefined) {
        parts.memories.forget(keyToString(key));
        parts.metrics.forget(key);
      }
      return;
    }
    const lookups = await parts.lookups(ctx.signal);
    const pass = newPass({
      ctx,
      server,
      informers,
      framework: frameworkSettings(lookups.framework(key.namespace)),
      memory: parts.memories.of(keyToString(key)),
      clock: parts.clock,
      settings: parts.settings,
      metrics: parts.metrics,
      lookups,
      pods: podsOf(ctx.cache, key.namespace, server.spec.app, server.spec.server),
    });
    return runPass(pass);
  };
}

async function runPass(pass: Pass): Promise<{ requeueAfter: number; exact: boolean } | undefined> {
  const going = await syncChildren(pass);
  await attempt(pass, "claims", () => annotateClaims(pass));
  await attempt(pass, "replicas", () => clampReplicas(pass));
  await attempt(pass, `TExitedRecord ${pass.model.name}`, () => recordExited(pass));
  let silence: number | undefined;
  await attempt(pass, "readiness gates", async () => {
    silence = await tendGates(pass);
  });
  tell(pass);
  const wait = await writeStatus(pass);
  if (pass.problems.length > 0 && wait === undefined) throw new ChildrenError(describeProblems(pass));
  const times = [wait, silence, going ? GOING_MS : undefined].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : { requeueAfter: Math.min(...times), exact: true };
}

async function attempt(pass: Pass, what: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    pass.problems.push({ what, error });
  }
}

/** The number of replicas that somebody has written past the webhook. */
async function clampReplicas({ ctx, server, model }: Pass): Promise<void> {
  const replicas = effectiveReplicas(model, server.metadata.annotations);
  if (server.spec.k8s === undefined || (server.spec.k8s.replicas ?? 0) === replicas) return;
  const body = {
    metadata: { resourceVersion: server.metadata.resourceVersion },
    spec: { k8s: { replicas } },
  };
  await ctx.client.patch(
    T_SERVER,
    { namespace: model.namespace, name: model.name },
    { type: "merge", body },
    {
      signal: ctx.signal,
      fieldManager: FIELD_MANAGER,
    },
  );
}

/** Each problem once, as long as it stays the same. */
function tell({ ctx, server, problems, memory }: Pass): void {
  const now = new Set<string>();
  for (const { what, error, foreign = false } of problems) {
    const reason = foreign ? "OutControl" : "SyncFailed";
    const note = foreign ? messageOf(error) : `${what}: ${messageOf(error)}`;
    now.add(`problem ${note}`);
    if (!memory.told.has(`problem ${note}`)) {
      ctx.events.record(server, { type: "Warning", reason, note, distinct: note });
    }
  }
  for (const id of memory.told) if (id.startsWith("problem ")) memory.told.delete(id);
  for (const id of now) memory.told.add(id);
}

/** Deletes what belongs to a server that is gone, also where no garbage collector runs. */
async function removeAll(
  key: ObjectKey,
  server: DeepReadonly<TServer> | undefined,
  informers: Sources,
  { client, signal, events }: ReconcileContext,
): Promise<void> {
  const belongs = (object: DeepReadonly<KubeObject>): boolean => {
    const owner = controllerOf(object);
    if (
      owner?.kind !== T_SERVER.kind ||
      groupOf(owner.apiVersion) !== T_SERVER.group ||
      owner.name !== key.name
    )
      return false;
    return server === undefined || owner.uid === server.metadata.uid;
  };
  const remove = async <T extends KubeObject>(
    kind: Kind<T>,
    cached: DeepReadonly<T> | undefined,
  ): Promise<void> => {
    await removeChild(client, kind, cached, belongs, signal).catch((error) => {
      if (isNotFound(error)) return;
      // There is no server left to tell it on.
      if (cached !== undefined && isRefusal(error)) {
        events.record(cached, { type: "Warning", reason: "WriteRefused", note: messageOf(error) });
      }
      throw error;
    });
  };
  await Promise.all([
    remove(STATEFUL_SET, informers.statefulSets.get(key)),
    remove(DAEMON_SET, informers.daemonSets.get(key)),
    remove(SERVICE, informers.services.get(key)),
    remove(T_ENDPOINT, informers.endpoints.get(key)),
    remove(T_EXITED_RECORD, informers.records.get(key)),
  ]);
}

/** Labels of a pod or claim that name its server. */
export function serverKeyOf({ metadata }: DeepReadonly<KubeObject>): ObjectKey[] {
  const { [APP_LABEL]: app, [SERVER_LABEL]: server } = metadata.labels ?? {};
  if (!app || !server) return [];
  return [{ namespace: metadata.namespace ?? "", name: `${app.toLowerCase()}-${server.toLowerCase()}` }];
}
