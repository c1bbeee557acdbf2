/** The cache's contract: shared informers over watched kinds. Implemented by `createCache`. */
import type { DeepReadonly, Kind, KubeObject, ObjectKey } from "../object.ts";

/** Counts the bytes of objects; see {@link Cache.budget}. */
export interface Budget<T extends KubeObject = KubeObject> {
  /** Counts an object in place of its earlier version, and returns it. Throws `SizeLimitError`, and then counts nothing. */
  admit(object: T): T;
  release(key: ObjectKey): void;
  /** Gives back all that was counted. */
  close(): void;
}

/** What of each object is kept in memory (CORE-178). */
export type Projection<T extends KubeObject = KubeObject> =
  | "full"
  | "metadata"
  | {
      readonly name: string;
      transform(object: T): T;
      /** The server is asked for metadata alone. Default false. */
      readonly metadataOnly?: boolean;
    };

/** Bounds of what is cached of a source, in bytes of JSON text, nearly. What exceeds them is set aside. */
export interface SizeLimits {
  readonly objectBytes?: number;
  /** All objects of one namespace, or of all where the source is not by namespace. */
  readonly totalBytes?: number;
}

/** What an informer covers; informers of equal scope are shared (CORE-176). */
export interface InformerOptions<T extends KubeObject = KubeObject> {
  /** Namespaces to watch; absent or empty means all (or the cache's own default set). */
  namespaces?: readonly string[];
  labelSelector?: string;
  fieldSelector?: string;
  projection?: Projection<T>;
  /** Bounds of what is kept; an object beyond them is set aside (CORE-194). Default: none. */
  limits?: SizeLimits;
  /** A missing kind or a 403 is waited for instead of failing the sync (CORE-237). */
  optional?: boolean;
}

/** Change of one object as handlers see it. */
export type CacheEvent<T extends KubeObject = KubeObject> =
  | {
      type: "add";
      object: DeepReadonly<T> /** Part of the first list, or synthetic for a late handler. */;
      initial: boolean;
    }
  | {
      type: "update";
      object: DeepReadonly<T>;
      old: DeepReadonly<T> /** Same object again, on resync. */;
      resync: boolean;
    }
  | {
      type: "delete";
      object: DeepReadonly<T> /** The deletion was missed and found by a re-list. */;
      stale: boolean;
    };

export type CacheHandler<T extends KubeObject = KubeObject> = (event: CacheEvent<T>) => void;

/** State of an informer's connection to the server. */
export type SourceState = "starting" | "synced" | "waiting-for-kind" | "forbidden" | "stopped";

/** An object whose newest version the cache could not take in (CORE-191). */
export interface SetAside {
  readonly key: ObjectKey;
  readonly uid: string;
  /** Resource version that was set aside. */
  readonly version: string;
  /** Why, in words without any content of the object. */
  readonly reason: string;
}

export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Adds a handler; objects already cached arrive as synthetic adds. Returns the function that removes it. */
  addHandler(handler: CacheHandler<T>): () => void;
  /**
   * Named index; may be added at any time (CORE-182). Returns the function that removes it.
   * @param onError hears of objects for which `fn` throws; without it the first one fails the sync
   */
  addIndex(
    name: string,
    fn: (object: DeepReadonly<T>) => readonly string[],
    onError?: (error: unknown) => void,
  ): () => void;
  byIndex(name: string, value: string): readonly DeepReadonly<T>[];
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  list(filter?: { namespace?: string; labels?: Record<string, string> }): readonly DeepReadonly<T>[];
  readonly state: SourceState;
  /** Called on every change of {@link Informer.state}. */
  onState(fn: (state: SourceState) => void): () => void;
  /** Last list or watch error, for messages of sync failures. */
  readonly lastError: unknown;
  /** Resolves at the first full sync; rejects when the signal aborts. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Objects that the cache could not take in; where an earlier version is cached, reads still give that one. */
  setAside(): readonly SetAside[];
  /** Synced now. */
  hasSynced(): boolean;
  /** Has been synced at some time: what is cached is worth reading. */
  readonly everSynced: boolean;
}

/**
 * Opens sources beside those that controllers declare: for what webhooks and controllers of a module read together, and for
 * what is watched before it is known whether a controller will work.
 */
export interface Sources {
  /** Informer for a kind, shared by all who ask for the same. Every call must be paired with `close`. */
  open<T extends KubeObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T>;
  close(informer: Informer): void;
}

/** Read access to the watched part of the cluster, with this process's own newer writes laid over it (CORE-185). */
export interface Cache {
  /** Informer for a kind, started on first use and shared afterwards. Every call must be paired with `release`. */
  informer<T extends KubeObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T>;
  /** Gives an informer back; the last one out stops it and frees its objects and its socket (CORE-188). */
  release(informer: Informer): void;
  /** Cached object of a kind that is watched, once it has synced; any other fails with `NotCachedError` (CORE-183). */
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<DeepReadonly<T> | undefined>;
  list<T extends KubeObject>(
    kind: Kind<T>,
    filter?: { namespace?: string; labels?: Record<string, string> },
  ): Promise<readonly DeepReadonly<T>[]>;
  /** Object of an informer, read live where only that is sure to be current. Throws `CacheSyncError` before its sync. */
  read<T extends KubeObject>(informer: Informer<T>, key: ObjectKey): Promise<DeepReadonly<T> | undefined>;
  /** All objects of an informer that a filter lets through, in the same way. */
  readAll<T extends KubeObject>(
    informer: Informer<T>,
    filter?: { namespace?: string; labels?: Record<string, string> },
  ): Promise<readonly DeepReadonly<T>[]>;
  /**
   * Records the object that a write of this process returned; a `deleted` key hides the object, unless another one than
   * that of the UID is known there by now.
   */
  overlay(kind: Kind, key: ObjectKey, written: KubeObject | "deleted", uid?: string): void;
  /** A budget for objects that are kept beside the informers; they count for their namespaces like cached ones (CORE-194). */
  budget(): Budget;
  /** All informers, or those of one resource in any version, for health, metrics and debugging. */
  informers(kind?: Pick<Kind, "group" | "plural">): readonly Informer[];
  stop(): Promise<void>;
}
