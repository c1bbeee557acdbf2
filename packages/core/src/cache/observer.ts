/** Where the cache's metrics come from. */
import type { Kind } from "../object.ts";
import type { ListReason } from "./reflector/machine-types.ts";

/** Values to read when metrics are scraped; see {@link CacheObserver.informer}. */
export interface InformerGauges {
  readonly kind: Kind;
  /** Scope beside the kind, for the label `name` of `informer_store_resource_version`; `""` for a plain informer. */
  readonly scope: string;
  /** `quartet_cache_objects`. */
  objects(): number;
  /** `quartet_cache_objects_set_aside`: objects that could not be taken in. */
  setAside(): number;
  /** `informer_store_resource_version`: last 15 digits of the version that the informer stands at. */
  resourceVersion(): number;
  /** `informer_queued_items`: events that handlers have not been told yet. */
  queuedItems(): number;
  /** `quartet_reflector_last_contact_seconds`: seconds since the last byte from the server; of the worst namespace. */
  secondsSinceContact(): number;
}

/** Told of what happens in the cache. Every method is optional and must not throw. */
export interface CacheObserver {
  /** `quartet_reflector_lists_total{reason}`: a whole collection is about to be read, as a stream or in pages. */
  list?(kind: Kind, reason: ListReason): void;
  /** `quartet_reflector_watches_total`: a watch is about to be opened. */
  watch?(kind: Kind): void;
  /** `quartet_reflector_stalls_total`: a watch that had shown bookmarks fell silent. */
  stall?(kind: Kind): void;
  /** `quartet_cache_overlay_expired_total`: a write of this process did not come back through the watch in time. */
  overlayExpired?(kind: Kind): void;
  /** A handler threw. */
  handlerError?(kind: Kind): void;
  /** An informer starts; the returned function is called when it has stopped. */
  informer?(gauges: InformerGauges): () => void;
}
