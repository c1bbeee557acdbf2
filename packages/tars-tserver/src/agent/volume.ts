/** Local volumes: names, folders and objects (LV-003 to 005). */
import type { DeepReadonly, KubeObject } from "@quartet/core";
import type { Claim } from "../desired/k8s.ts";
import {
  APP_LABEL,
  LOCAL_VOLUME_GID_ANNOTATION,
  LOCAL_VOLUME_LABEL,
  LOCAL_VOLUME_MODE_ANNOTATION,
  LOCAL_VOLUME_UID_ANNOTATION,
  SERVER_LABEL,
  STORAGE_CLASS,
} from "../labels.ts";

/** Who made a volume, as the peer writes it. */
const PROVISIONER = "tars-local-volume-provisioner";
const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
const HOSTNAME = "kubernetes.io/hostname";
/** Value of a label; nothing that leads out of a folder. */
const PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const RADIX_HEX = 16;
const RADIX_OCTAL = 8;

/** A volume of one folder on one node. */
export interface Volume extends KubeObject {
  spec: {
    capacity?: Record<string, unknown>;
    accessModes?: string[];
    local?: { path: string };
    storageClassName?: string;
    persistentVolumeReclaimPolicy?: string;
    nodeAffinity?: {
      required?: {
        nodeSelectorTerms?: { matchExpressions?: { key: string; operator: string; values?: string[] }[] }[];
      };
    };
    claimRef?: { namespace?: string; name?: string; uid?: string };
  };
  status?: { phase?: string; lastPhaseTransitionTime?: string };
}

/** What a claim asks for. */
export interface Wanted {
  readonly namespace: string;
  readonly app: string;
  readonly server: string;
  readonly mount: string;
}

/** Owner and mode of a folder. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** What a claim of the agent's class asks for; `undefined` for one that does not say it (LV-005). */
export function wantedBy({ metadata, spec }: DeepReadonly<Claim>): Wanted | undefined {
  const selector =
    (spec?.selector as { matchLabels?: Record<string, string> } | undefined)?.matchLabels ?? {};
  const { [APP_LABEL]: app, [SERVER_LABEL]: server, [LOCAL_VOLUME_LABEL]: mount } = selector;
  const { namespace } = metadata;
  if (app === undefined || server === undefined || mount === undefined || namespace === undefined)
    return undefined;
  const sound = [app, server, mount, namespace].every((part) => PART.test(part) && !part.includes(".."));
  return sound ? { namespace, app, server, mount } : undefined;
}

/** Folder of a volume, from the base folder on. */
export function folderOf({ namespace, app, server, mount }: Wanted): string {
  return `${namespace}/${app}.${server}/${mount}`;
}

/** Name of the volume on a node; the same as the peer's, so that its volumes are recognised. */
export function volumeName({ namespace, app, server, mount }: Wanted, node: string): string {
  const hash = fnv1a(`${node}${STORAGE_CLASS}`).toString(RADIX_HEX);
  return `${namespace}-${mount}-${app.toLowerCase()}-${server.toLowerCase()}-${hash}`;
}

/** FNV-1a of 32 bits. */
export function fnv1a(text: string): number {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text, "utf8")) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash;
}

/** Owner and mode that the annotations of a claim ask for; what cannot be read counts as not given. */
export function ownershipOf({ metadata: { annotations = {} } }: DeepReadonly<Claim>): Ownership {
  const number = (key: string, radix: number, fallback: number, pattern: RegExp): number => {
    const text = annotations[key] ?? "";
    return pattern.test(text) ? Number.parseInt(text, radix) : fallback;
  };
  const id = /^(0|[1-9][0-9]{0,5})$/;
  return {
    uid: number(LOCAL_VOLUME_UID_ANNOTATION, 10, 0, id),
    gid: number(LOCAL_VOLUME_GID_ANNOTATION, 10, 0, id),
    mode: number(LOCAL_VOLUME_MODE_ANNOTATION, RADIX_OCTAL, 0o755, /^0?[0-7]{3}$/),
  };
}

export interface VolumeInput {
  readonly wanted: Wanted;
  readonly claim: DeepReadonly<Claim>;
  /** Name of the node, and its host name as its label gives it. */
  readonly node: { readonly name: string; readonly hostname: string };
  /** Base folder on the node. */
  readonly hostBase: string;
  readonly reclaimPolicy: string;
  /** Of the volume; default: {@link volumeName}. */
  readonly name?: string;
}

/** The volume for a claim. */
export function volumeFor(input: VolumeInput): Volume {
  const { wanted, claim, node, hostBase, reclaimPolicy, name = volumeName(wanted, node.name) } = input;
  const { app, server, mount } = wanted;
  const resources = claim.spec?.resources as { requests?: { storage?: unknown } } | undefined;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name,
      labels: { [APP_LABEL]: app, [SERVER_LABEL]: server, [LOCAL_VOLUME_LABEL]: mount },
      annotations: { [PROVISIONED_BY]: PROVISIONER },
    },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? "1G" },
      accessModes: [...((claim.spec?.accessModes as string[] | undefined) ?? ["ReadWriteOnce"])],
      local: { path: `${hostBase}/${folderOf(wanted)}` },
      storageClassName: STORAGE_CLASS,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: HOSTNAME, operator: "In", values: [node.hostname] }] },
          ],
        },
      },
    },
  };
}

/** True for a volume of the agent's class on this node. */
export function isOn({ spec }: DeepReadonly<Volume>, hostname: string): boolean {
  if (spec.storageClassName !== STORAGE_CLASS) return false;
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key, values = [] }) => key === HOSTNAME && values.includes(hostname)),
  );
}
