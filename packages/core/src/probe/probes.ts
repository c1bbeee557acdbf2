/**
 * Work outside the cluster: questions to databases, nodes and other services. It may take long or hang, so it never holds
 * a worker of the queue. A quick answer is taken in the pass that asked; a slow one queues the resource when it comes.
 */
import { type Clock, LATE, withLimit } from "../clock.ts";
import type { RawSource } from "../controller/types.ts";
import { keyToString, type ObjectKey } from "../object.ts";
import { createSlots } from "./slots.ts";

/** How long a pass waits for an answer, in milliseconds: longer than a sound service needs. */
const GRACE_MS = 250;
/** Limit for work that names none, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** A question, and how its answer is found. */
export interface Probe<T> {
  /** What it is about; a resource has one piece of work of each topic at a time. */
  readonly topic: string;
  /** Everything that the answer depends on. It is held in memory, so it must be no secret. Another one ends work that runs. */
  readonly fingerprint: string;
  /** How long an answer holds, in milliseconds. Default 0: it is handed out once. */
  readonly ttlMs?: number;
  /** So long after a failure the same question is not asked again, in milliseconds: passes may come close together. */
  readonly retryFloorMs?: number;
  /** The work fails after so many milliseconds. Default 30 s. */
  readonly timeoutMs?: number;
  /** Ends early when the signal aborts. */
  work(signal: AbortSignal): Promise<T>;
}

/** `at` in milliseconds since the Unix epoch. */
export type Answered<T> =
  | { readonly state: "ok"; readonly value: T; readonly at: number }
  | { readonly state: "failed"; readonly error: unknown; readonly at: number };

/** While the answer is pending the last one to the same question stands; the resource is queued when the next is there. */
export type Answer<T> = Answered<T> | { readonly state: "pending"; readonly last?: Answered<T> };

export interface Probes {
  /** Never throws: what the work threw is the error of a failed answer. */
  probe<T>(resource: ObjectKey, probe: Probe<T>): Promise<Answer<T>>;
  /** True while a piece of work is under way. */
  isBusy(resource: ObjectKey, topic: string): boolean;
  /** Ends a piece of work, and forgets its last answer. */
  end(resource: ObjectKey, topic: string): void;
  /** Ends all work for a resource, which is to be called when it is gone. */
  forget(resource: ObjectKey): void;
  /** Source for the controller: it queues resources whose answers came late, and all work ends with it. */
  readonly source: RawSource;
}

interface Task {
  readonly fingerprint: string;
  readonly controller: AbortController;
  /** Never rejects. */
  readonly outcome: Promise<Answered<unknown>>;
  /** A pass has waited in vain: the resource is queued at the end, and passes until then do not wait. */
  late: boolean;
  answered?: Answered<unknown>;
}

interface Topic {
  task?: Task;
  last?: { readonly fingerprint: string; readonly answer: Answered<unknown> };
  /** The last work took longer than a pass waits: what hung may hang again. */
  slow: boolean;
}

/**
 * No work yet.
 * @param name of the source, for logs
 */
export function createProbes(clock: Clock, name: string): Probes {
  const resources = new Map<string, Map<string, Topic>>();
  const slots = createSlots(clock);
  let enqueue: (key: ObjectKey) => void = () => {};

  const topicOf = (resource: ObjectKey, name: string): Topic => {
    const key = keyToString(resource);
    const topics = resources.get(key) ?? new Map<string, Topic>();
    resources.set(key, topics);
    const topic = topics.get(name) ?? { slow: false };
    topics.set(name, topic);
    return topic;
  };

  const begin = (resource: ObjectKey, topic: Topic, probe: Probe<unknown>): Task => {
    topic.task?.controller.abort();
    const controller = new AbortController();
    const begun = clock.monotonic();
    const task: Task = {
      fingerprint: probe.fingerprint,
      controller,
      outcome: slots.run(resource.namespace, () => settle(clock, probe, controller)),
      late: false,
    };
    topic.task = task;
    void task.outcome.then((answered) => {
      if (topic.task !== task) return;
      task.answered = answered;
      topic.slow = clock.monotonic() - begun > GRACE_MS;
      if (task.late) enqueue(resource);
    });
    return task;
  };

  const forgetTopic = (topic: Topic): void => {
    topic.task?.controller.abort();
    delete topic.task;
  };

  const forget = (topics: ReadonlyMap<string, Topic> | undefined): void => {
    for (const topic of topics?.values() ?? []) forgetTopic(topic);
  };

  return {
    async probe<T>(resource: ObjectKey, probe: Probe<T>): Promise<Answer<T>> {
      const { fingerprint, topic: name, ttlMs = 0, retryFloorMs = 0 } = probe;
      const topic = topicOf(resource, name);
      const last = topic.last?.fingerprint === fingerprint ? (topic.last.answer as Answered<T>) : undefined;
      const running = topic.task?.fingerprint === fingerprint ? topic.task : undefined;
      if (running === undefined && last !== undefined) {
        const holds = last.state === "ok" ? ttlMs : retryFloorMs;
        if (clock.now() - last.at < holds) return last;
      }
      const task = running ?? begin(resource, topic, probe);
      const patient = !task.late && !topic.slow;
      const outcome = task.answered ?? (patient ? await withLimit(clock, GRACE_MS, task.outcome) : LATE);
      const answered = outcome === LATE ? undefined : outcome;
      if (answered === undefined) task.late = true;
      // Work that was ended meanwhile, by the stop of the manager for one, has no answer: that is no failure of its target.
      if (answered === undefined || topic.task !== task) return { state: "pending", ...(last && { last }) };
      delete topic.task;
      topic.last = { fingerprint, answer: answered };
      return answered as Answered<T>;
    },
    isBusy(resource, name) {
      const task = resources.get(keyToString(resource))?.get(name)?.task;
      return task !== undefined && task.answered === undefined;
    },
    end(resource, name) {
      const topics = resources.get(keyToString(resource));
      const topic = topics?.get(name);
      if (topic !== undefined) forgetTopic(topic);
      topics?.delete(name);
    },
    forget(resource) {
      forget(resources.get(keyToString(resource)));
      resources.delete(keyToString(resource));
    },
    source: {
      name,
      start(add, signal) {
        enqueue = add;
        const stop = (): void => {
          for (const topics of resources.values()) forget(topics);
          resources.clear();
        };
        signal.addEventListener("abort", stop, { once: true });
      },
    },
  };
}

/** The work's answer; a failed one when it does not end in time, whether it minds the signal or not. */
function settle(
  clock: Clock,
  { work, timeoutMs = DEFAULT_TIMEOUT_MS }: Probe<unknown>,
  controller: AbortController,
): Promise<Answered<unknown>> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => resolve({ state: "failed", error, at: clock.now() });
    // It waited for its turn until nobody wanted it any more.
    if (controller.signal.aborted) return fail(controller.signal.reason);
    const cancel = clock.setTimer(timeoutMs, () => {
      const error = new Error(`no answer within ${timeoutMs / 1000} s`);
      controller.abort(error);
      fail(error);
    });
    const run = async (): Promise<unknown> => work(controller.signal);
    void run()
      .then((value) => resolve({ state: "ok", value, at: clock.now() }), fail)
      .finally(cancel);
  });
}
