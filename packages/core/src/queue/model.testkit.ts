/** A work queue in its simplest form: lists that are searched from end to end. What the real one must equal. */

interface ModelItem {
  key: string;
  priority: number;
  /** Ready since, or due at. */
  time: number;
}

export interface QueueModel {
  add(key: string, priority: number): void;
  addAfter(key: string, ms: number, priority: number): void;
  /** Key and priority of the next item. */
  take(): { key: string; priority: number; readySince: number } | undefined;
  done(key: string): void;
  wait(ms: number): void;
  state(key: string): "ready" | "waiting" | "running" | "absent";
}

const find = (list: ModelItem[], key: string): ModelItem | undefined => list.find((item) => item.key === key);
const without = (list: ModelItem[], key: string): ModelItem[] => list.filter((item) => item.key !== key);
/** The first item that no other is better than. */
const first = (list: ModelItem[], better: (a: ModelItem, b: ModelItem) => boolean): ModelItem =>
  list.reduce((best, item) => (better(item, best) ? item : best));
/** Two adds of a key as one: the higher priority, the earlier time. */
const joined = (a: ModelItem, b: ModelItem): ModelItem => ({
  key: a.key,
  priority: Math.max(a.priority, b.priority),
  time: Math.min(a.time, b.time),
});

interface ModelState {
  now: number;
  picks: number;
  /** In the order in which they became ready, or were raised. */
  ready: ModelItem[];
  /** In the order in which they were added. */
  waiting: ModelItem[];
  again: ModelItem[];
  readonly running: Set<string>;
}

/** Model at time 0. */
export function queueModel(): QueueModel {
  const model: ModelState = { now: 0, picks: 0, ready: [], waiting: [], again: [], running: new Set() };
  return {
    add: (key, priority) => addNow(model, { key, priority, time: model.now }),
    addAfter(key, ms, priority) {
      const item = { key, priority, time: model.now + ms };
      if (ms === 0) addNow(model, item);
      else if (!raise(model, item)) addLater(model, item);
    },
    take: () => take(model),
    done(key) {
      model.running.delete(key);
      const item = find(model.again, key);
      model.again = without(model.again, key);
      if (item !== undefined) becomeReady(model, item);
    },
    wait(ms) {
      model.now += ms;
      for (;;) {
        const due = model.waiting.filter(({ time }) => time <= model.now);
        if (due.length === 0) return;
        const item = first(due, (a, b) => a.time < b.time);
        model.waiting = without(model.waiting, item.key);
        addNow(model, item);
      }
    },
    state(key) {
      if (model.running.has(key)) return "running";
      if (find(model.ready, key) !== undefined) return "ready";
      return find(model.waiting, key) === undefined ? "absent" : "waiting";
    },
  };
}

function addNow(model: ModelState, item: ModelItem): void {
  if (model.running.has(item.key)) {
    const before = find(model.again, item.key) ?? item;
    model.again = [...without(model.again, item.key), joined(item, before)];
  } else if (!raise(model, item)) becomeReady(model, item);
}

/** Raises a ready item; false when the key is not ready. */
function raise(model: ModelState, { key, priority }: ModelItem): boolean {
  const item = find(model.ready, key);
  if (item !== undefined && priority > item.priority) {
    model.ready = [...without(model.ready, key), { ...item, priority }];
  }
  return item !== undefined;
}

function becomeReady(model: ModelState, item: ModelItem): void {
  const waited = find(model.waiting, item.key);
  model.waiting = without(model.waiting, item.key);
  model.ready.push({ ...item, priority: Math.max(item.priority, waited?.priority ?? item.priority) });
}

function addLater(model: ModelState, item: ModelItem): void {
  const before = find(model.waiting, item.key);
  const next = joined(item, before ?? item);
  if (before === undefined || item.time < before.time) {
    model.waiting = [...without(model.waiting, item.key), next];
  } else {
    model.waiting = model.waiting.map((one) => (one === before ? next : one));
  }
}

function take(model: ModelState): ReturnType<QueueModel["take"]> {
  if (model.ready.length === 0) return undefined;
  model.picks += 1;
  const item =
    model.picks % 8 === 0
      ? first(model.ready, (a, b) => a.time < b.time)
      : first(model.ready, (a, b) => a.priority > b.priority);
  model.ready = without(model.ready, item.key);
  model.running.add(item.key);
  return { key: item.key, priority: item.priority, readySince: item.time };
}
