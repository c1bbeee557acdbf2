/**
 * What the API server fills in, or means, where a field is absent. Source: Kubernetes 1.37 `pkg/apis/core/v1/defaults.go` and
 * `pkg/apis/apps/v1/defaults.go`.
 */
import type { TypeName } from "@quartet/strategic-merge";
import type { JsonMap } from "./json.ts";

/** A value, or a function of the object as it was sent. */
type Default = unknown | ((object: JsonMap) => unknown);

/** Objects that say nothing when they are empty, though the server keeps them. */
const NEUTRAL: Readonly<Record<string, Default>> = { securityContext: {}, lifecycle: {} };
/** Octal 0644, the mode of files in map volumes. */
const FILE_MODE = 420;
const CONTAINER: Readonly<Record<string, Default>> = {
  ...NEUTRAL,
  imagePullPolicy: ({ image }: JsonMap) => pullPolicy(image),
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
};

const DEFAULTS: Readonly<Record<TypeName, Readonly<Record<string, Default>>>> = {
  PodSpec: {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    affinity: {},
    dnsConfig: {},
    // Not filled in in templates, but meant by absent.
    enableServiceLinks: true,
    serviceAccount: (pod: JsonMap) => pod.serviceAccountName,
    serviceAccountName: (pod: JsonMap) => pod.serviceAccount,
  },
  Affinity: { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} },
  SecurityContext: { capabilities: {} },
  Container: CONTAINER,
  EphemeralContainer: CONTAINER,
  ContainerPort: { protocol: "TCP" },
  Probe: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  HTTPGetAction: { path: "/", scheme: "HTTP" },
  GRPCAction: { service: "" },
  ObjectFieldSelector: { apiVersion: "v1" },
  ResourceFieldSelector: { divisor: "0" },
  FileKeySelector: { optional: false },
  Volume: { emptyDir: ({ name: _name, ...sources }: JsonMap) => (hasValue(sources) ? undefined : {}) },
  ConfigMapVolumeSource: { defaultMode: FILE_MODE },
  SecretVolumeSource: { defaultMode: FILE_MODE },
  DownwardAPIVolumeSource: { defaultMode: FILE_MODE },
  ProjectedVolumeSource: { defaultMode: FILE_MODE },
  ServiceAccountTokenProjection: { expirationSeconds: 3600 },
  HostPathVolumeSource: { type: "" },
  ImageVolumeSource: { pullPolicy: ({ reference }: JsonMap) => pullPolicy(reference) },
  PersistentVolumeClaimSpec: { volumeMode: "Filesystem" },
  ISCSIVolumeSource: { iscsiInterface: "default" },
  RBDVolumeSource: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" },
  AzureDiskVolumeSource: { cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" },
  ScaleIOVolumeSource: { storageMode: "ThinProvisioned", fsType: "xfs" },
};

/** What the server puts in the place of an absent field; `undefined` when it leaves it absent. */
export function defaultOf(type: TypeName, field: string, object: JsonMap): unknown {
  const value = DEFAULTS[type]?.[field];
  return typeof value === "function" ? value(object) : value;
}

const hasValue = (map: JsonMap): boolean =>
  Object.values(map).some((value) => value !== undefined && value !== null);

/** Images tagged `latest`, and those with neither tag nor digest, are pulled each time. */
function pullPolicy(image: unknown): string {
  const [name = "", digest] = String(image ?? "").split("@");
  const tag = name.slice(name.lastIndexOf("/") + 1).split(":")[1];
  return (tag ?? (digest === undefined ? "latest" : "")) === "latest" ? "Always" : "IfNotPresent";
}
