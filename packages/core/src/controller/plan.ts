/** What the builder hands to the controller. */
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import type {
  ControllerOptions,
  ControllerSource,
  MapFn,
  Predicate,
  QueuePlan,
  RawSource,
  SourceOptions,
} from "./types.ts";

/** A source with what becomes of its events. */
export interface BuiltSource extends ControllerSource {
  readonly map: MapFn;
  readonly predicates: readonly Predicate[];
}

/** An index over the objects of a source. */
export interface BuiltIndex {
  readonly kind: Kind;
  readonly name: string;
  readonly fn: (object: DeepReadonly<KubeObject>) => readonly string[];
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
}

/** @param byDefault predicates where the options name none */
export function sourceOf<T extends KubeObject>(
  role: ControllerSource["role"],
  kind: Kind<T>,
  map: MapFn<T>,
  { predicates, ...options }: SourceOptions<T>,
  byDefault: readonly Predicate[] = [],
): BuiltSource {
  // The cache pairs each informer with handlers of its own kind: the type parameter ends here.
  return { role, kind, options, map, predicates: predicates ?? byDefault } as unknown as BuiltSource;
}
