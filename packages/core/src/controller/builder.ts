/** Puts controllers together: `controller(name).for(kind).owns(kind)…complete(reconcile)`. */
import type { Kind, KubeObject } from "../object.ts";
import { type ControllerDeps, createController } from "./controller.ts";
import { ControllerSetupError } from "./errors.ts";
import { toOwner, toSelf } from "./handlers.ts";
import { primaryChanged } from "./predicates.ts";
import type {
  ControllerBuilder,
  ControllerOptions,
  ControllerSource,
  InformerLookup,
  MapFn,
  OwnsOptions,
  Predicate,
  RawSource,
  SourceOptions,
} from "./types.ts";

/** A source with what becomes of its events. */
export interface BuiltSource extends ControllerSource {
  readonly map: MapFn;
  readonly predicates: readonly Predicate[];
}

/** What the builder hands to the controller. */
export interface ControllerPlan {
  readonly name: string;
  /** The kind of `for`; absent for a controller that only watches. */
  readonly primary: Kind | undefined;
  readonly sources: readonly BuiltSource[];
  readonly rawSources: readonly RawSource[];
  readonly options: ControllerOptions;
  readonly setup: readonly ((informers: InformerLookup) => void)[];
}

const NAME = /^[a-z][a-z0-9-]*$/;

/**
 * Starts a builder. Mistakes in putting a controller together throw {@link ControllerSetupError} (CORE-220).
 * @param names names that are taken in this manager; the new one is added
 */
export function createControllerBuilder(
  name: string,
  deps: ControllerDeps,
  names: Set<string>,
): ControllerBuilder {
  const refuse = (message: string): never => {
    throw new ControllerSetupError(name, message);
  };
  if (!NAME.test(name)) refuse("its name must match [a-z][a-z0-9-]*");
  if (names.has(name)) refuse("there is one of this name already");
  names.add(name);

  let primary: Kind | undefined;
  let options: ControllerOptions = {};
  const owned: { kind: Kind; options: OwnsOptions }[] = [];
  const sources: BuiltSource[] = [];
  const rawSources: RawSource[] = [];
  const setup: ControllerPlan["setup"][number][] = [];

  const add = <T extends KubeObject>(
    role: ControllerSource["role"],
    kind: Kind<T>,
    map: MapFn<T>,
    { predicates, ...informer }: SourceOptions<T>,
    byDefault: readonly Predicate[],
  ): void => {
    // The cache pairs each informer with handlers of its own kind: the type parameter ends here.
    const source = { role, kind, options: informer, map, predicates: predicates ?? byDefault };
    sources.push(source as unknown as BuiltSource);
  };

  const builder: ControllerBuilder = {
    for(kind, sourceOptions = {}) {
      if (primary !== undefined) refuse("`for` is called twice");
      primary = kind as unknown as Kind;
      add("for", kind, toSelf as MapFn<never>, sourceOptions as SourceOptions<never>, [primaryChanged]);
      return builder;
    },
    owns(kind, ownsOptions = {}) {
      owned.push({ kind: kind as unknown as Kind, options: ownsOptions as OwnsOptions });
      return builder;
    },
    watches(kind, map, sourceOptions = {}) {
      add("watches", kind, map, sourceOptions, []);
      return builder;
    },
    watchesRaw(source) {
      rawSources.push(source);
      return builder;
    },
    withOptions(more) {
      options = { ...options, ...more };
      return builder;
    },
    withSetup(fn) {
      setup.push(fn);
      return builder;
    },
    complete(reconcile) {
      if (owned.length > 0 && primary === undefined) refuse("`owns` needs `for`");
      for (const { kind, options: ownsOptions } of owned) {
        const { matchEveryOwner, ...rest } = ownsOptions;
        add("owns", kind, toOwner(primary!, matchEveryOwner), rest, []);
      }
      if (sources.length + rawSources.length === 0) refuse("it has no source of events");
      return createController({ name, primary, sources, rawSources, options, setup }, reconcile, deps);
    },
  };
  return builder;
}
