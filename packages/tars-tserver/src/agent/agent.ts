/** The agent of a node: carries out its plan whenever something changes, and every half minute (LV-001 to 014). */
import {
  type CommandContext,
  createCache,
  type DeepReadonly,
  defineKind,
  type Informer,
  type InformerOptions,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Kind,
  type KubeObject,
  sleep,
} from "@quartet/core";
import { STORAGE_CLASS as STORAGE_CLASS_KIND } from "@quartet/core/kinds";
import { CLAIM, NODE } from "../kinds.ts";
import { LOCAL_VOLUME_LABEL, STORAGE_CLASS } from "../labels.ts";
import { createBell } from "./bell.ts";
import type { Folders } from "./folders.ts";
import { type Action, plan } from "./plan.ts";
import type { Volume } from "./volume.ts";

const VOLUME: Kind<Volume> = defineKind<Volume>({
  ...{ group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes", namespaced: false },
});
/** Longest pause between two looks, ms: the time within which a changed mode is applied (LV-008). */
const PAUSE_MS = 30_000;
/** Changes come in bursts, ms. */
const QUIET_MS = 200;

export interface AgentOptions extends Pick<CommandContext, "client" | "clock" | "log" | "signal"> {
  /** Name of the node. */
  readonly node: string;
  /** Base folder on the node. */
  readonly hostBase: string;
  /** Volumes of one namespace on the node, at the most. */
  readonly limit: number;
  readonly folders: Folders;
}

/** Runs until the signal aborts. */
export async function runAgent(options: AgentOptions): Promise<void> {
  const { client, clock, log, signal, node } = options;
  const cache = createCache({ client, clock, log });
  const bell = createBell(clock);
  const open = <T extends KubeObject>(kind: Kind<T>, more: InformerOptions<T>): Informer<T> => {
    const informer = cache.informer(kind, more);
    informer.addHandler(bell.ring);
    return informer;
  };
  const labelSelector = LOCAL_VOLUME_LABEL;
  const nodes = open(NODE, { fieldSelector: `metadata.name=${node}` });
  const claims = open(CLAIM, { labelSelector });
  const volumes = open(VOLUME, { labelSelector });
  const classes = open(STORAGE_CLASS_KIND, { fieldSelector: `metadata.name=${STORAGE_CLASS}` });
  const told = new Set<string>();
  try {
    await Promise.all([nodes, claims, volumes, classes].map((informer) => informer.synced(signal)));
    log.info("local volumes are looked after", { node, base: options.hostBase });
    while (!signal.aborted) {
      bell.silence();
      const self = nodes.get({ namespace: "", name: node });
      if (self !== undefined) {
        const state = {
          ...{ node: self, claims: claims.list(), volumes: volumes.list() },
          ...{ hostBase: options.hostBase, limit: options.limit },
          reclaimPolicy: policyOf(classes.get({ namespace: "", name: STORAGE_CLASS })),
          now: clock.now(),
        };
        const { actions, skipped, full } = plan(state);
        for (const claim of skipped.filter((name) => !told.has(name))) {
          log.warn("a claim does not say which server and mount it is for", { claim });
        }
        for (const namespace of full.filter((name) => !told.has(name))) {
          log.warn("a namespace has as many volumes on this node as it may have: its further claims wait", {
            ...{ namespace, limit: options.limit },
          });
        }
        told.clear();
        for (const name of [...skipped, ...full]) told.add(name);
        for (const action of actions) await attempt(action, options);
      }
      await bell.rung(PAUSE_MS, signal);
      await sleep(clock, QUIET_MS, signal).catch(() => {});
    }
  } finally {
    await cache.stop();
  }
}

function policyOf(found: DeepReadonly<KubeObject> | undefined): string {
  return (found as { reclaimPolicy?: string } | undefined)?.reclaimPolicy ?? "Delete";
}

/** What fails is told and tried again at the next look; the others go on. */
async function attempt(action: Action, options: AgentOptions): Promise<void> {
  try {
    await carryOut(action, options);
  } catch (error) {
    if (options.signal.aborted || isAlreadyExists(error) || isNotFound(error) || isConflict(error)) return;
    const volume = "volume" in action ? action.volume.metadata.name : action.folder;
    options.log.error("a local volume cannot be looked after", { action: action.type, volume, error });
  }
}

async function carryOut(action: Action, { client, folders, log, signal }: AgentOptions): Promise<void> {
  switch (action.type) {
    case "provide":
      await folders.ensure(action.folder, action.owner);
      await client.create(VOLUME, action.volume, { signal });
      log.info("volume created", { volume: action.volume.metadata.name, folder: action.folder });
      return;
    case "own":
      return folders.ensure(action.folder, action.owner);
    case "drop": {
      const { name = "", uid } = action.volume.metadata;
      // The folder first: a volume that is gone reminds nobody of it.
      if (action.remove !== undefined) await folders.remove(action.remove);
      await client.deleteIfExists(
        VOLUME,
        { namespace: "", name },
        { signal, ...(uid !== undefined && { preconditions: { uid } }) },
      );
      log.info("volume deleted", { volume: name, removed: action.remove });
    }
  }
}
