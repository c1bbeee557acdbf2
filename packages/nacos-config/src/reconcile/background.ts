/**
 * Work outside the cluster: questions to Nacos nodes and databases. It may take long or hang, so it never holds a
 * worker of the queue. A quick answer is taken in the pass that asked; a slow one queues the resource when it comes.
 */
import { type Clock, keyToString, type ObjectKey } from "@quartet/core";
import type { EnqueueLater } from "./watch-set.ts";

/** How long a pass waits for an answer, in milliseconds: longer than a sound node or database needs. */
const GRACE_MS = 250;

/** What a pass gets: the value, or word that it will be queued again when the value is there. */
export type Answer<T> = { readonly state: "done"; readonly value: T } | { readonly state: "pending" };

/** Work to do; it ends early when the signal aborts. */
export type Work<T> = (signal: AbortSignal) => Promise<T>;

export interface Background {
  /**
   * Starts the work, or takes the result of work that was started before with the same fingerprint. A result is
   * handed out once: the next call starts the work again. Another fingerprint ends work that still runs.
   * @param topic what the work is about; a resource has one piece of work of each topic at a time
   * @param fingerprint everything that the result depends on; it is held in memory, so it must be no secret
   * @param waits false for work that is known to take long: the pass goes on at once
   * @throws what the work threw; work that was ended while the pass waited for it is pending instead
   */
  ask<T>(
    resource: ObjectKey,
    topic: string,
    fingerprint: string,
    work: Work<T>,
    waits?: boolean,
  ): Promise<Answer<T>>;
  /** True while a piece of work is under way. */
  isBusy(resource: ObjectKey, topic: string): boolean;
  /** Ends a piece of work; its answer is never handed out. */
  end(resource: ObjectKey, topic: string): void;
  /** Ends all work for a resource. */
  forget(resource: ObjectKey): void;
  /** Ends all work. */
  stop(): void;
}

interface Task {
  readonly fingerprint: string;
  readonly controller: AbortController;
  /** Never rejects: a failure is a value until somebody takes it. */
  readonly outcome: Promise<Outcome>;
  /** A pass has waited in vain: the resource is queued at the end, and passes until then do not wait. */
  late: boolean;
  ended: boolean;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** No work yet. `enqueue` queues a resource whose answer came too late for the pass that asked. */
export function createBackground(clock: Clock, enqueue: EnqueueLater): Background {
  const tasks = new Map<string, Map<string, Task>>();

  const begin = (resource: ObjectKey, topic: string, fingerprint: string, work: Work<unknown>): Task => {
    const name = keyToString(resource);
    const topics = tasks.get(name) ?? new Map<string, Task>();
    tasks.set(name, topics);
    topics.get(topic)?.controller.abort();
    const controller = new AbortController();
    const outcome = settle(work, controller.signal);
    const task: Task = { fingerprint, controller, outcome, late: false, ended: false };
    topics.set(topic, task);
    void outcome.then(() => {
      task.ended = true;
      if (task.late && running(resource, topic) === task) enqueue(resource, 0);
    });
    return task;
  };

  const running = (resource: ObjectKey, topic: string): Task | undefined =>
    tasks.get(keyToString(resource))?.get(topic);

  const drop = (resource: ObjectKey, topic: string): void => {
    const name = keyToString(resource);
    const topics = tasks.get(name);
    topics?.delete(topic);
    if (topics?.size === 0) tasks.delete(name);
  };

  return {
    async ask<T>(
      resource: ObjectKey,
      topic: string,
      fingerprint: string,
      work: Work<T>,
      waits = true,
    ): Promise<Answer<T>> {
      const present = running(resource, topic);
      const task = present?.fingerprint === fingerprint ? present : begin(resource, topic, fingerprint, work);
      const patient = task.ended || (waits && !task.late);
      const outcome = patient ? await within(clock, task.outcome) : undefined;
      // Work that was ended, by the stop of the manager for one, has no answer: its end is no failure of the target.
      if (task.controller.signal.aborted) return { state: "pending" };
      if (outcome === undefined) {
        task.late = true;
        return { state: "pending" };
      }
      if (running(resource, topic) === task) drop(resource, topic);
      if ("error" in outcome) throw outcome.error;
      return { state: "done", value: outcome.value as T };
    },
    isBusy: (resource, topic) => running(resource, topic)?.ended === false,
    end(resource, topic) {
      running(resource, topic)?.controller.abort();
      drop(resource, topic);
    },
    forget(resource) {
      const name = keyToString(resource);
      for (const task of tasks.get(name)?.values() ?? []) task.controller.abort();
      tasks.delete(name);
    },
    stop() {
      for (const topics of tasks.values()) for (const task of topics.values()) task.controller.abort();
      tasks.clear();
    },
  };
}

async function settle(work: Work<unknown>, signal: AbortSignal): Promise<Outcome> {
  try {
    return { value: await work(signal) };
  } catch (error) {
    return { error };
  }
}

/** The outcome, or `undefined` when it takes longer than a pass waits. */
function within(clock: Clock, outcome: Promise<Outcome>): Promise<Outcome | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(GRACE_MS, () => resolve(undefined));
    void outcome.then((value) => {
      cancel();
      resolve(value);
    });
  });
}
