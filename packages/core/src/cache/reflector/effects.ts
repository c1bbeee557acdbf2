/** Performs what the state machine asks for. */
import { type KubeObject, keyOf } from "../../object.ts";
import type { Logger } from "../../observe/types.ts";
import type { CacheObserver } from "../observer.ts";
import { createBudget, type NamespaceUsage } from "../store/budget.ts";
import { type AsideMap, takeIn, withoutContent } from "../store/set-aside.ts";
import { createObjectMap, type ObjectMap } from "../store/store.ts";
import type { SetAside, SizeLimits, SourceState } from "../types.ts";
import type { Effect } from "./machine-types.ts";
import type { Collection } from "./requests.ts";
import type { ServerFacts } from "./server-facts.ts";

/** Where a reflector puts what it learns. */
export interface ReflectorSink<T extends KubeObject> {
  /**
   * The whole collection as of `version`; `aside` could not be taken in. The reflector goes on when the promise has
   * resolved.
   */
  replace(objects: ObjectMap<T>, aside: AsideMap, version: string): Promise<void>;
  upsert(object: T): void;
  /** There is a new version of an object that cannot be taken in. */
  setAside(entry: SetAside): void;
  remove(object: T): void;
  /** Everything up to this version has been passed on. */
  position(version: string): void;
  /** Called at each change. */
  state(state: SourceState): void;
  /** Last error; `undefined` once a list succeeded. */
  error(error: unknown): void;
}

export interface PerformOptions<T extends KubeObject> {
  collection: Collection<T>;
  server: ServerFacts;
  log: Logger;
  observer: CacheObserver;
  /** Makes a received object ready for the sink; throws for one that cannot be kept. */
  prepare: (object: T) => T;
  /** What the sink may hold. */
  limits?: SizeLimits | undefined;
  /** What the cache keeps of each namespace. */
  usage: NamespaceUsage;
  sink: ReflectorSink<T>;
}

export interface Perform<T extends KubeObject> {
  /** Returns a promise only where the next effect must wait for this one. */
  perform(effect: Effect<T>): Promise<void> | undefined;
  /** Gives back what the objects took of the budget of their namespaces. */
  close(): void;
}

/** Effects on the sink of one reflector; everything else is reported. */
export function createPerform<T extends KubeObject>(options: PerformOptions<T>): Perform<T> {
  const { prepare, sink } = options;
  const report = createReport(options);
  let staged = createObjectMap<T>();
  let asides = createObjectMap<SetAside>();
  /** What the store holds, and what the side store does. */
  let budget = createBudget<T>(options.limits, options.usage);
  let stagedBudget = budget.successor();

  const begin = (): void => {
    staged = createObjectMap<T>();
    asides = createObjectMap<SetAside>();
    stagedBudget = budget.successor();
  };
  const swap = async (version: string): Promise<void> => {
    const [whole, aside] = [staged, asides];
    budget = stagedBudget;
    budget.takePlace();
    begin();
    await sink.replace(whole, aside, version);
    report({ type: "synced" });
  };
  const stage = (object: T): void => {
    const key = keyOf(object);
    // A later page of a list may bring a newer version.
    staged.delete(key);
    asides.delete(key);
    const taken = takeIn(object, (received) => stagedBudget.admit(prepare(received)));
    if ("object" in taken) staged.set(key, taken.object);
    else asides.set(key, taken.aside);
  };

  const perform = (effect: Effect<T>): Promise<void> | undefined => {
    switch (effect.type) {
      case "stage":
        effect.objects.forEach(stage);
        return undefined;
      case "unstage":
        staged.delete(keyOf(effect.object));
        stagedBudget.release(keyOf(effect.object));
        asides.delete(keyOf(effect.object));
        return undefined;
      case "swap":
        return swap(effect.version);
      case "upsert": {
        const taken = takeIn(effect.object, (received) => budget.admit(prepare(received)));
        if ("object" in taken) sink.upsert(taken.object);
        else sink.setAside(taken.aside);
        return undefined;
      }
      case "remove": {
        budget.release(keyOf(effect.object));
        const taken = takeIn(effect.object, prepare);
        sink.remove("object" in taken ? taken.object : withoutContent(effect.object));
        return undefined;
      }
      case "position":
        sink.position(effect.version);
        return undefined;
      case "begin":
        begin();
        report(effect);
        return undefined;
      default:
        report(effect);
        return undefined;
    }
  };
  return { perform, close: () => budget.close() };
}

type Reported<T extends KubeObject> =
  | Extract<Effect<T>, { type: "begin" | "silence" | "absent" | "failed" | `streaming-${string}` }>
  | { readonly type: "synced" };

/** Metrics, logs, the state of the source, and what is remembered of the server. */
function createReport<T extends KubeObject>(options: PerformOptions<T>): (effect: Reported<T>) => void {
  const { collection, server, log, observer, sink } = options;
  let state: SourceState = "starting";
  const changesTo = (next: SourceState): boolean => {
    if (next === state) return false;
    state = next;
    sink.state(next);
    return true;
  };

  return (effect) => {
    switch (effect.type) {
      case "begin":
        observer.list?.(collection.kind, effect.reason);
        break;
      case "synced":
        sink.error(undefined);
        changesTo("synced");
        break;
      case "silence":
        if (effect.stall) observer.stall?.(collection.kind);
        if (effect.stall) log.warn("watch stalled, opening it again");
        else log.debug("watch is silent, opening it again");
        break;
      case "absent":
        sink.error(effect.error);
        if (changesTo(effect.state)) {
          log.warn("source is not available, waiting for it", { state: effect.state, error: effect.error });
        }
        break;
      case "failed":
        sink.error(effect.error);
        log.warn("list or watch failed", { error: effect.error, retryAfterMs: Math.round(effect.delayMs) });
        break;
      case "streaming-refused":
        server.refuseStreaming(effect.error);
        break;
      case "streaming-allowed":
        server.allowStreaming();
        break;
    }
  };
}
