/** What the builder hands to the controller. */
import type { Projection } from "../cache/types.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import type {
  ControllerOptions,
  ControllerSource,
  Debounce,
  EventHandler,
  MapFn,
  Predicate,
  QueuePlan,
  RawSource,
  Reference,
  SourceOptions,
  SourceReader,
} from "./types.ts";

/** A source with what becomes of its events. */
export interface BuiltSource extends ControllerSource {
  readonly map: MapFn;
  readonly predicates: readonly Predicate[];
  readonly debounce: Debounce | undefined;
  readonly onEvent: EventHandler | undefined;
}

/** An index over the objects of a source. */
export interface BuiltIndex {
  readonly kind: Kind;
  readonly name: string;
  readonly fn: (object: DeepReadonly<KubeObject>) => readonly string[];
}

/** What the objects of `for` refer to. */
export interface BuiltReferences {
  readonly kind: Kind;
  readonly refs: (resource: DeepReadonly<KubeObject>, cache: SourceReader) => readonly Reference[];
  readonly debounce: Debounce | undefined;
  readonly projection: Projection | undefined;
  readonly elsewhere: boolean;
}

export interface ControllerPlan {
  readonly name: string;
  /** The kind of `for`; absent for a controller that only watches. */
  readonly primary: Kind | undefined;
  readonly sources: readonly BuiltSource[];
  readonly rawSources: readonly RawSource[];
  /** Predicates of all sources. */
  readonly predicates: readonly Predicate[];
  readonly options: ControllerOptions;
  readonly queue: QueuePlan;
  readonly indexes: readonly BuiltIndex[];
  readonly references: readonly BuiltReferences[];
  /** Requests per second of the controller, and how many may be sent at once. */
  readonly clientRate: { readonly perSecond: number; readonly burst: number } | undefined;
}

/** @param byDefault predicates where the options name none */
export function sourceOf<T extends KubeObject>(
  role: ControllerSource["role"],
  kind: Kind<T>,
  map: MapFn<T>,
  { predicates, debounce, onEvent, ...options }: SourceOptions<T>,
  byDefault: readonly Predicate[] = [],
): BuiltSource {
  // The cache pairs each informer with handlers of its own kind: the type parameter ends here.
  const built = { role, kind, options, map, predicates: predicates ?? byDefault, debounce, onEvent };
  return built as unknown as BuiltSource;
}
