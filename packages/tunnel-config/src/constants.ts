/** Names that other programs know (section 2 of the rule book). */

/** Of this package, as the Cloudflare API is told. */
export const VERSION = "0.1.0";

export const GROUP = "networking.cloudflare-operator.io";
/** Prefix of labels and annotations. */
export const PREFIX = "cloudflare-operator.io";
/** Prefix of annotations on Ingresses. */
export const INGRESS_PREFIX = "cloudflare.com";

export const INGRESS_CONTROLLER = "cloudflare-operator.io/ingress-controller";
export const GATEWAY_CONTROLLER = "cloudflare-operator.io/gateway-controller";
export const LEGACY_CLASS_ANNOTATION = "kubernetes.io/ingress.class";
export const DEFAULT_CLASS_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";

export const LABELS = {
  tunnelId: "cloudflare-operator.io/tunnel-id",
  type: "cloudflare-operator.io/type",
  accountId: "cloudflare-operator.io/account-id",
} as const;
/** Value of {@link LABELS.type} on the ConfigMaps with configurations. */
export const CONFIG_TYPE = "tunnel-config";
/** Value on those that hold what somebody else had configured. */
export const BACKUP_TYPE = "tunnel-config-backup";
export const CONFIG_KEY = "config.json";
/** Key of configurations that were transmitted before, in the same ConfigMap. */
export const HISTORY_KEY = "history.json";
export const BROKEN_KEY = "config.json.bak";
/** Key of what somebody else had configured, in a ConfigMap of its own. */
export const BACKUP_KEY = "remote-backup.json";
/** Name of such a ConfigMap: each configuration has one. */
export const backupName = (tunnelId: string, hash: string): string => `tunnel-backup-${tunnelId}-${hash}`;

export const ANNOTATIONS = {
  adopt: "cloudflare-operator.io/adopt",
  pause: "cloudflare-operator.io/pause",
  rollback: "cloudflare-operator.io/rollback-to",
  driftPolicy: "cloudflare-operator.io/drift-policy",
  forceDelete: "cloudflare-operator.io/force-delete",
  deletionPolicy: "cloudflare-operator.io/deletion-policy",
  migrate: "cloudflare-operator.io/migrate-local-config",
  namespaces: "cloudflare-operator.io/namespaces",
  owner: "cloudflare-operator.io/owner",
  legacyToken: "cloudflare-operator.io/tunnel-token",
  tokenChecksum: "cloudflare-operator.io/token-checksum",
  /** On objects of v1alpha1: what only v1alpha2 has. */
  extra: "cloudflare-operator.io/v1alpha2-extra",
} as const;

/** Hosts that a TunnelBinding served at last, separated by commas. */
export const PREVIOUS_HOSTNAMES = "cloudflare-operator.io/previous-hostnames";

export const FINALIZER = "cloudflare-operator.io/finalizer";
export const CREDENTIALS_FINALIZER = "cloudflare.com/credentials-finalizer";
export const DNS_FINALIZER = "dnsrecord.networking.cloudflare-operator.io/finalizer";
/** Put on Ingresses by the peer; ours need none. */
export const LEGACY_INGRESS_FINALIZER = "ingress.cloudflare-operator.io/finalizer";

/** Put on Gateways by the peer; ours need none. */
export const LEGACY_GATEWAY_FINALIZER = "gateway.cloudflare-operator.io/finalizer";

/** Namespace of the operator when nothing else tells it. */
export const DEFAULT_OPERATOR_NAMESPACE = "cloudflare-operator-system";
/** Release of cloudflared that runs unless another is named; the one that the rules were measured on. */
export const DEFAULT_IMAGE = "cloudflare/cloudflared:2026.8.2";

/** Name of the ConfigMap of a tunnel. */
export const configMapName = (tunnelId: string): string => `tunnel-config-${tunnelId}`;
/** Where DNS records of a tunnel point to. */
export const dnsTarget = (tunnelId: string): string => `${tunnelId}.cfargotunnel.com`;
