/** The client's contract: verbs over JSON objects. Implemented by `createClient`. */
import type { Kind, KubeList, KubeObject, ObjectKey } from "../object.ts";

/** Options that every request takes. */
export interface RequestOptions {
  /** Aborting closes the socket within 1 s and rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Limit of the whole request in milliseconds. Default 60 000. */
  timeoutMs?: number;
}

export interface GetOptions extends RequestOptions {
  resourceVersion?: string;
  /** Ask for `PartialObjectMetadata` only. */
  metadataOnly?: boolean;
}

export interface ListOptions extends GetOptions {
  /** One namespace; absent or `""` lists all. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Page size. Default 500; 0 asks for everything in one answer. */
  limit?: number;
  continue?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface WatchOptions extends RequestOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** Server-side end of the watch in seconds. */
  timeoutSeconds?: number;
  /** Streaming list: initial objects as ADDED events, then a bookmark. */
  sendInitialEvents?: boolean;
  metadataOnly?: boolean;
  /** Called for every chunk received, even before a whole event: the sign of life for the silence rule. */
  onBytes?: () => void;
}

/** One decoded line of a watch answer. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

export interface WriteOptions extends RequestOptions {
  dryRun?: boolean;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  fieldManager?: string;
  /** For example `status` or `scale`. */
  subresource?: string;
  /** Called with each text of the answer's `Warning` header. Absent: they are logged. */
  onWarning?: (text: string) => void;
}

export interface UpdateOptions extends WriteOptions {
  /** Allows an update without `metadata.resourceVersion`. */
  force?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields over from other managers. Default false; `applyOwned` sets it. */
  force?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  dryRun?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  gracePeriodSeconds?: number;
  /** Default `Background`. */
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

/** A patch body with its type; the content type follows from it. */
export type Patch =
  | { type: "json"; operations: JsonPatchOperation[] }
  | { type: "merge"; body: object }
  | { type: "strategic"; body: object };

export interface JsonPatchOperation {
  op: "add" | "remove" | "replace" | "test" | "move" | "copy";
  path: string;
  from?: string;
  value?: unknown;
}

/** Resource discovered on the server. */
export interface DiscoveredKind extends Kind {
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** Names of its subresources, for example `status`. */
  readonly subresources: readonly string[];
}

export interface Discovery {
  /** Kind by group, version and kind; one refresh at most every 10 s, then `no match for kind …` (CORE-130). */
  find(apiVersion: string, kind: string): Promise<DiscoveredKind>;
  /** True when the server serves this kind now. */
  serves(kind: Kind): Promise<boolean>;
  /** Forgets what was cached. */
  invalidate(): void;
}

/** `/version` of the server. `minor` has no suffix: `37` for `37+`. */
export interface ServerVersion {
  gitVersion: string;
  major: number;
  minor: number;
}

/** A write about to be sent; see {@link ClientHooks}. */
export interface WriteInfo {
  verb: "create" | "update" | "patch" | "apply" | "delete" | "deletecollection";
  kind: Kind;
  key: ObjectKey;
  subresource?: string;
  dryRun: boolean;
}

/** Where the manager attaches write fencing and the read-your-writes overlay. */
export interface ClientHooks {
  /** Called before a write is sent, once or several times; throwing keeps it from being sent. */
  beforeWrite?(info: WriteInfo): void;
  /**
   * Called with the object that a successful write returned (`undefined` after a delete that answers a Status), and with
   * the UID of the object that was written, as far as the answer tells it.
   */
  afterWrite?(info: WriteInfo, object: KubeObject | undefined, uid?: string): void;
}

/** Requests to one API server. All objects are plain JSON; see `CORE-131`. */
export interface Client {
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** The whole list; pages are fetched and joined. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Page by page, for collections that should not be held whole. */
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<KubeList<T>>;
  /** Decoded events until the server ends the watch; throws `ApiError` for a refused watch. */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Refuses objects of a cache that keeps only a part of them (`isProjected`); `updateStatus` does so too. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: UpdateOptions): Promise<T>;
  updateStatus<T extends KubeObject>(kind: Kind<T>, object: T, options?: UpdateOptions): Promise<T>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Merge patch of the changed keys of `.status` only; sends nothing and returns `undefined` when equal (CORE-142). */
  patchStatus<T extends KubeObject & { status?: unknown }>(
    kind: Kind<T>,
    current: { readonly metadata: object; readonly status?: unknown },
    next: object,
    options?: WriteOptions,
  ): Promise<T | undefined>;
  /**
   * Server-side apply; `fieldManager` defaults to `quartet-<controller>` (CORE-138). Reduced objects are refused: fields
   * that the manager owned and does not send any more are deleted.
   */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options?: ApplyOptions): Promise<T>;
  /** {@link Client.apply} with `force: true`, for fields that the specs list as owned. */
  applyOwned<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  delete(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** Like delete, but an object that is already gone is a success; true when there was one. */
  deleteIfExists(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  deleteCollection(kind: Kind, options: ListOptions & DeleteOptions): Promise<void>;
  evict(pod: ObjectKey, options?: DeleteOptions): Promise<void>;
  getSubresource<T extends KubeObject>(
    kind: Kind,
    key: ObjectKey,
    subresource: string,
    options?: RequestOptions,
  ): Promise<T>;
  /**
   * Any request, for review APIs and paths without a kind. The answer is the decoded JSON body. A request that may change
   * something passes the hooks, as every write does: reads and reviews alone do not.
   */
  raw(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<unknown>;
  readonly discovery: Discovery;
  serverVersion(): Promise<ServerVersion>;
  /** The same connections under a controller's name: user agent (CORE-113), field manager, own hooks. */
  forController(name: string, hooks?: ClientHooks): Client;
  /** Closes all sockets; running requests reject. */
  close(): void;
}
