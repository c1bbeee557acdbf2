/** What a conformance case works with: a server of either kind, a namespace of its own, short ways to say things. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { ApiServer } from "../api-server.ts";
import type { Answer, TestClient } from "../request.ts";

export interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: unknown[];
  managedFields?: { manager: string; operation: string; fieldsV1: unknown; subresource?: string }[];
  [key: string]: unknown;
}

export interface Obj {
  apiVersion?: string;
  kind?: string;
  metadata: Meta;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  data?: Record<string, string>;
  [key: string]: unknown;
}

export interface ObjList {
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: Obj[];
}

export interface Refusal {
  kind: string;
  status: string;
  message: string;
  reason?: string;
  code: number;
  metadata?: { continue?: string };
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    retryAfterSeconds?: number;
    causes?: { reason?: string; message: string; field?: string }[];
  };
}

export interface WatchEvent {
  type: string;
  object: Obj & Refusal;
}

export interface Scene {
  server: ApiServer;
  client: TestClient;
  /** Namespace of the case. */
  ns: string;
  /** Name that no other case has; also the namespace's name. */
  id: string;
  /** Path of a namespaced resource: `at("v1", "configmaps", "a")`. */
  at(groupVersion: string, plural: string, name?: string): string;
  create(path: string, body: object): Promise<Obj>;
  get(path: string): Promise<Obj>;
  list(path: string): Promise<ObjList>;
  put(path: string, body: object): Promise<Obj>;
  merge(path: string, patch: object): Promise<Obj>;
  remove(path: string, options?: object): Promise<Obj & Refusal>;
  apply(path: string, body: object, manager?: string, force?: boolean): Promise<Answer<Obj & Refusal>>;
  /** Sends a request that must be refused. */
  refused(method: string, path: string, body: unknown, code: number, contentType?: string): Promise<Refusal>;
  /** Opens a watch; `next` waits for one event, `until` for a certain one, `quiet` checks that none comes. */
  watch(path: string, query?: string): Watch;
  /** Polls until the check gives something other than undefined. */
  eventually<T>(check: () => Promise<T | undefined>, limitMs?: number): Promise<T>;
}

export interface Watch {
  next(): Promise<WatchEvent>;
  take(count: number): Promise<WatchEvent[]>;
  until(check: (event: WatchEvent) => boolean): Promise<WatchEvent>;
  quiet(ms?: number): Promise<void>;
  /** Resolves when the server ends the watch. */
  ended(): Promise<void>;
  close(): void;
}

export interface ConformanceCase {
  name: string;
  run(scene: Scene): Promise<void>;
  /** Why the double behaves otherwise on purpose: the case then runs on the real server only. */
  doubleDiffers?: string;
}

export const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";

const POLL_MS = 20;
/** On a busy machine the namespace controller takes half a minute where others have deleted many namespaces before. */
const LIMIT_MS = 50_000;
const EVENT_LIMIT_MS = 10_000;

function watchOf(client: TestClient, path: string, query: string): Watch {
  const abort = new AbortController();
  const events: WatchEvent[] = [];
  let failure: unknown;
  let over = false;
  let wake = (): void => {};
  const read = async (): Promise<void> => {
    try {
      const separator = path.includes("?") ? "&" : "?";
      for await (const event of client.stream<WatchEvent>(
        `${path}${separator}watch=true${query}`,
        abort.signal,
      )) {
        events.push(event);
        wake();
      }
    } catch (error) {
      failure = error;
    }
    over = true;
    wake();
  };
  void read();
  const next = async (): Promise<WatchEvent> => {
    const deadline = Date.now() + EVENT_LIMIT_MS;
    while (events.length === 0) {
      if (over) throw new Error(`${path}: the watch has ended`, { cause: failure });
      if (Date.now() > deadline) throw new Error(`${path}: no event within ${EVENT_LIMIT_MS} ms`);
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(POLL_MS)]);
    }
    return events.shift()!;
  };
  return {
    next,
    async take(count) {
      const taken: WatchEvent[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    async until(check) {
      for (;;) {
        const event = await next();
        if (check(event)) return event;
      }
    },
    async quiet(ms = 150) {
      await sleep(ms);
      expect(events).toEqual([]);
    },
    async ended() {
      const deadline = Date.now() + EVENT_LIMIT_MS;
      while (!over) {
        if (Date.now() > deadline) throw new Error(`${path}: the watch does not end`);
        await sleep(POLL_MS);
      }
    },
    close: () => abort.abort(),
  };
}

/** The scene of one case; `close` ends its watches. */
export function createScene(server: ApiServer, client: TestClient, ns: string): Scene & { close(): void } {
  const watches: Watch[] = [];
  const send = (method: string, path: string, body?: object, contentType?: string): Promise<Obj> =>
    client.ok<Obj>(method, path, body, contentType === undefined ? {} : { contentType });
  return {
    server,
    client,
    ns,
    id: ns,
    at: (groupVersion, plural, name) => {
      const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
      return `${root}/namespaces/${ns}/${plural}${name === undefined ? "" : `/${name}`}`;
    },
    create: (path, body) => send("POST", path, body),
    get: (path) => send("GET", path),
    list: (path) => client.ok<ObjList>("GET", path),
    put: (path, body) => send("PUT", path, body),
    merge: (path, patch) => send("PATCH", path, patch, MERGE),
    remove: (path, options) => client.ok<Obj & Refusal>("DELETE", path, options),
    apply: (path, body, manager = "test", force = false) =>
      client.request("PATCH", `${path}?fieldManager=${manager}${force ? "&force=true" : ""}`, body, {
        contentType: APPLY,
      }),
    async refused(method, path, body, code, contentType) {
      const answer = await client.request<Refusal>(
        method,
        path,
        body,
        contentType === undefined ? {} : { contentType },
      );
      expect(answer.code, JSON.stringify(answer.body)).toBe(code);
      return answer.body;
    },
    watch(path, query = "") {
      const watch = watchOf(client, path, query);
      watches.push(watch);
      return watch;
    },
    async eventually(check, limitMs = LIMIT_MS) {
      const deadline = Date.now() + limitMs;
      for (;;) {
        const found = await check();
        if (found !== undefined) return found;
        if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms`);
        await sleep(POLL_MS);
      }
    },
    close() {
      for (const watch of watches) watch.close();
    },
  };
}
