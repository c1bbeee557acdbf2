/** The controllers as the manager sees them. */
import {
  type CacheEvent,
  type Client,
  type Clock,
  type ControllerModule,
  type DeepReadonly,
  defineModule,
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
import type { TFrameworkConfig, TServer } from "./api.gen.ts";
import { agentCommand } from "./commands/agent.ts";
import { MIGRATE_STORAGE } from "./commands/migrate-storage.ts";
import { PREFLIGHT } from "./commands/preflight.ts";
import { CONVERSIONS } from "./conversion/conversions.ts";
import { exitedPod } from "./desired/exited-record.ts";
import type { Claim, Pod } from "./desired/k8s.ts";
import { FLAGS } from "./flags.ts";
import type { HookContext } from "./hooks/context.ts";
import { tarsWebhooks } from "./hooks/webhooks.ts";
import { createIdentities } from "./identity.ts";
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
  T_TEMPLATE,
  T_TREE,
} from "./kinds.ts";
import { LOCAL_VOLUME_LABEL, TREE_NAME } from "./labels.ts";
import { createAccountReconcile } from "./reconcile/account.ts";
import { configItem, createConfigReconcile } from "./reconcile/config.ts";
import { reconcileDeploy } from "./reconcile/deploy.ts";
import { createImageReconcile } from "./reconcile/image.ts";
import { createMemories, type Memories } from "./reconcile/memory.ts";
import { reconcileNode } from "./reconcile/node.ts";
import type { ServerSettings } from "./reconcile/pass.ts";
import { createPeerWatch, peerReports, unlessPeer } from "./reconcile/peer.ts";
import { POD_INDEX, podIndex } from "./reconcile/pods.ts";
import { createServerReconcile, serverKeyOf } from "./reconcile/server.ts";
import { createTreeReconcile } from "./reconcile/tree.ts";
import { RIGHTS } from "./rights.ts";
import { CONFIG_OPTIONS, type Lookups, OWN_SELECTOR, openLookups, POD_OPTIONS } from "./sources.ts";

/** Canonical name of the controller. */
const NAME = "tars";
/** Longest pause before a server is tried again, ms. */
const MAX_RETRY_MS = 60_000;
const FIRST_RETRY_MS = 50;

const CRDS = [
  "taccounts",
  "tconfigs",
  "tdeploys",
  "tendpoints",
  "texitedrecords",
  "tframeworkconfigs",
  "timages",
  "tservers",
  "ttemplates",
  "ttrees",
];

type Flags = ValuesOf<typeof FLAGS>;

/** TARS servers with their configuration, images, accounts and nodes. */
export const tarsModule: ControllerModule = createTarsModule();

/** A module of its own; what it knows of a cluster is shared by its webhooks and controllers. */
export function createTarsModule(): ControllerModule {
  const shared = new WeakMap<Manager["cache"], SharedLookups>();
  const sharedOf = (manager: Manager): SharedLookups => {
    const known = shared.get(manager.cache) ?? shareLookups(manager);
    shared.set(manager.cache, known);
    return known;
  };
  const contexts = new WeakMap<Manager["cache"], HookContext>();
  return defineModule({
    name: NAME,
    aliases: ["tars-tserver"],
    kinds: [
      T_SERVER,
      T_CONFIG,
      T_TEMPLATE,
      T_ACCOUNT,
      T_IMAGE,
      T_ENDPOINT,
      T_EXITED_RECORD,
      T_FRAMEWORK_CONFIG,
      T_TREE,
      T_DEPLOY,
    ],
    crds: CRDS.map((plural) => `k8s.tars.io_${plural}.yaml`),
    rights: RIGHTS,
    flags: FLAGS,
    conversions: CONVERSIONS,
    commands: [agentCommand(), PREFLIGHT, MIGRATE_STORAGE],
    webhooks: tarsWebhooks((manager, flags) => {
      const known = contexts.get(manager.cache) ?? contextOf(manager, flags as Flags, sharedOf(manager));
      contexts.set(manager.cache, known);
      return known;
    }),
    build: (manager, flags) => build(manager, flags, sharedOf(manager)),
  });
}

/** What all webhooks of a manager share. */
function contextOf(manager: Manager, flags: Flags, { lookups }: SharedLookups): HookContext {
  const client = admissionClient(manager);
  const { "operator-username": username, "trusted-users": trusted } = flags;
  const identities = createIdentities({ client, username, trusted });
  void identities.prepare();
  return {
    client,
    clock: manager.clock,
    lookups,
    deleteGuardMs: flags["tars-tconfig-delete-guard"],
    identities,
  };
}

/** Marks are written by whichever replica is asked, so they pass no fence; the cache learns of them at once. */
function admissionClient({ client, cache }: Manager): Client {
  return client.forController("tars-admission", {
    afterWrite({ kind, key, dryRun }, object, uid) {
      if (!dryRun && object !== undefined) cache.overlay(kind, key, object, uid);
    },
  });
}

interface SharedLookups {
  /** Rejects when the signal aborts before the caches are synced. */
  lookups(signal: AbortSignal): Promise<Lookups>;
  run(signal: AbortSignal): Promise<void>;
  /** The peer's Leases as they are known. */
  leases(): readonly DeepReadonly<Lease>[] | undefined;
}

/** The caches of webhooks and controllers, open while the manager runs. */
function shareLookups({ cache, namespaces }: Manager): SharedLookups {
  let opened: Lookups | undefined;
  return {
    async lookups(signal) {
      if (opened === undefined) throw new Error("the TARS controller has not started yet");
      await opened.synced(signal);
      return opened;
    },
    async run(signal) {
      opened = openLookups(cache, namespaces);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      opened.release();
    },
    leases: () => opened?.peerLeases(),
  };
}

function build(manager: Manager, flags: Flags, { lookups, run, leases }: SharedLookups): void {
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
      .complete(guarded(createTreeReconcile({ lookups, clock }))),
  );
  manager.add(
    manager
      .controller("tars-config")
      .watches(T_CONFIG, configItem, CONFIG_OPTIONS)
      .watches(T_FRAMEWORK_CONFIG, itemsOf)
      .complete(guarded(createConfigReconcile({ lookups, clock }))),
  );
  const images = guarded(createImageReconcile({ lookups, clock }));
  manager.add(manager.controller("tars-deploy").for(T_DEPLOY).complete(guarded(reconcileDeploy)));
  manager.add(manager.controller("tars-image").for(T_IMAGE).complete(images));
  manager.add(
    manager
      .controller("tars-account")
      .for(T_ACCOUNT)
      .complete(guarded(createAccountReconcile(clock))),
  );
  manager.add(
    manager.controller("tars-node").for(NODE, { projection: "metadata" }).complete(guarded(reconcileNode)),
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
  const reconcile = guarded(createServerReconcile({ lookups, memories, clock, settings }));
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
      .withQueue({ rateLimiter: () => exponentialBackoff(FIRST_RETRY_MS, MAX_RETRY_MS) })
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
