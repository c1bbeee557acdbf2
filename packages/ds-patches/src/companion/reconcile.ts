/** One pass over a DaemonSet of OpenKruise: pods without their patches are replaced, as far as its budget goes. */
import {
  type CacheEvent,
  type Clock,
  type DeepReadonly,
  isConflict,
  isNotFound,
  keyToString,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "@quartet/core";
import { NODE, type Node, POD, type Pod } from "@quartet/core/kinds";
import { PATCHES, PATCHES_HASH, PATCHES_ROLLOUT, ROLLBACK_TO } from "../desired/keys.ts";
import { preparingMetadata } from "../desired/lifecycle.ts";
import { pinnedNode } from "../desired/pod.ts";
import { strategyOf } from "../desired/strategy.ts";
import { mapOf } from "../json.ts";
import { DAEMON_SET, type DaemonSet } from "../kinds.ts";
import { ownedBy } from "../reconcile/claim.ts";
import type { PatchMetrics } from "../reconcile/metrics.ts";
import { type Drift, findDrift } from "./drift.ts";
import type { PatchesOf } from "./patches.ts";
import { createRetries, type Retries } from "./retries.ts";

/** When to look again at pods that have to wait for OpenKruise, or for their own successors; costs no request. */
const LOOK_AGAIN_MS = 5_000;
const ROLLOUTS = ["Evict", "None", "Template"];

export interface CompanionOptions {
  readonly patchesOf: PatchesOf;
  readonly metrics: PatchMetrics;
  readonly clock: Clock;
  /** See the flag `patch-drift-settle`, milliseconds. */
  readonly settleMs: number;
}

export interface Companion {
  readonly reconcile: Reconcile;
  /** Keys of the DaemonSets for which a change of a node's labels means other patches. */
  onNode(event: CacheEvent<Node>, daemonSets: readonly DeepReadonly<DaemonSet>[]): DeepReadonly<DaemonSet>[];
}

export function createCompanion(options: CompanionOptions): Companion {
  const { patchesOf, clock, settleMs } = options;
  /** When a node's labels changed what it gets of a DaemonSet; milliseconds since the Unix epoch. */
  const changed = new Map<string, number>();
  const retries = createRetries(clock);
  return {
    onNode(event, daemonSets) {
      if (event.type !== "update") return event.type === "add" ? [...daemonSets] : [];
      return daemonSets.filter((daemonSet) => {
        const { patchSet } = patchesOf(daemonSet);
        const [before, after] = [event.old, event.object].map(
          ({ metadata }) => patchSet.match(patchSet.maskOf(metadata.labels ?? {})).combinedHash,
        );
        if (before === after) return false;
        changed.set(placeOf(daemonSet, event.object.metadata.name ?? ""), clock.now());
        return true;
      });
    },
    async reconcile(key, ctx) {
      const daemonSet = await ctx.cache.get(DAEMON_SET, key);
      if (daemonSet === undefined || daemonSet.metadata.deletionTimestamp !== undefined) {
        options.metrics.forget(key);
        return;
      }
      const settlesInMs = (node: string): number => {
        const id = placeOf(daemonSet, node);
        const left = (changed.get(id) ?? Number.NEGATIVE_INFINITY) + settleMs - clock.now();
        if (left <= 0) changed.delete(id);
        return left;
      };
      return await pass(key, daemonSet, { ...options, settlesInMs, retries }, ctx);
    },
  };
}

interface PassOptions extends CompanionOptions {
  /** Not above 0 for a node whose labels have settled. */
  settlesInMs(node: string): number;
  readonly retries: Retries;
}

async function pass(
  key: ObjectKey,
  daemonSet: DeepReadonly<DaemonSet>,
  { patchesOf, metrics, clock, settlesInMs, retries }: PassOptions,
  ctx: ReconcileContext,
): Promise<Result | undefined> {
  const { annotations = {} } = daemonSet.metadata;
  const warn = (reason: string, note: string): void =>
    ctx.events.record(daemonSet as DaemonSet, { type: "Warning", reason, note, distinct: note });
  if (annotations[ROLLBACK_TO] !== undefined) {
    warn(
      "RollbackUnsupported",
      "OpenKruise controls this DaemonSet: nothing is rolled back here; remove the annotation",
    );
  }
  if (annotations[PATCHES] !== undefined && (daemonSet.spec.patches ?? []).length > 0) {
    warn("PatchSourceConflict", `the annotation ${PATCHES} counts beside OpenKruise, spec.patches does not`);
  }
  const patches = patchesOf(daemonSet);
  if (patches.problem !== undefined) {
    metrics.failed(daemonSet, "parse_failed");
    warn("FailedApplyPatch", patches.problem);
    return undefined;
  }
  const rollout = annotations[PATCHES_ROLLOUT] ?? "Evict";
  if (!ROLLOUTS.includes(rollout)) {
    warn(
      "PatchRolloutBlocked",
      `annotation ${PATCHES_ROLLOUT} is ${JSON.stringify(rollout)}: use ${ROLLOUTS.join(", ")}; until then pods stay`,
    );
    return undefined;
  }
  const nodes = await ctx.cache.list(NODE);
  const names = nodes.map(({ metadata }) => metadata.name ?? "");
  const settling = new Map(names.map((name) => [name, settlesInMs(name)]));
  const drift = findDrift({
    daemonSet,
    nodes,
    pods: ownedBy(POD, daemonSet, ctx),
    patches,
    isSettling: (node) => (settling.get(node) ?? 0) > 0,
    isHeld: (node, hash) => retries.waitMs(placeOf(daemonSet, node), hash) > 0,
    now: clock.now(),
  });
  metrics.stale(daemonSet, drift.drifted);
  const waits = [...settling.values()].filter((left) => left > 0);
  if (drift.drifted > 0) waits.push(LOOK_AGAIN_MS);
  if (rollout === "Template" && !strategyOf(daemonSet.spec as DaemonSet["spec"]).isInPlace) {
    await rollTemplate(key, daemonSet, patches.patches.length === 0 ? "" : patches.patchSet.listHash, ctx);
  } else if (rollout !== "None") {
    if (rollout === "Template") {
      warn(
        "PatchRolloutBlocked",
        "an in-place update makes no pod anew, so pods are replaced here, as with Evict",
      );
    }
    if (drift.waits === "surge") {
      warn(
        "PatchRolloutBlocked",
        `maxUnavailable is 0: no pod can be replaced without its successor; set ${PATCHES_ROLLOUT}: Template`,
      );
    }
    if (drift.held.length > 0) {
      warn(
        "PatchRolloutBlocked",
        `pods come back without their patches (node ${drift.held[0]}): does the API server reach the webhook of this manager? They are replaced again at growing intervals`,
      );
    }
    const deleted = await replace(drift, daemonSet, clock.now(), ctx);
    const { patchSet } = patches;
    for (const pod of deleted) {
      const name = pinnedNode(pod.spec as Pod["spec"]) ?? "";
      const labels = nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {};
      retries.note(placeOf(daemonSet, name), patchSet.match(patchSet.maskOf(labels)).combinedHash);
    }
  }
  return waits.length === 0 ? undefined : { requeueAfter: Math.min(...waits), exact: true };
}

function placeOf(daemonSet: DeepReadonly<DaemonSet>, node: string): string {
  return `${daemonSet.metadata.uid}/${node}`;
}

/** Has OpenKruise roll all pods by its own strategy: once for each list of patches (DSP-917). */
async function rollTemplate(
  key: ObjectKey,
  { spec }: DeepReadonly<DaemonSet>,
  hash: string,
  { client }: ReconcileContext,
): Promise<void> {
  const annotations = mapOf(mapOf((spec.template as DaemonSet["spec"]["template"]).metadata).annotations);
  if ((annotations[PATCHES_HASH] ?? "") === hash) return;
  const metadata = { annotations: { [PATCHES_HASH]: hash === "" ? null : hash } };
  await client.patch(DAEMON_SET, key, { type: "merge", body: { spec: { template: { metadata } } } });
}

/** Deletes pods, each only as the one that was read; those with a hook are marked, and OpenKruise does the rest. The deleted ones. */
async function replace(
  { replace: pods }: Drift,
  daemonSet: DeepReadonly<DaemonSet>,
  now: number,
  ctx: ReconcileContext,
): Promise<readonly DeepReadonly<Pod>[]> {
  const deleted: DeepReadonly<Pod>[] = [];
  const { preDelete } = mapOf(daemonSet.spec.lifecycle);
  for (const pod of pods) {
    const { namespace = "", name = "", uid = "", resourceVersion = "" } = pod.metadata;
    const key = { namespace, name };
    try {
      if (isMarked(preDelete)) {
        const metadata = { uid, resourceVersion, ...preparingMetadata(now) };
        await ctx.client.patch(POD, key, { type: "merge", body: { metadata } });
      } else {
        await ctx.client.delete(POD, key, { preconditions: { uid, resourceVersion } });
        deleted.push(pod);
        ctx.events.record(daemonSet as DaemonSet, {
          type: "Normal",
          reason: "SuccessfulDelete",
          note: `Deleted pod ${name}: it has not the patches of its node`,
        });
      }
    } catch (error) {
      if (isNotFound(error) || isConflict(error))
        ctx.log.debug("Pod has changed meanwhile", { key: keyToString(key) });
      else throw error;
    }
  }
  return deleted;
}

function isMarked(preDelete: unknown): boolean {
  return preDelete !== undefined && preDelete !== null;
}
