/** Echos in a namespace, and a neutral view of what becomes of them: no code of any subject is used. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";

interface Watched {
  metadata: { name: string; generation?: number };
  data?: { text?: string };
  status?: { conditions?: { type: string; status: string; observedGeneration?: number }[] };
}

export interface Echoes {
  create(name: string, text: string): Promise<void>;
  update(name: string, text: string): Promise<void>;
  /** Resolves when the ConfigMap repeats the text; with the time, in milliseconds of `performance.now()`. */
  echoed(name: string, text: string): Promise<number>;
  /** Resolves when the Echos are Ready with these texts in their ConfigMaps. */
  ready(names: readonly string[], text: string): Promise<void>;
  /** Watch events of Echos and ConfigMaps so far. */
  readonly events: number;
  close(): void;
}

/** Longest wait for anything. */
const LIMIT_MS = 300_000;
/** Requests at a time of {@link forEach}. */
const PARALLEL = 16;
const REOPEN_MS = 100;

/** Watches a namespace from now on; watches that end are opened again. */
export function watchEchoes(client: TestClient, namespace: string): Echoes {
  const path = `/apis/test.quartet.io/v1/namespaces/${namespace}/echoes`;
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const ended = new AbortController();
  const readyAt = new Map<string, number>();
  const generations = new Map<string, number>();
  const texts = new Map<string, string>();
  const waiters = new Set<() => void>();
  let events = 0;

  const follow = async (from: string, note: (object: Watched) => void): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        const stream = client.stream<{ type: string; object: Watched }>(`${from}?watch=true`, ended.signal);
        for await (const { type, object } of stream) {
          if (type !== "ADDED" && type !== "MODIFIED") continue;
          events++;
          note(object);
          for (const wake of waiters) wake();
        }
      } catch {
        // Ended by us or by a restart of the server: look at the signal again.
      }
      if (!ended.signal.aborted) await sleep(REOPEN_MS);
    }
  };
  void follow(path, ({ metadata: { name, generation = 0 }, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    generations.set(name, generation);
    if (ready?.status === "True") readyAt.set(name, ready.observedGeneration ?? 0);
  });
  void follow(maps, ({ metadata: { name }, data }) => void texts.set(name, data?.text ?? ""));

  const until = <T>(what: string, check: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
      };
      const wake = (): void => {
        const value = check();
        if (value === undefined) return;
        done();
        resolve(value);
      };
      const timer = setTimeout(() => {
        done();
        reject(new Error(`${what}: not reached in ${LIMIT_MS / 1000} s`));
      }, LIMIT_MS);
      waiters.add(wake);
      wake();
    });
  const isDone = (name: string, text: string): boolean =>
    texts.get(`${name}-out`) === text && readyAt.get(name) === generations.get(name);

  return {
    async create(name, text) {
      const body = { apiVersion: "test.quartet.io/v1", kind: "Echo", metadata: { name }, spec: { text } };
      await client.ok("POST", path, body);
    },
    async update(name, text) {
      const contentType = "application/merge-patch+json";
      await client.ok("PATCH", `${path}/${name}`, { spec: { text } }, { contentType });
    },
    echoed: (name, text) =>
      until(`ConfigMap of ${name}`, () =>
        texts.get(`${name}-out`) === text ? performance.now() : undefined,
      ),
    async ready(names, text) {
      const left = new Set(names);
      await until(`${names.length} Echos Ready`, () => {
        // Those at the front are mostly done first: stop at the first that is not, so that a look costs little.
        for (const name of left) {
          if (!isDone(name, text)) return undefined;
          left.delete(name);
        }
        return true;
      });
    },
    get events() {
      return events;
    },
    close: () => ended.abort(),
  };
}

/** Runs an action for each item, 16 at a time. */
export async function forEach<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const item of rest) await action(item);
    }),
  );
}
