/** The controllers of the package, as they are added to a manager. */
import {
  type CacheEvent,
  type Clock,
  type DeepReadonly,
  exponentialBackoff,
  keyToString,
  type Manager,
  type MapFn,
  type ObjectKey,
  type Reconcile,
  seconds,
  type ValuesOf,
} from "@quartet/core";
import type { Lease } from "@quartet/core/kinds";
import { isInForce } from "./admission/config.ts";
import type { TFrameworkConfig, TServer } from "./api.gen.ts";
import { exitedPod } from "./desired/exited-record.ts";
import type { Claim, Pod } from "./desired/k8s.ts";
import type { FLAGS } from "./flags.ts";
import {
  CLAIM,
  DAEMON_SET,
  NODE,
  POD,
  SERVICE,
  STATEFUL_SET,
  T_ACCOUNT,
  T_CONFIG,
  T_DEPLOY,
  T_ENDPOINT,
  T_EXITED_RECORD,
  T_FRAMEWORK_CONFIG,
  T_IMAGE,
  T_SERVER,
  T_TREE,
} from "./kinds.ts";
import { LOCAL_VOLUME_LABEL, TREE_NAME } from "./labels.ts";
import { createConfigMetrics, createServerMetrics } from "./metrics.ts";
import { createAccountReconcile } from "./reconcile/account.ts";
import { configItem, createConfigReconcile } from "./reconcile/config.ts";
import { createDeployReconcile } from "./reconcile/deploy.ts";
import { createImageReconcile } from "./reconcile/image.ts";
import { createMemories, type Memories } from "./reconcile/memory.ts";
import { reconcileNode } from "./reconcile/node.ts";
import type { ServerSettings } from "./reconcile/pass.ts";
import { createPeerWatch, peerReports, unlessPeer } from "./reconcile/peer.ts";
import { POD_INDEX, podIndex } from "./reconcile/pods.ts";
import { tellingRefusals } from "./reconcile/refusals.ts";
import { createServerReconcile, serverKeyOf } from "./reconcile/server.ts";
import { createTreeReconcile } from "./reconcile/tree.ts";
import { CONFIG_OPTIONS, type Lookups, OWN_SELECTOR, POD_OPTIONS } from "./sources.ts";

/** Canonical name of the controller. */
export const NAME = "tars";
/** Pause before something that failed is tried again, and the longest, ms; it doubles from one to the other. */
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 60_000;
const QUEUE = { rateLimiter: () => exponentialBackoff(FIRST_RETRY_MS, MAX_RETRY_MS) };

/** Values of the package's flags. */
export type Flags = ValuesOf<typeof FLAGS>;

/** The caches of webhooks and controllers. */
export interface SharedLookups {
  /** Counts a request that admission has denied. */
  readonly countDenial: (kind: string, operation: string) => void;
  /** Rejects when the signal aborts before the caches are synced. */
  lookups(signal: AbortSignal): Promise<Lookups>;
  run(signal: AbortSignal): Promise<void>;
  /** The peer's Leases as they are known. */
  leases(): readonly DeepReadonly<Lease>[] | undefined;
}

/** Adds all controllers to a manager. */
export function buildControllers(
  manager: Manager,
  flags: Flags,
  { lookups, run, leases }: SharedLookups,
): void {
  const { clock } = manager;
  const peer = createPeerWatch(flags["tars-force-takeover"] ? () => [] : leases, clock);
  const guarded = (reconcile: Reconcile): Reconcile => unlessPeer(peer, reconcile);
  manager.add({ name: "tars-lookups", needLeaderElection: false, run });
  manager.add(peerReports(manager, peer));
  const settings = {
    portStyle: flags["tars-container-port-style"],
    hostBindClaim: flags["tars-host-bind-claim"],
    gateFallback: flags["tars-gate-fallback"],
  };
  buildServers(manager, settings, lookups, guarded);
  const tree: MapFn<TServer> = ({ metadata }) => [{ namespace: metadata.namespace ?? "", name: TREE_NAME }];
  manager.add(
    manager
      .controller("tars-tree")
      .for(T_TREE)
      .watches(T_SERVER, tree)
      .withQueue(QUEUE)
      .complete(
        guarded(
          tellingRefusals(createTreeReconcile({ lookups, clock }), (key, ctx) => ctx.cache.get(T_TREE, key)),
        ),
      ),
  );
  manager.add(
    manager
      .controller("tars-config")
      .watches(T_CONFIG, configItem, CONFIG_OPTIONS)
      .watches(T_FRAMEWORK_CONFIG, itemsOf)
      .withQueue(QUEUE)
      .complete(
        guarded(
          tellingRefusals(
            createConfigReconcile({ lookups, clock, metrics: createConfigMetrics(manager.metrics) }),
            async ({ namespace, name }, { signal }) => {
              const versions = (await lookups(signal)).item(namespace, name);
              return versions.find(isInForce) ?? versions[0];
            },
          ),
        ),
      ),
  );
  const images = tellingRefusals(createImageReconcile({ lookups, clock }), (key, ctx) =>
    ctx.cache.get(T_IMAGE, key),
  );
  const accounts = tellingRefusals(createAccountReconcile(clock), (key, ctx) =>
    ctx.cache.get(T_ACCOUNT, key),
  );
  const deploys = tellingRefusals(createDeployReconcile(lookups), (key, ctx) => ctx.cache.get(T_DEPLOY, key));
  manager.add(manager.controller("tars-deploy").for(T_DEPLOY).withQueue(QUEUE).complete(guarded(deploys)));
  manager.add(manager.controller("tars-image").for(T_IMAGE).withQueue(QUEUE).complete(guarded(images)));
  manager.add(manager.controller("tars-account").for(T_ACCOUNT).withQueue(QUEUE).complete(guarded(accounts)));
  manager.add(
    manager
      .controller("tars-node")
      .for(NODE, { projection: "metadata" })
      .withQueue(QUEUE)
      .complete(guarded(reconcileNode)),
  );
}

/** All items of a namespace: a limit of their history may have changed. */
const itemsOf: MapFn<TFrameworkConfig> = async ({ metadata: { namespace = "" } }, cache) => {
  const configs = await cache.list(T_CONFIG, { namespace });
  const keys = new Map(configs.flatMap((config) => configItem(config)).map((key) => [keyToString(key), key]));
  return [...keys.values()];
};

/** Servers that take their image of tarsnode from the framework. */
const serversWithFrameworkImage: MapFn<TFrameworkConfig> = async (
  { metadata: { namespace = "" } },
  cache,
) => {
  const servers = await cache.list(T_SERVER, { namespace });
  return servers
    .filter(({ spec }) => spec.tars !== undefined && !spec.release?.nodeImage)
    .map(({ metadata: { name = "" } }): ObjectKey => ({ namespace, name }));
};

function buildServers(
  manager: Manager,
  settings: ServerSettings,
  lookups: SharedLookups["lookups"],
  guarded: (reconcile: Reconcile) => Reconcile,
): void {
  const { clock } = manager;
  const memories = createMemories();
  const metrics = createServerMetrics(manager.metrics);
  const reconcile = guarded(createServerReconcile({ lookups, memories, clock, settings, metrics }));
  const own = { labelSelector: OWN_SELECTOR };
  manager.add(
    manager
      .controller(NAME)
      .for(T_SERVER)
      .owns(STATEFUL_SET, own)
      .owns(DAEMON_SET, own)
      .owns(SERVICE, own)
      .owns(T_ENDPOINT)
      .owns(T_EXITED_RECORD)
      .watches<Pod>(POD, serverKeyOf, {
        ...POD_OPTIONS,
        predicates: [(event) => rememberGone(event, memories, clock)],
      })
      .watches<Claim>(CLAIM, serverKeyOf, {
        labelSelector: `${OWN_SELECTOR},${LOCAL_VOLUME_LABEL}`,
        projection: "metadata",
      })
      .watches(T_FRAMEWORK_CONFIG, serversWithFrameworkImage)
      .index(POD, POD_INDEX, podIndex)
      .withQueue(QUEUE)
      .complete(reconcile),
  );
}

/** A pod that is gone is no longer in the cache when its server's turn comes. Passes every event. */
function rememberGone(event: CacheEvent<Pod>, memories: Memories, clock: Clock): boolean {
  if (event.type === "delete") {
    for (const key of serverKeyOf(event.object)) {
      memories.addGone(keyToString(key), exitedPod(event.object, seconds(clock.now())));
    }
  }
  return true;
}
