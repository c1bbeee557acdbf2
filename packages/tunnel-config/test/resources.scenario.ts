/** What holds for every kind with one counterpart in the account (sections 9.1 and 9.2). */
import { setTimeout as sleep } from "node:timers/promises";
import { ALL_PERMISSIONS } from "@quartet/testing";
import { eventually, MAX_WRITES } from "@quartet/testing/stage";
import { describe, expect, it } from "vitest";
import { RESOURCES, type ResourceCase } from "./support/resources.ts";
import { withhold } from "./support/rights.ts";
import { type Loose, openStage, type TunnelStage } from "./support/stage.ts";

/** How long controllers without a right are watched, in milliseconds. */
const WATCHED_MS = 10_000;
const ADOPT = { "cloudflare-operator.io/adopt": "true" };

/** A stage of its own for each test, all kinds side by side on it, and what the tests ask of it. */
interface Scene extends TunnelStage {
  /** The condition Ready. */
  condition(kind: string, name: string): Promise<Loose>;
  /** Calls that change something of a kind, else of all but tunnels. */
  changing(from?: number, path?: RegExp): string[];
  /** Calls that create counterparts of a kind. */
  creating(row: ResourceCase): string[];
  /** Plays the same for each of the kinds at once. */
  each(act: (row: ResourceCase) => Promise<void>): Promise<void>;
  /** Creates an object and waits for its counterpart. */
  made(row: ResourceCase, name: string): Promise<Loose>;
  /** Waits until an object is at rest, and gives its counterpart. */
  synced(row: ResourceCase, name: string, inAccount?: string): Promise<Loose>;
  gone(row: ResourceCase, name: string): Promise<void>;
}

function sceneOf(stage: TunnelStage): Scene {
  const scene: Scene = {
    ...stage,
    condition: stage.ready,
    changing: (from = 0, of = /./) =>
      stage.cloudflare.requests
        .slice(from)
        .filter(({ method, path }) => method !== "GET" && !path.includes("/cfd_tunnel") && of.test(path))
        .map(({ method, path }) => `${method} ${path}`),
    creating: ({ path, more }) =>
      scene.changing(0, path).filter((call) => call.startsWith("POST") && more?.test(call) !== true),
    async each(act) {
      const named = (row: ResourceCase) => (cause: unknown) => {
        throw new Error(`${row.kind}: ${cause}`, { cause });
      };
      await Promise.all(RESOURCES.map((row) => act(row).catch(named(row))));
    },
    async made(row, name) {
      await stage.create(row.kind, name, { spec: row.spec(name) });
      return scene.synced(row, name);
    },
    async synced(row, name, inAccount = name) {
      await eventually(async () =>
        expect((await stage.get(row.kind, name)).status).toMatchObject({
          state: row.ready,
          conditions: [expect.objectContaining({ type: "Ready", status: "True", reason: "Synced" })],
        }),
      );
      return row.remote(stage, inAccount);
    },
    gone: (row, name) => eventually(async () => expect(await stage.find(row.kind, name)).toBeUndefined()),
  };
  return scene;
}

const onStage =
  (act: (scene: Scene) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const stage = await openStage();
    try {
      for (const { before } of RESOURCES) await before?.(stage);
      await act(sceneOf(stage));
    } finally {
      await stage.close();
    }
  };

/** On the real control plane stages take turns. */
const concurrent = process.env.QUARTET_TARGET !== "real";
const nameOf = (kind: string): string => `a-${kind.toLowerCase()}`;

describe("each kind", { concurrent }, () => {
  it(
    "TUN-901 TUN-905 TUN-907 TUN-908 TUN-909 is created, changed, put right, and deleted with its object; a restart and a touch change nothing",
    onStage(async (stage) => {
      const { changing, made, gone, each } = stage;
      const manager = await stage.startManager();
      await each(async (row) => {
        const remote = await made(row, "one");
        expect(remote).toMatchObject(row.made);
        const { status, metadata } = await stage.get(row.kind, "one");
        expect([status[row.idField], status.accountId, status.claim]).toEqual([
          remote.id ?? remote.fields.name,
          "test-account-id",
          undefined,
        ]);
        expect(metadata.finalizers).toHaveLength(1);
        await stage.patch(row.kind, "one", { spec: row.change });
        await eventually(() => expect(row.remote(stage, "one")).toMatchObject(row.changed));
        await eventually(async () =>
          expect((await stage.get(row.kind, "one")).status.observedGeneration).toBe(2),
        );
        expect(row.remote(stage, "one").id).toBe(remote.id);
      });

      // On a new server this controller may have begun later than the one that is looked at.
      await eventually(async () =>
        expect((await stage.get("CloudflareCredentials", "main")).status?.state).toBe("Ready"),
      );
      const [since, calls] = [Date.now(), stage.cloudflare.requests.length];
      await each((row) => stage.patch(row.kind, "one", { metadata: { labels: { touched: "yes" } } }));
      await sleep(1500);
      expect(stage.cloudflare.requests.slice(calls)).toEqual([]);
      await manager.stop();
      await stage.startManager();
      await sleep(3000);
      expect(changing(calls)).toEqual([]);
      const writes = (await stage.writes(since)).filter((write) => !/leases/.test(write));
      expect(writes).toEqual([]);

      await each(async (row) => {
        Object.assign(row.remote(stage, "one"), row.drift);
        const before = stage.cloudflare.requests.length;
        // A changed annotation is as good as the half hour after which everything is compared again.
        await stage.patch(row.kind, "one", { metadata: { annotations: ADOPT } });
        await eventually(() => expect(row.remote(stage, "one")).toMatchObject(row.changed));
        expect(changing(before, row.path)).toHaveLength(1);
        await stage.remove(row.kind, "one");
        await gone(row, "one");
        expect(row.remote(stage, "one")).toBeUndefined();
      });
      await eventually(async () => {
        const told = await stage.events("one");
        for (const [reason, times] of [
          ["Created", 1],
          ["Updated", 2],
          ["Deleted", 1],
        ] as const)
          expect(told.filter((text) => text.startsWith(`Normal ${reason} `))).toHaveLength(
            times * RESOURCES.length,
          );
      });
    }),
  );

  it(
    "D13 TUN-806 TUN-807 TUN-904 TUN-909 what somebody else has made is left alone, and taken over where the annotation asks",
    onStage(async (stage) => {
      const { condition, changing, creating, synced, gone, each } = stage;
      for (const row of RESOURCES) row.foreign(stage, "one", "by hand");
      await stage.startManager();
      await each(async (row) => {
        const before = structuredClone(row.remote(stage, "one"));
        await stage.create(row.kind, "one", { spec: row.spec("one") });
        await eventually(async () =>
          expect(await condition(row.kind, "one")).toMatchObject({
            status: "False",
            reason: "AdoptionConflict",
          }),
        );
        expect((await condition(row.kind, "one")).message).toContain(
          "exists and is not managed by this resource",
        );
        expect(row.remote(stage, "one")).toEqual(before);
        await stage.remove(row.kind, "one");
        await gone(row, "one");
        expect([row.remote(stage, "one"), changing(0, row.path)]).toEqual([before, []]);

        await stage.create(row.kind, "one", { metadata: { annotations: ADOPT }, spec: row.spec("one") });
        const taken = await synced(row, "one");
        expect(taken).toMatchObject(row.made);
        expect(taken.id).toBe(before.id);
        expect(creating(row)).toEqual([]);
      });
      await eventually(async () => {
        const told = await stage.events("one");
        expect(told.filter((text) => text.startsWith("Normal Adopted "))).toHaveLength(RESOURCES.length);
      });
    }),
  );

  it(
    "TUN-911 TUN-941 of two objects that want the same the first has it, the other waits for its end",
    onStage(async (stage) => {
      const { condition, made, each } = stage;
      await stage.startManager();
      await each(async (row) => {
        const remote = await made(row, "one");
        await stage.create(row.kind, "two", { metadata: { annotations: ADOPT }, spec: row.spec("one") });
        await eventually(async () =>
          expect(await condition(row.kind, "two")).toMatchObject({ reason: "AdoptionConflict" }),
        );
        const place = (await stage.get(row.kind, "one")).metadata.namespace;
        const owner = [row.kind, place, "one"].filter((part) => part !== undefined).join("/");
        expect((await condition(row.kind, "two")).message).toContain(`managed by ${owner}`);
        expect(row.remote(stage, "one")).toEqual(remote);
        await stage.remove(row.kind, "one");
        await eventually(async () =>
          expect(await condition(row.kind, "two")).toMatchObject({ status: "True" }),
        );
        expect(row.remote(stage, "one")).toBeDefined();
      });
    }),
  );

  it(
    "D15 TUN-903 TUN-1005 TUN-1012 TUN-1013 nothing is made twice or left behind while the API fails; what is gone is made anew",
    onStage(async (stage) => {
      const { condition, creating, synced, gone, each } = stage;
      await stage.startManager();
      const { faults } = stage.cloudflare;
      await each(async (row) => {
        // The call takes effect, and its answer never arrives.
        faults.add({ path: row.path, method: /POST/, cut: true, afterwards: true, times: 1 });
        await stage.create(row.kind, "one", { spec: row.spec("one") });
        const { id } = await synced(row, "one");
        expect(creating(row)).toHaveLength(1);
        row.take(stage, "one");
        await stage.patch(row.kind, "one", { metadata: { annotations: ADOPT } });
        await eventually(() => expect(row.remote(stage, "one")).toBeDefined());
        if (id !== undefined) expect(row.remote(stage, "one").id).not.toBe(id);
        await synced(row, "one");
        faults.add({ path: row.path, method: /DELETE/, status: 500 });
        await stage.remove(row.kind, "one");
        await eventually(async () =>
          expect(await condition(row.kind, "one")).toMatchObject({ status: "False", reason: "APIError" }),
        );
        expect(row.remote(stage, "one")).toBeDefined();
      });
      faults.clear();
      await each(async (row) => {
        await gone(row, "one");
        expect(row.remote(stage, "one")).toBeUndefined();
      });
    }),
  );

  it(
    "TUN-115 TUN-1004 a missing right is named, and a refusal as one call too many is waited out",
    onStage(async (stage) => {
      const { condition, synced, gone, each } = stage;
      const { users, faults, requests } = stage.cloudflare;
      users.tokens.set("test-token", { name: "tester", permissions: ["account:read", "zone:read"] });
      await stage.startManager();
      await each(async (row) => {
        await stage.create(row.kind, "one", { spec: row.spec("one") });
        await eventually(async () =>
          expect(await condition(row.kind, "one")).toMatchObject({ reason: "PermissionDenied" }),
        );
        const { message } = await condition(row.kind, "one");
        expect(message).toMatch(/the token needs "Account · [^"]+ · Edit"/);
        expect(message).not.toContain("test-token");
        await stage.remove(row.kind, "one");
        await gone(row, "one");
      });
      users.tokens.set("test-token", { name: "tester", permissions: ALL_PERMISSIONS });
      // All kinds share the credentials: one refusal holds them all back.
      faults.add({ path: /./, status: 429, headers: { "retry-after": "2" }, times: 1 });
      const from = requests.length;
      await each(async (row) => {
        await stage.create(row.kind, "two", { spec: row.spec("two") });
        await synced(row, "two");
      });
      const calls = requests.slice(from);
      const refused = calls.findIndex(({ status }) => status === 429);
      const next = calls.slice(refused + 1).find(({ time }) => time > calls[refused]!.time + 500)!;
      expect(next.time - calls[refused]!.time).toBeGreaterThanOrEqual(1900);
    }),
  );
});

describe("rights", { concurrent }, () => {
  it.each(["", "/status"])(
    "TUN-1014 without the right to patch them%s nothing is made in the account for any kind; that is told, and tried at growing intervals",
    (subresource) =>
      onStage(async (stage) => {
        const { changing, synced } = stage;
        await stage.startManager();
        const giveBack = await withhold(
          stage,
          "patch",
          RESOURCES.map(({ plural }) => plural + subresource),
        );
        const since = Date.now();
        for (const { kind, spec } of RESOURCES) await stage.create(kind, nameOf(kind), { spec: spec("one") });
        for (const { kind } of RESOURCES)
          await eventually(async () =>
            expect(await stage.events(nameOf(kind))).toContainEqual(
              expect.stringMatching(/Warning Forbidden .*is forbidden/),
            ),
          );
        await sleep(WATCHED_MS);
        const writes = await stage.writes(since);
        for (const { plural } of RESOURCES) {
          const own = writes.filter((write) => write.includes(` ${plural}`));
          expect(own.length, own.join("\n")).toBeLessThanOrEqual(MAX_WRITES);
        }
        expect(changing()).toEqual([]);
        await giveBack();
        for (const row of RESOURCES) expect(await synced(row, nameOf(row.kind), "one")).toBeDefined();
      })(),
  );
});
