/** What the agent of a node has to do (LV-002 to 014). */
import type { DeepReadonly } from "@quartet/core";
import type { Claim, Node } from "../desired/k8s.ts";
import { DELAY_BIND_CLAIM, NODE_LABEL, STORAGE_CLASS } from "../labels.ts";
import {
  fnv1a,
  folderOf,
  isOn,
  type Ownership,
  ownershipOf,
  type Volume,
  volumeFor,
  volumeName,
  wantedBy,
} from "./volume.ts";

/** Node label that enables local volumes. */
const SUPPORT_LABEL = "tars.io/SupportLocalVolume";
const HOSTNAME = "kubernetes.io/hostname";
/** A volume that nobody has taken for so long goes again, ms (LV-011). */
const UNUSED_MS = 86_400_000;

/** What is known. */
export interface State {
  readonly node: DeepReadonly<Node>;
  readonly claims: readonly DeepReadonly<Claim>[];
  readonly volumes: readonly DeepReadonly<Volume>[];
  /** `reclaimPolicy` of the class. */
  readonly reclaimPolicy: string;
  /** Base folder on the node. */
  readonly hostBase: string;
  /** Volumes of one namespace on this node, at the most. */
  readonly limit: number;
  /** Ms since the epoch. */
  readonly now: number;
}

export interface Plan {
  readonly actions: readonly Action[];
  /** Claims that say too little for one. */
  readonly skipped: readonly string[];
  /** Namespaces of claims that wait because these have as many volumes here as they may have. */
  readonly full: readonly string[];
}

/** One step. Folders are given from the base folder on. */
export type Action =
  | { readonly type: "provide"; readonly folder: string; readonly owner: Ownership; readonly volume: Volume }
  | { readonly type: "own"; readonly folder: string; readonly owner: Ownership }
  | { readonly type: "drop"; readonly volume: DeepReadonly<Volume>; readonly remove: string | undefined };

/** The plan of a node. */
export function plan(state: State): Plan {
  const claims = state.claims.filter(({ spec }) => spec?.storageClassName === STORAGE_CLASS);
  const hostname = hostnameOf(state.node);
  const here = state.volumes.filter(
    (volume) => isOn(volume, hostname) && volume.metadata.deletionTimestamp === undefined,
  );
  const skipped = claims
    .filter((claim) => wantedBy(claim) === undefined)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  const { provide, full } = provided(claims, here, state);
  return {
    actions: [
      ...here.flatMap((volume) => dropped(volume, state)),
      ...claims.flatMap((claim) => owned(claim, here)),
      ...provide,
    ],
    skipped,
    full,
  };
}

function hostnameOf({ metadata }: DeepReadonly<Node>): string {
  return metadata.labels?.[HOSTNAME] ?? metadata.name ?? "";
}

/** Volumes whose claim is gone, and those that no claim has ever taken. */
function dropped(volume: DeepReadonly<Volume>, { hostBase, now }: State): Action[] {
  const { phase, lastPhaseTransitionTime } = volume.status ?? {};
  const { local, persistentVolumeReclaimPolicy: policy } = volume.spec;
  if (phase === "Released" || phase === "Failed") {
    const path = local?.path ?? "";
    const inside = path.startsWith(`${hostBase}/`) ? path.slice(hostBase.length + 1) : undefined;
    const remove = policy === "Delete" && !isTakenByOthers(volume, inside) ? inside : undefined;
    return [{ type: "drop", volume, remove }];
  }
  const since = Date.parse(lastPhaseTransitionTime ?? volume.metadata.creationTimestamp ?? "");
  // Its folder may hold data of an earlier claim, so it stays.
  return phase === "Available" && now - since >= UNUSED_MS
    ? [{ type: "drop", volume, remove: undefined }]
    : [];
}

/** A claim of any namespace can bind a volume: what is in the folder is not for that to delete. */
function isTakenByOthers({ spec }: DeepReadonly<Volume>, folder: string | undefined): boolean {
  const { namespace } = spec.claimRef ?? {};
  return namespace !== undefined && folder !== undefined && !folder.startsWith(`${namespace}/`);
}

/** Folders of bound claims get the owner and mode that these ask for now. */
function owned(claim: DeepReadonly<Claim>, here: readonly DeepReadonly<Volume>[]): Action[] {
  const wanted = wantedBy(claim);
  const { uid, deletionTimestamp } = claim.metadata;
  if (wanted === undefined || deletionTimestamp !== undefined) return [];
  const bound = here.some(({ spec, status }) => status?.phase === "Bound" && spec.claimRef?.uid === uid);
  return bound ? [{ type: "own", folder: folderOf(wanted), owner: ownershipOf(claim) }] : [];
}

/** One volume for each server and mount that a claim waits for, within the limit; whichever of several claims takes it. */
function provided(
  claims: readonly DeepReadonly<Claim>[],
  here: readonly DeepReadonly<Volume>[],
  state: State,
): { provide: Action[]; full: string[] } {
  const { node, volumes, hostBase, reclaimPolicy, limit } = state;
  const counts = new Map<string, number>();
  const count = (namespace: string): void => void counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  for (const volume of here) count(namespaceOf(volume, hostBase));
  const full = new Set<string>();
  const name = node.metadata.name ?? "";
  const paths = new Map(volumes.map(({ metadata, spec }) => [metadata.name ?? "", spec.local?.path ?? ""]));
  const provide = claims.flatMap((claim): Action[] => {
    const wanted = wantedBy(claim);
    if (wanted === undefined || !isPending(claim) || !serves(node, wanted.mount)) return [];
    const folder = folderOf(wanted);
    const id = freeName(volumeName(wanted, name), folder, paths);
    if (id === undefined) return [];
    if ((counts.get(wanted.namespace) ?? 0) >= limit) {
      full.add(wanted.namespace);
      return [];
    }
    count(wanted.namespace);
    paths.set(id, `${hostBase}/${folder}`);
    const place = { name, hostname: hostnameOf(node) };
    const volume = volumeFor({ wanted, claim, node: place, hostBase, reclaimPolicy, name: id });
    return [{ type: "provide", folder, owner: ownershipOf(claim), volume }];
  });
  return { provide, full: [...full] };
}

/** The namespace that the folder of a volume belongs to. */
function namespaceOf({ spec }: DeepReadonly<Volume>, hostBase: string): string {
  const path = spec.local?.path ?? "";
  return path.startsWith(`${hostBase}/`) ? (path.slice(hostBase.length + 1).split("/")[0] ?? "") : "";
}

/**
 * Name of the volume of a folder; nothing when the folder has one. The parts of the usual name are not told apart by it,
 * so another namespace's folder may have it.
 */
function freeName(usual: string, folder: string, paths: ReadonlyMap<string, string>): string | undefined {
  const there = paths.get(usual);
  if (there === undefined) return usual;
  if (there.endsWith(`/${folder}`)) return undefined;
  const other = `${usual}-${fnv1a(folder).toString(16)}`;
  return paths.has(other) ? undefined : other;
}

function isPending({ metadata, spec, status }: DeepReadonly<Claim>): boolean {
  return (
    (status?.phase ?? "Pending") === "Pending" &&
    !spec?.volumeName &&
    metadata.deletionTimestamp === undefined
  );
}

/** Claims that only bind a pod to its node are served on every node of a framework. */
function serves({ metadata: { labels = {} } }: DeepReadonly<Node>, mount: string): boolean {
  return (
    labels[SUPPORT_LABEL] !== undefined || (mount === DELAY_BIND_CLAIM && labels[NODE_LABEL] !== undefined)
  );
}
