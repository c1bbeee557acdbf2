/** Names that the parts of a TARS framework agree on. Source: tars.md 2.2. */

/** API group of all kinds of TARS. */
export const GROUP = "k8s.tars.io";

/** Application and server in their own spelling; on TServers, their children, pods, claims, configurations, images. */
export const APP_LABEL = "tars.io/ServerApp";
export const SERVER_LABEL = "tars.io/ServerName";
/** Release that a pod runs. */
export const RELEASE_LABEL = "tars.io/ServerID";
export const SUB_TYPE_LABEL = "tars.io/SubType";
export const TEMPLATE_LABEL = "tars.io/Template";
/** Parent of a TTemplate. */
export const PARENT_LABEL = "tars.io/Parent";

/** Identity and state of a TConfig. */
export const CONFIG_NAME_LABEL = "tars.io/ConfigName";
export const POD_SEQ_LABEL = "tars.io/PodSeq";
export const ACTIVATED_LABEL = "tars.io/Activated";
export const VERSION_LABEL = "tars.io/Version";
/** Work marks of a TConfig; the second form of the first is that of older documents, and only read (D3). */
export const DEACTIVATE_LABEL = "tars.io/Deactivate";
export const DEACTIVATING_LABEL = "tars.io/Deactivating";
export const DELETING_LABEL = "tars.io/Deleting";
/** Values of the marks. */
export const DEACTIVATE_VALUE = "Deactivating";
export const DELETING_VALUE = "Deleting";
/** When a TConfig became active, RFC 3339 with milliseconds. */
export const ACTIVATED_AT_ANNOTATION = "tars.io/ActivatedAt";

/** State of a TDeploy: `Pending`, `Approved` or `Reject`. */
export const APPROVE_LABEL = "tars.io/Approve";
export const IMAGE_TYPE_LABEL = "tars.io/ImageType";
/** `tars.io/Supported.<type>` on a TImage. */
export const SUPPORTED_LABEL_PREFIX = "tars.io/Supported.";

/** Mount that a claim or volume of the agent is for. */
export const LOCAL_VOLUME_LABEL = "tars.io/LocalVolume";
export const LOCAL_VOLUME_UID_ANNOTATION = "tars.io/LocalVolumeUID";
export const LOCAL_VOLUME_GID_ANNOTATION = "tars.io/LocalVolumeGID";
export const LOCAL_VOLUME_MODE_ANNOTATION = "tars.io/LocalVolumeMode";

export const MAX_REPLICAS_ANNOTATION = "tars.io/MaxReplicas";
export const MIN_REPLICAS_ANNOTATION = "tars.io/MinReplicas";
export const AUTO_RELEASE_ANNOTATION = "tars.io/AutoRelease";
/** What v1beta2 has no place for (tars.md 10). */
export const CARRY_ANNOTATION = "tars.io/Conversion.1b21b3";

/** Node labels: usable by any framework, by a namespace, and by an application or server. */
export const NODE_LABEL = "tars.io/node";
export const NODE_LABEL_PREFIX = "tars.io/node.";
export const ABILITY_LABEL_PREFIX = "tars.io/ability.";
/** Node label that lets no pod of an unreleased DaemonSet come (MAP-048). */
export const UNRELEASED_LABEL = "tars.io/unreleased";

/** Readiness gate that the registry sets. */
export const ACTIVE_GATE = "tars.io/active";

/** TServer of the registry, which sets the readiness gates of its namespace. */
export const REGISTRY_NAME = "tars-tarsregistry";
export const TREE_NAME = "tars-tree";
export const FRAMEWORK_NAME = "tars-framework";
export const STORAGE_CLASS = "tars-storage-class";
export const NODE_CONTAINER = "tarsnode";
export const TIMEZONE_VOLUME = "host-timezone";
export const WORK_DIR_VOLUME = "tarsnode-work-dir";
/** Claim that the peer adds for pods bound to a node. */
export const DELAY_BIND_CLAIM = "delay-bind";
/** Image of what has none yet. */
export const NO_IMAGE = " ";
/** Port of tarsnode itself. */
export const NODE_PORT = 19385;

/** `demo-echoserver`, the name of a server's objects. */
export function objectName(app: string, server: string): string {
  return `${app.toLowerCase()}-${server.toLowerCase()}`;
}

/** The two labels that select what belongs to a server. */
export function serverLabels(app: string, server: string): Record<string, string> {
  return { [APP_LABEL]: app, [SERVER_LABEL]: server };
}
