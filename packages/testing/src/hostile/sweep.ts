/** Hostile resources against a running controller: it lives, says something of each (in its status or by an event), and does not write in a loop. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { JsonObject } from "../apiserver-double/json.ts";
import type { TestClient } from "../request.ts";
import { eventually } from "../stage/eventually.ts";
import { createRandom } from "./random.ts";
import { type HostileKind, hostileResource } from "./resources.ts";

/** Time in which each resource must have been told of, milliseconds: retries of what is refused come within a minute. */
const WORD_MS = 120_000;
/** How long writes are counted unless the sweep says otherwise, milliseconds, and the most of them for one resource. */
const WATCHED_MS = 60_000;
const MAX_WRITES = 2;
/** What is thrown by code that did not expect what it found. */
const PANIC = /"panic":true|unhandled rejection|TypeError|RangeError|Maximum call stack/;

/** Where a controller runs, and what it does there. */
export interface HostileGround {
  /** Of an administrator. */
  readonly client: TestClient;
  readonly namespace: string;
  /** Writes of the manager since a moment, as `verb resource[/subresource] name`. */
  writes(since: number): Promise<readonly string[]>;
  /** Everything that the manager logged. */
  log(): string;
  close(): Promise<void>;
}

export interface SweptKind {
  readonly kind: HostileKind;
  /** A sound resource without metadata, in which fields are replaced; without it all fields are made up. */
  readonly base?: JsonObject;
  /** The controller reads it and says nothing of it. */
  readonly silent?: boolean;
}

export interface HostileSweep {
  /** IDs of the rules for the title. */
  readonly ids: string;
  /** Starts a manager. */
  open(): Promise<HostileGround>;
  readonly kinds: readonly SweptKind[];
  /** Resources of each kind. */
  readonly count: number;
  /** Default 1; another seed gives other resources. */
  readonly seed?: number;
  /** How long writes are counted, milliseconds; fewer of them are allowed in a shorter time, but one. Default a minute. */
  readonly watchedMs?: number;
  /** Whether a resource of which no event speaks says something of its state. Default: its status is not empty. */
  hasWord?(resource: JsonObject): boolean;
}

/** A test that plays hostile resources of the kinds of a module. */
export function testHostileResources(sweep: HostileSweep): void {
  it(`${sweep.ids}: hostile resources are told of, end no manager and lead to no loop of writes`, {
    timeout: 2 * WORD_MS + WATCHED_MS + 120_000,
  }, async () => {
    const ground = await sweep.open();
    try {
      await play(ground, sweep);
    } finally {
      await ground.close();
    }
  });
}

/** A resource that the API server has taken. */
interface Taken {
  readonly path: string;
  readonly name: string;
  readonly silent: boolean;
  readonly body: JsonObject;
}

async function play(ground: HostileGround, sweep: HostileSweep): Promise<void> {
  const { client } = ground;
  const { hasWord = ({ status }) => Object.keys((status as object | undefined) ?? {}).length > 0 } = sweep;
  const random = createRandom(sweep.seed ?? 1);
  const taken: Taken[] = [];
  for (const { kind, base, silent = false } of sweep.kinds) {
    let ofKind = 0;
    for (let index = 0; index < sweep.count; index++) {
      const name = nameOf(ground, kind, index);
      const path = collectionOf(kind, ground.namespace);
      const metadata = { name, ...(kind.namespaced && { namespace: ground.namespace }) };
      const body = { ...hostileResource(kind, random, base), metadata };
      const { code } = await client.request("POST", path, body);
      // The server refuses what breaks its rules; an error of its own is none of these.
      expect([201, 400, 403, 413, 422], `${kind.kind} ${index}: ${JSON.stringify(body)}`).toContain(code);
      if (code !== 201) continue;
      ofKind++;
      taken.push({ path: `${path}/${name}`, name, silent, body });
    }
    expect(ofKind, `of ${sweep.count} ${kind.kind} the server took so many`).toBeGreaterThan(0);
  }
  await eventually(async () => {
    const told = await namesInEvents(client);
    const mute: string[] = [];
    for (const one of taken) {
      if (one.silent || told.has(one.name)) continue;
      const { code, body } = await client.request<JsonObject>("GET", one.path);
      if (code === 200 && !hasWord(body)) mute.push(inShort(one.body));
    }
    expect(mute.length, `resources of which nothing is said: ${mute.slice(0, 5).join("\n")}`).toBe(0);
  }, WORD_MS);
  await watchWrites(ground, taken, sweep.watchedMs ?? WATCHED_MS);
  expect(
    ground
      .log()
      .split("\n")
      .filter((line) => PANIC.test(line)),
  ).toEqual([]);
}

/** Names of the objects that events speak of. */
async function namesInEvents(client: TestClient): Promise<Set<string>> {
  const events = await client.ok<{ items: { regarding?: { name?: string } }[] }>(
    "GET",
    "/apis/events.k8s.io/v1/events",
  );
  return new Set(events.items.flatMap(({ regarding }) => regarding?.name ?? []));
}

/** A resource as far as a message has room for it. */
const inShort = (body: JsonObject | undefined): string => JSON.stringify(body ?? null).slice(0, 600);

/** Counts the writes for each resource; what they make bears the name of theirs at its beginning. */
async function watchWrites(ground: HostileGround, taken: readonly Taken[], watchedMs: number): Promise<void> {
  const most = Math.max(1, Math.floor((MAX_WRITES * watchedMs) / WATCHED_MS));
  const count = async (since: number): Promise<Map<string, string[]>> => {
    const writes = await ground.writes(since);
    const byOwner = Map.groupBy(writes, (write) => {
      const target = write.split(" ").at(-1) ?? "";
      return taken.find(({ name }) => target === name || target.startsWith(`${name}-`))?.name ?? "";
    });
    return new Map([...byOwner].filter(([, list]) => list.length > most));
  };
  // What has just been made may still come to rest.
  await eventually(async () => {
    const begin = Date.now();
    await sleep(watchedMs);
    const restless = [...(await count(begin))].map(
      ([name, list]) =>
        `${name}: ${list.join(", ")} for ${inShort(taken.find((one) => one.name === name)?.body)}`,
    );
    expect(restless, `resources with more than ${most} writes in ${watchedMs} ms`).toEqual([]);
  }, WORD_MS);
}

function collectionOf({ apiVersion, plural, namespaced }: HostileKind, namespace: string): string {
  return `/apis/${apiVersion}${namespaced ? `/namespaces/${namespace}` : ""}/${plural}`;
}

/** Names of cluster-scoped resources tell whose they are. */
function nameOf({ namespace }: HostileGround, { kind, namespaced }: HostileKind, index: number): string {
  const own = `h-${kind.toLowerCase()}-${index}`;
  return namespaced ? own : `${own}-${namespace}`;
}
