/** Volumes, mounts and claim templates (MAP-066, 067, 070 to 072, 082). */
import { controllerReference } from "@quartet/core";
import { T_SERVER } from "../kinds.ts";
import {
  DELAY_BIND_CLAIM,
  LOCAL_VOLUME_LABEL,
  STORAGE_CLASS,
  serverLabels,
  TIMEZONE_VOLUME,
  WORK_DIR_VOLUME,
} from "../labels.ts";
import type { ClaimTemplate, JsonMap } from "./k8s.ts";
import type { Mount, ServerModel } from "./model.ts";

/** Folder that tarsnode and the server share. */
export const WORK_DIR = "/usr/local/app/tars/tarsnode";
const TIMEZONE_FILE = "/etc/localtime";
/** Size that a claim of the agent asks for; its volumes are folders, so it bounds nothing. */
const LOCAL_SIZE = "1G";

/** A mount whose volume is a claim of the pod's own. */
export function isClaimed({ source }: Mount): boolean {
  return source?.persistentVolumeClaimTemplate !== undefined || source?.tLocalVolume !== undefined;
}

/** Volumes of the pod template. */
export function volumesOf({ k8s, isTars }: ServerModel): JsonMap[] {
  const mounted = (k8s.mounts ?? []).filter((mount) => !isClaimed(mount));
  return [
    ...mounted.map(({ name, source }) => ({ name, ...structuredClone(source as JsonMap | undefined) })),
    { name: TIMEZONE_VOLUME, hostPath: { path: TIMEZONE_FILE, type: "" } },
    ...(isTars ? [{ name: WORK_DIR_VOLUME, emptyDir: {} }] : []),
  ] as JsonMap[];
}

/** Mounts of the main container; those of claims only where there are claims. */
export function mountsOf({ k8s, isTars }: ServerModel, { claims }: { claims: boolean }): JsonMap[] {
  const mounts = (k8s.mounts ?? []).filter((mount) => claims || !isClaimed(mount));
  return [
    ...mounts.map(({ name, mountPath, readOnly, subPath, subPathExpr, mountPropagation }) => ({
      name,
      mountPath,
      ...(readOnly === true && { readOnly }),
      ...(subPath && { subPath }),
      ...(subPathExpr && { subPathExpr }),
      ...(mountPropagation && { mountPropagation }),
    })),
    { name: TIMEZONE_VOLUME, mountPath: TIMEZONE_FILE },
    ...(isTars ? [workDirMount()] : []),
  ];
}

/** Mount of the folder that tarsnode and the server share. */
export function workDirMount(): JsonMap {
  return { name: WORK_DIR_VOLUME, mountPath: WORK_DIR };
}

/** True for a server whose pods take something of their node for themselves. */
function isHostBound({ k8s }: ServerModel): boolean {
  return k8s.hostIPC === true || k8s.hostNetwork === true || (k8s.hostPorts?.length ?? 0) > 0;
}

/** Claim templates of the StatefulSet; `hostBindClaim` adds the peer's for pods that are bound to a node. */
export function claimTemplatesOf(model: ServerModel, hostBindClaim = false): ClaimTemplate[] {
  const bound = hostBindClaim && isHostBound(model) ? [localClaim(model, DELAY_BIND_CLAIM)] : [];
  return [...mountedClaims(model), ...bound];
}

function mountedClaims(model: ServerModel): ClaimTemplate[] {
  return (model.k8s.mounts ?? []).flatMap((mount): ClaimTemplate[] => {
    const { name = "", source } = mount;
    const { persistentVolumeClaimTemplate: own, tLocalVolume: local } = source ?? {};
    if (local !== undefined) return [localClaim(model, name)];
    if (own === undefined) return [];
    const { labels, annotations } = own.metadata ?? {};
    const metadata = {
      name,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
    };
    return [{ metadata, spec: structuredClone(own.spec) as JsonMap }];
  });
}

/** Labels of the claims of one mount. */
export function localLabels(
  { app, server }: Pick<ServerModel, "app" | "server">,
  mount: string,
): Record<string, string> {
  return { ...serverLabels(app, server), [LOCAL_VOLUME_LABEL]: mount };
}

function localClaim(model: ServerModel, name: string): ClaimTemplate {
  const labels = localLabels(model, name);
  return {
    metadata: {
      name,
      namespace: model.namespace,
      labels,
      ownerReferences: [controllerReference(T_SERVER, { metadata: { name: model.name, uid: model.uid } })],
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: LOCAL_SIZE } },
      selector: { matchLabels: { ...labels } },
      storageClassName: STORAGE_CLASS,
      volumeMode: "Filesystem",
    },
  };
}
