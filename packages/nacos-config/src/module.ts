/** The controller as the manager sees it. */
import {
  type ControllerModule,
  controllerOf,
  createProbes,
  type DeepReadonly,
  defineModule,
  type Manager,
  type ObjectKey,
  type Reference,
  type SourceReader,
  type ValuesOf,
} from "@quartet/core";
import type { Pod } from "@quartet/core/kinds";
import {
  CONFIG_MAP,
  CONTROLLER_REVISION,
  JOB,
  LEASE,
  POD,
  SECRET,
  SERVICE,
  STATEFUL_SET,
} from "@quartet/core/kinds";
import { databaseLimits } from "./database/connection.ts";
import { hostRules } from "./database/hosts.ts";
import { CHILD_LABELS, RECORD_LABELS, recreateRecordName } from "./desired/names.ts";
import { recordedStatefulSet } from "./desired/recreate.ts";
import { selectorText } from "./desired/selector.ts";
import { type NacosResource, settingsOf } from "./desired/settings.ts";
import { answerBudget, type BaseUrl, podBaseUrl } from "./health/client.ts";
import { NACOS } from "./kinds.ts";
import { DEBOUNCE, POD_PROJECTION, secretNames, sourceNames, strangePods } from "./reconcile/interests.ts";
import { createMemoryStore } from "./reconcile/memory.ts";
import { createConfigMetrics } from "./reconcile/metrics.ts";
import { createNodeWatch } from "./reconcile/node-watch.ts";
import { createPeerWatch, peerLeases } from "./reconcile/peer.ts";
import { createReconciler } from "./reconcile/reconcile.ts";
import { FLAGS, RIGHTS } from "./rights.ts";

/** Canonical name of the controller. */
const NAME = "nacos";

/** What tests and embedders can replace. */
export interface NacosModuleOptions {
  /** Where nodes are reached; default: at their pods' addresses. */
  readonly baseUrl?: BaseUrl;
}

/** The module with its outside replaced. */
export function createNacosModule({ baseUrl = podBaseUrl }: NacosModuleOptions = {}): ControllerModule {
  return defineModule({
    name: NAME,
    aliases: ["nacos-config"],
    kinds: [NACOS],
    crds: ["nacos.io_nacos.yaml"],
    rights: RIGHTS,
    flags: FLAGS,
    build: (manager, flags) => build(manager, flags, baseUrl),
  });
}

/** Nacos clusters with managed configuration. */
export const nacosModule: ControllerModule = createNacosModule();

function build(manager: Manager, flags: ValuesOf<typeof FLAGS>, baseUrl: BaseUrl): void {
  const { clock, namespaces } = manager;
  const probes = createProbes(clock, "nacos-probes");
  const nodeWatch = createNodeWatch(clock);
  const reconcile = createReconciler({
    clock,
    metrics: createConfigMetrics(manager.metrics),
    probes,
    nodeWatch,
    databases: databaseLimits(hostRules(flags["nacos-postgres-hosts"])),
    nodeAccess: { baseUrl, answers: answerBudget() },
    skipNodeCheck: flags["nacos-skip-node-check"],
    memories: createMemoryStore(),
    resyncMs: flags["nacos-resync"],
    peer: createPeerWatch({
      namespaces,
      peerNamespace: flags["nacos-peer-namespace"],
      foreignLease: (namespace, name) => manager.foreignLease(namespace, name),
    }),
  });
  const labelSelector = selectorText({ matchLabels: CHILD_LABELS });
  manager.add(
    manager
      .controller(NAME)
      .for(NACOS)
      .owns(STATEFUL_SET, { labelSelector })
      .owns(CONTROLLER_REVISION, { labelSelector: selectorText({ matchLabels: RECORD_LABELS }) })
      .owns(SERVICE, { labelSelector })
      .owns(JOB, { labelSelector })
      .owns(CONFIG_MAP, { labelSelector })
      .owns(SECRET, { labelSelector })
      .watches(POD, resourceOfPod, { labelSelector, projection: POD_PROJECTION })
      .watches(LEASE, () => [], peerLeases(namespaces))
      .references(CONFIG_MAP, (nacos) => sourceNames(settingsOf(nacos), "ConfigMap"), { debounce: DEBOUNCE })
      .references(SECRET, (nacos) => sourceNames(settingsOf(nacos), "Secret"), { debounce: DEBOUNCE })
      .references(SECRET, (nacos) => secretNames(settingsOf(nacos)))
      .references(POD, strangersOf, { projection: POD_PROJECTION })
      .watchesRaw(probes.source)
      .watchesRaw(nodeWatch.source)
      .complete(reconcile),
  );
}

/** Pods of a StatefulSet, or of one that is being made anew, that are not watched as those of a Nacos resource. */
function strangersOf(nacos: NacosResource, { source }: SourceReader): Reference[] {
  const { namespace = "", name = "" } = nacos.metadata;
  const record = source(CONTROLLER_REVISION).get({ namespace, name: recreateRecordName(name) });
  const recorded = record && recordedStatefulSet(nacos, record);
  const set = source(STATEFUL_SET).get({ namespace, name }) ?? recorded;
  const strangers = set && strangePods(set);
  return strangers === undefined ? [] : [strangers];
}

/** A pod belongs to the StatefulSet that is named like the resource. */
function resourceOfPod(pod: DeepReadonly<Pod>): ObjectKey[] {
  const owner = controllerOf(pod);
  return owner?.kind === "StatefulSet" ? [{ namespace: pod.metadata.namespace ?? "", name: owner.name }] : [];
}
