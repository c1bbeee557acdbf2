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

/** Model at time 0. */
export function queueModel(): QueueModel {
  let now = 0;
  let picks = 0;
  /** In the order in which they became ready, or were raised. */
  let ready: ModelItem[] = [];
  /** In the order in which they were added. */
  let waiting: ModelItem[] = [];
  let again: ModelItem[] = [];
  const running = new Set<string>();

  const raise = (key: string, priority: number): boolean => {
    const item = find(ready, key);
    if (item === undefined) return false;
    if (priority > item.priority) ready = [...without(ready, key), { ...item, priority }];
    return true;
  };
  const becomeReady = (key: string, priority: number, time: number): void => {
    const waited = find(waiting, key);
    waiting = without(waiting, key);
    ready.push({ key, priority: Math.max(priority, waited?.priority ?? priority), time });
  };
  const addAt = (key: string, priority: number, time: number): void => {
    if (running.has(key)) {
      const item = { key, priority, time };
      again = [...without(again, key), joined(item, find(again, key) ?? item)];
    } else if (!raise(key, priority)) becomeReady(key, priority, time);
  };
  return {
    add: (key, priority) => addAt(key, priority, now),
    addAfter(key, ms, priority) {
      if (ms === 0) return addAt(key, priority, now);
      if (raise(key, priority)) return;
      const item = { key, priority, time: now + ms };
      const before = find(waiting, key);
      const sooner = before === undefined || item.time < before.time;
      const next = joined(item, before ?? item);
      waiting = sooner
        ? [...without(waiting, key), next]
        : waiting.map((one) => (one === before ? next : one));
    },
    take() {
      if (ready.length === 0) return undefined;
      picks += 1;
      const item =
        picks % 8 === 0
          ? first(ready, (a, b) => a.time < b.time)
          : first(ready, (a, b) => a.priority > b.priority);
      ready = without(ready, item.key);
      running.add(item.key);
      return { key: item.key, priority: item.priority, readySince: item.time };
    },
    done(key) {
      running.delete(key);
      const item = find(again, key);
      again = without(again, key);
      if (item !== undefined) becomeReady(key, item.priority, item.time);
    },
    wait(ms) {
      now += ms;
      for (;;) {
        const due = waiting.filter(({ time }) => time <= now);
        if (due.length === 0) return;
        const item = first(due, (a, b) => a.time < b.time);
        waiting = without(waiting, item.key);
        addAt(item.key, item.priority, item.time);
      }
    },
    state(key) {
      if (running.has(key)) return "running";
      if (find(ready, key) !== undefined) return "ready";
      return find(waiting, key) === undefined ? "absent" : "waiting";
    },
  };
}
