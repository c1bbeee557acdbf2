/** Puts controllers together: `controller(name).for(kind).owns(kind)…complete(reconcile)`. */
import type { Kind } from "../object.ts";
import { type ControllerDeps, createController } from "./controller.ts";
import { ControllerSetupError } from "./errors.ts";
import { toOwner, toSelf } from "./handlers.ts";
import {
  type BuiltIndex,
  type BuiltReferences,
  type BuiltSource,
  type ControllerPlan,
  sourceOf,
} from "./plan.ts";
import { primaryChanged } from "./predicates.ts";
import type {
  Cleanup,
  Controller,
  ControllerBuilder,
  ControllerOptions,
  OwnsOptions,
  Predicate,
  QueuePlan,
  RawSource,
  Reconcile,
  SourceOptions,
} from "./types.ts";
import { withFinalizer } from "./with-finalizer.ts";

/** What was said to the builder so far. */
interface Draft {
  readonly name: string;
  primary: Kind | undefined;
  readonly owned: { kind: Kind; options: OwnsOptions }[];
  readonly sources: BuiltSource[];
  readonly rawSources: RawSource[];
  readonly predicates: Predicate[];
  options: ControllerOptions;
  queue: QueuePlan;
  readonly indexes: BuiltIndex[];
  readonly references: BuiltReferences[];
  clientRate: ControllerPlan["clientRate"];
  finalizer: { name: string; cleanup: Cleanup } | undefined;
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
  if (!NAME.test(name)) throw new ControllerSetupError(name, "its name must match [a-z][a-z0-9-]*");
  if (names.has(name)) throw new ControllerSetupError(name, "there is one of this name already");
  names.add(name);
  return builderOf(createDraft(name), deps);
}

function createDraft(name: string): Draft {
  return {
    name,
    primary: undefined,
    owned: [],
    sources: [],
    rawSources: [],
    predicates: [],
    options: {},
    queue: {},
    indexes: [],
    references: [],
    clientRate: undefined,
    finalizer: undefined,
  };
}

function builderOf(draft: Draft, deps: ControllerDeps): ControllerBuilder {
  const builder: ControllerBuilder = {
    for(kind, options = {}) {
      if (draft.primary !== undefined) throw new ControllerSetupError(draft.name, "`for` is called twice");
      draft.primary = kind as unknown as Kind;
      draft.sources.push(
        sourceOf("for", draft.primary, toSelf, options as unknown as SourceOptions, [primaryChanged]),
      );
      return builder as never;
    },
    owns(kind, options = {}) {
      draft.owned.push({ kind: kind as unknown as Kind, options: options as OwnsOptions });
      return builder;
    },
    watches(kind, map, options = {}) {
      draft.sources.push(sourceOf("watches", kind, map, options));
      return builder;
    },
    watchesRaw(source) {
      draft.rawSources.push(source);
      return builder;
    },
    withPredicates(...predicates) {
      draft.predicates.push(...predicates);
      return builder;
    },
    withOptions(options) {
      draft.options = { ...draft.options, ...options };
      return builder;
    },
    withQueue(queue) {
      draft.queue = { ...draft.queue, ...queue };
      return builder;
    },
    references(kind, refs, { debounce, projection, elsewhere = false } = {}) {
      draft.references.push({ kind, refs, debounce, projection, elsewhere } as unknown as BuiltReferences);
      return builder;
    },
    withClientRate(perSecond, burst) {
      draft.clientRate = { perSecond, burst };
      return builder;
    },
    index(kind, name, fn) {
      draft.indexes.push({ kind, name, fn } as unknown as BuiltIndex);
      return builder;
    },
    finalizer(name, cleanup) {
      if (draft.finalizer !== undefined)
        throw new ControllerSetupError(draft.name, "`finalizer` is called twice");
      draft.finalizer = { name, cleanup: cleanup as Cleanup };
      return builder;
    },
    complete: (reconcile) => complete(draft, reconcile, deps),
  };
  return builder;
}

function complete(draft: Draft, reconcile: Reconcile, deps: ControllerDeps): Controller {
  const { name, primary, finalizer } = draft;
  const refuse = (message: string): never => {
    throw new ControllerSetupError(name, message);
  };
  const forKind = (asker: string): Kind => primary ?? refuse(`\`${asker}\` needs \`for\``);
  const ownedSources = draft.owned.map(({ kind, options: { matchEveryOwner, ...options } }) =>
    sourceOf("owns", kind, toOwner(forKind("owns"), matchEveryOwner), options),
  );
  const sources = [...draft.sources, ...ownedSources];
  if (draft.references.length > 0) forKind("references");
  if (sources.length + draft.rawSources.length === 0) refuse("it has no source of events");
  const guarded =
    finalizer === undefined
      ? reconcile
      : withFinalizer(forKind("finalizer"), finalizer.name, finalizer.cleanup, reconcile);
  const controller = createController({ ...draft, sources }, guarded, deps);
  deps.onBuilt?.(controller);
  return controller;
}
