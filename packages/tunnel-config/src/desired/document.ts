/**
 * The document that is kept for each tunnel in a ConfigMap (section 6.1): what every source contributes, and what came
 * of the last transmission. Others may have written it; every member is read with doubt, and unknown ones are kept.
 */

/** Whole data of an object that this package does not know. */
export type Unknown = Readonly<Record<string, unknown>>;

export type PathKind = "Exact" | "Prefix" | "Regex";

export interface SourceRule {
  readonly hostname?: string;
  /** RE2 expression. */
  readonly path?: string;
  readonly service: string;
  /** In the form of the API: durations are seconds. */
  readonly originRequest?: Unknown;
  readonly priority?: number;
  readonly pathKind?: PathKind;
  /** The path as the user wrote it, without a trailing slash; longer prefixes come first. */
  readonly matchPath?: string;
  /** What keeps the namespace of the source from claiming the host; such a rule is left out (TUN-650). */
  readonly denied?: string;
}

export interface SourceSettings {
  readonly warpRouting?: boolean;
  readonly fallbackTarget?: string;
  /** Whether the fallback is that of the class of the object, not its own. */
  readonly fallbackOfClass?: boolean;
  /** What keeps the namespace of the source from saying what every host falls back to; it is left out then (TUN-650). */
  readonly fallbackDenied?: string;
  readonly originRequest?: Unknown;
}

/** What one object contributes to a tunnel. */
export interface Source {
  readonly kind: string;
  /** Absent for kinds without namespaces. */
  readonly namespace?: string;
  readonly name: string;
  readonly generation?: number;
  readonly priority?: number;
  /** RFC 3339: when the object was created. */
  readonly createdAt?: string;
  readonly settings?: SourceSettings;
  readonly rules?: readonly SourceRule[];
  readonly updatedAt?: string;
}

/** Sources by key. */
export type Sources = Readonly<Record<string, Source>>;

export interface Conflict {
  readonly hostname: string;
  readonly path: string;
  readonly winner: string;
  readonly losers: readonly string[];
}

export interface Rejection {
  readonly source: string;
  readonly hostname: string;
  readonly path: string;
  readonly reason: string;
  /**
   * Set where the policy of the tunnel says so (the rejection is for all rules of the host then), or where there is no room
   * for the whole source (host and path are empty then).
   */
  readonly cause?: "HostNotAllowed" | "ConfigTooLarge";
  /** Hash of the source when the API refused it as a whole; host and path are empty then. */
  readonly fragment?: string;
  /** RFC 3339: when that was. */
  readonly since?: string;
}

export type SyncStatus = "Synced" | "Pending" | "Error" | "TunnelDeleted";

/** Where the credentials of the tunnel are found when its object is gone. */
export interface StoredInline {
  readonly secret: string;
  readonly namespace: string;
  readonly tokenKey?: string;
}

/** A configuration that was transmitted. */
export interface HistoryEntry {
  readonly version: number;
  /** RFC 3339: when it was transmitted. */
  readonly at: string;
  /** Rules without the last one. */
  readonly rules: number;
  readonly hash: string;
  /** The configuration as JSON, packed by gzip, in base64. */
  readonly body: string;
}

/** What the connectors of a tunnel had at the last comparison. */
export interface ConnectorState {
  /** Version that the account held. */
  readonly version: number;
  /** Connectors that serve. */
  readonly total: number;
  /** Those of them that had another version. */
  readonly behind: number;
  /** Identifiers of some of those. */
  readonly lagging: readonly string[];
}

export interface ConfigDocument {
  readonly tunnelId?: string;
  readonly accountId?: string;
  readonly tunnelName?: string;
  readonly credentialsRef?: { readonly name?: string; readonly inline?: StoredInline };
  readonly warpRouting?: { readonly enabled: boolean };
  readonly sources: Sources;
  readonly lastHash?: string;
  readonly syncStatus?: SyncStatus;
  readonly lastSyncTime?: string;
  readonly lastError?: string;
  /** What kind of obstacle that is, as a reason of conditions. */
  readonly lastReason?: string;
  readonly configVersion?: number;
  /** Absent until the first comparison. */
  readonly connectors?: ConnectorState;
  /** The configuration that the tunnel is held at, in the place of what its objects ask for. */
  readonly frozen?: HistoryEntry;
  /** Why somebody else's configuration is left in the account; absent when it is ours. */
  readonly conflict?: { readonly reason: string; readonly message: string };
  readonly conflicts?: readonly Conflict[];
  readonly rejected?: readonly Rejection[];
}

export class DocumentError extends Error {
  override readonly name = "DocumentError";
}

/** Key of a source: `Kind/namespace/name`, `Kind/name` without namespace (TUN-303). */
export function sourceKey({ kind, namespace, name }: Pick<Source, "kind" | "namespace" | "name">): string {
  return namespace === undefined || namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** A rejection in words; one of a whole source names no host. */
export function rejectionText({ hostname, path, reason }: Rejection): string {
  return [`${hostname}${path}`, reason].filter(Boolean).join(": ");
}

/** Reads a stored document; throws {@link DocumentError} when it is none. Sources that are none are left out. */
export function parseDocument(text: string): ConfigDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DocumentError("config.json is no JSON");
  }
  if (!isMap(value)) throw new DocumentError("config.json is no object");
  const entries = isMap(value.sources) ? Object.entries(value.sources) : [];
  const sources = Object.fromEntries(entries.filter(([, source]) => isSource(source))) as Sources;
  return { ...value, sources };
}

/** Text of a document: two-space indent, keys in order (TUN-301). */
export function serialiseDocument(document: ConfigDocument): string {
  return JSON.stringify(sorted(document), null, 2);
}

/** Whether two sources differ in nothing but the time of their last change (TUN-306). */
export function sameSource(a: Source | undefined, b: Source): boolean {
  if (a === undefined) return false;
  const bare = ({ updatedAt: _, ...source }: Source): string => JSON.stringify(sorted(source));
  return bare(a) === bare(b);
}

/** A copy whose objects have their keys in order; members that are undefined are left out. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return Object.fromEntries(keys.sort().map((key) => [key, sorted(value[key])]));
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSource(value: unknown): value is Source {
  if (!isMap(value) || typeof value.kind !== "string" || typeof value.name !== "string") return false;
  const { rules, settings } = value;
  if (settings !== undefined && settings !== null && !isMap(settings)) return false;
  if (rules === undefined || rules === null) return true;
  return Array.isArray(rules) && rules.every((rule) => isMap(rule) && typeof rule.service === "string");
}
