/** The controller as the manager sees it. */
import {
  type CacheEvent,
  type ControllerModule,
  controllerOf,
  createExpectations,
  type DeepReadonly,
  defineModule,
  type Expectations,
  type KubeObject,
  keyOf,
  type Manager,
  type ObjectKey,
  type Sources,
} from "@quartet/core";
import { CONTROLLER_REVISION, NODE, type Node, POD, type Pod } from "@quartet/core/kinds";
import { createPatchesOf } from "./companion/patches.ts";
import { createCompanion } from "./companion/reconcile.ts";
import { CONVERSIONS } from "./conversion.ts";
import { compileSelector } from "./desired/selector.ts";
import { FLAGS, PATCHES_GATE } from "./flags.ts";
import { DAEMON_SET, type DaemonSet } from "./kinds.ts";
import { byMode, onModeChange } from "./mode/guard.ts";
import type { ModeFlag } from "./mode/mode.ts";
import { createModeWatch } from "./mode/watch.ts";
import { ORPHANS } from "./reconcile/claim.ts";
import { createMemoryStore, expectationKey, type MemoryStore } from "./reconcile/memory.ts";
import { createPatchMetrics } from "./reconcile/metrics.ts";
import { nodeFacts, nodeMatters } from "./reconcile/observe.ts";
import { NODE_PROJECTION, POD_PROJECTION } from "./reconcile/projections.ts";
import { createReconciler } from "./reconcile/reconcile.ts";
import { RIGHTS } from "./rights.ts";
import { type HookParts, webhooks } from "./webhooks.ts";

/** Canonical name of the controller. */
const NAME = "ds-patches";
/** DaemonSets that are worked on at once (peer). */
const WORKERS = 3;

/** DaemonSets whose template is adapted to each node by patches. */
export const dsPatchesModule: ControllerModule = createModule();

function createModule(): ControllerModule {
  /** What the webhooks of each manager that is built of this module share with its controller. */
  const works = new WeakMap<Sources, HookParts>();
  return defineModule({
    name: NAME,
    aliases: ["daemonset"],
    kinds: [DAEMON_SET],
    crds: ["apps.kruise.io_daemonsets.yaml"],
    rights: RIGHTS,
    webhooks: webhooks(({ sources }) => works.get(sources)),
    conversions: CONVERSIONS,
    gates: [
      {
        name: PATCHES_GATE,
        stage: "Beta",
        since: "0.1.0",
        help: "patches of DaemonSets by the labels of nodes",
      },
    ],
    flags: FLAGS,
    build(manager, flags) {
      const flag = flags["daemonset-mode"];
      if (flag === "off") return;
      const { sources, clock, metrics } = manager;
      const log = manager.log.named(NAME);
      const mode = createModeWatch({
        sources,
        clock,
        log,
        metrics,
        flag,
        kruiseNamespace: flags["kruise-namespace"],
      });
      const patchesEnabled = manager.features[PATCHES_GATE] ?? true;
      const patchesOf = createPatchesOf(patchesEnabled);
      works.set(sources, { mode, patchesOf, patchesEnabled });
      manager.add(mode.runnable);
      const settleMs = flags["patch-drift-settle"];
      buildController(manager, { mode, patchesOf, patchesEnabled, flag, settleMs });
    },
  });
}

interface Parts extends HookParts {
  readonly flag: ModeFlag;
  /** See the flag `patch-drift-settle`, milliseconds. */
  readonly settleMs: number;
}

function buildController(manager: Manager, { mode, patchesOf, patchesEnabled, flag, settleMs }: Parts): void {
  const { clock, metrics, sources } = manager;
  const expectations = createExpectations(clock);
  const memories = createMemoryStore(patchesEnabled, expectations);
  const reconcile = createReconciler({
    memories,
    metrics: createPatchMetrics(metrics),
    clock,
    settleMs,
    patchesEnabled,
  });
  const companionMetrics = createPatchMetrics(metrics, "companion");
  const companion = createCompanion({ patchesOf, metrics: companionMetrics, clock, settleMs });
  const builder = manager.controller(NAME).withOptions({ maxConcurrentReconciles: WORKERS });
  builder.for(DAEMON_SET);
  builder.owns(POD, { projection: POD_PROJECTION, onEvent: (event) => lower(expectations, event) });
  // A companion has no right to revisions, and no use for them.
  if (flag !== "companion") {
    builder.owns(CONTROLLER_REVISION);
    builder.index(CONTROLLER_REVISION, ORPHANS, orphanNamespace);
  }
  builder.index(POD, ORPHANS, orphanNamespace);
  builder.watches(
    POD,
    (pod, source) => adopters(pod, (namespace) => source.list(DAEMON_SET, { namespace })),
    {
      projection: POD_PROJECTION,
    },
  );
  builder.watches(NODE, () => [], {
    projection: NODE_PROJECTION,
    onEvent: (event, enqueue, cache) => {
      for (const key of concerned(event, memories, clock.now())) enqueue(key);
      if (mode.current() !== "companion") return;
      const daemonSets = cache.source(DAEMON_SET).list();
      for (const daemonSet of companion.onNode(event, daemonSets)) enqueue(keyOf(daemonSet));
    },
  });
  builder.watchesRaw(onModeChange(mode, sources));
  const reconciles = { owner: reconcile, companion: companion.reconcile };
  manager.add(builder.complete(byMode(mode, NAME, reconciles)));
}

/** A pod that came, or went or is about to, is awaited no more (DSP-705, 712). */
function lower(expectations: Expectations, { type, object }: CacheEvent<Pod>): void {
  const { namespace } = object.metadata;
  const owner = expectationKey({ metadata: { namespace, uid: controllerOf(object)?.uid } });
  if (type === "add") expectations.created(owner);
  if (type === "delete" || object.metadata.deletionTimestamp !== undefined)
    expectations.deleted(owner, object.metadata.uid ?? "");
}

function orphanNamespace(object: DeepReadonly<KubeObject>): readonly string[] {
  return controllerOf(object) === undefined ? [object.metadata.namespace ?? ""] : [];
}

/** DaemonSets that would take over a pod that nobody controls (DSP-706). */
async function adopters(
  pod: DeepReadonly<Pod>,
  daemonSets: (namespace: string) => Promise<readonly DeepReadonly<DaemonSet>[]>,
): Promise<ObjectKey[]> {
  if (controllerOf(pod) !== undefined) return [];
  const { namespace = "", labels = {} } = pod.metadata;
  return (await daemonSets(namespace))
    .filter(({ spec }) => compileSelector(spec.selector as DaemonSet["spec"]["selector"])?.(labels))
    .map(keyOf);
}

/** DaemonSets for which a change of a node means anything (DSP-708 to 711). */
function concerned(event: CacheEvent<Node>, memories: MemoryStore, now: number): ObjectKey[] {
  const keys: ObjectKey[] = [];
  const node = nodeFacts(event.object);
  for (const [key, { compiled, matchChanged }] of memories.all()) {
    if (event.type !== "update") {
      if (compiled.eligibilityOf(node).shouldContinue) keys.push(key);
      if (event.type === "delete") matchChanged.delete(node.name);
      continue;
    }
    const change = nodeMatters(compiled, nodeFacts(event.old), node);
    if (change === "patches") matchChanged.set(node.name, now);
    if (change !== undefined) keys.push(key);
  }
  return keys;
}
