import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type TestClient, testClient } from "../request.ts";
import { type Double, type DoubleOptions, startDouble } from "./index.ts";

interface Obj {
  kind: string;
  metadata: { name: string; resourceVersion: string; continue?: string; deletionTimestamp?: string };
  message?: string;
  reason?: string;
  details?: { retryAfterSeconds?: number; causes?: { reason: string; field: string }[] };
  items?: Obj[];
}

interface WatchEvent {
  type: string;
  object: Obj & { code?: number };
}

const MAPS = "/api/v1/namespaces/default/configmaps";
const map = (name: string): object => ({ metadata: { name }, data: { k: "v" } });

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(options: DoubleOptions = {}): Promise<{ double: Double; client: TestClient }> {
  const double = await startDouble(options);
  const client = testClient(await double.kubeconfig());
  opened.push(
    () => double.stop(),
    () => client.close(),
  );
  return { double, client };
}

/** Collects the events of a watch until the test ends. */
function watch(
  client: TestClient,
  query: string,
  path = MAPS,
): { events: WatchEvent[]; ended: Promise<void> } {
  const abort = new AbortController();
  opened.push(() => abort.abort());
  const events: WatchEvent[] = [];
  const read = async (): Promise<void> => {
    try {
      for await (const event of client.stream<WatchEvent>(`${path}?watch=true${query}`, abort.signal))
        events.push(event);
    } catch {
      // cut, by the server or by the end of the test
    }
  };
  return { events, ended: read() };
}

async function until(check: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error("not within 5 s");
    await sleep(5);
  }
}

describe("old resource versions", () => {
  it("CORE-498 ten watchers each get every event of many creates, in order", async () => {
    const { client } = await open();
    const watches = Array.from({ length: 10 }, () => watch(client, "&resourceVersion=0"));
    const names = Array.from({ length: 300 }, (_, index) => `c-${index}`);
    for (const name of names) await client.ok("POST", MAPS, map(name));
    for (const { events } of watches) {
      await until(() => events.length >= names.length);
      expect(events.map(({ object }) => object.metadata.name)).toEqual(names);
    }
  });

  it("CORE-467 a watch from before expire() gets an ERROR event with code 410", async () => {
    const { double, client } = await open();
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    await client.ok("POST", MAPS, map("b"));
    double.expire();
    const { events, ended } = watch(client, `&resourceVersion=${metadata.resourceVersion}`);
    await ended;
    expect(events).toMatchObject([
      { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } },
    ]);
    expect(events[0]!.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
  });

  it("CORE-467 a watch from the newest version survives expire()", async () => {
    const { double, client } = await open();
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    double.expire();
    const { events } = watch(client, `&resourceVersion=${metadata.resourceVersion}`);
    await client.ok("POST", MAPS, map("b"));
    await until(() => events.length > 0);
    expect(events[0]).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  });

  it("CORE-467 the window of a kind is bounded, other kinds do not use it up", async () => {
    const { client } = await open({ watchWindow: 20 });
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    const first = `&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=1`;
    for (let i = 0; i < 300; i += 1)
      await client.ok("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: `s-${i}` } });
    const quiet = watch(client, first);
    await quiet.ended;
    expect(quiet.events).toEqual([]);
    for (let i = 0; i < 300; i += 1) await client.ok("POST", MAPS, map(`m-${i}`));
    const late = watch(client, first);
    await late.ended;
    expect(late.events[0]).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  it("CORE-468 an expired continue token is 410 with a fresh token that goes on", async () => {
    const { double, client } = await open();
    for (const name of ["a", "b", "c"]) await client.ok("POST", MAPS, map(name));
    const page = await client.ok<Obj>("GET", `${MAPS}?limit=1`);
    await client.ok("POST", MAPS, map("d"));
    double.expire();
    const answer = await client.request<Obj>(
      "GET",
      `${MAPS}?continue=${encodeURIComponent(page.metadata.continue!)}`,
    );
    expect(answer.code).toBe(410);
    expect(answer.body.reason).toBe("Expired");
    const rest = await client.ok<Obj>(
      "GET",
      `${MAPS}?continue=${encodeURIComponent(answer.body.metadata.continue!)}`,
    );
    expect(rest.items!.map(({ metadata }) => metadata.name)).toEqual(["b", "c", "d"]);
  });

  it("CORE-468 an exact list of a version that expired is 410", async () => {
    const { double, client } = await open();
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    await client.ok("POST", MAPS, map("b"));
    double.expire();
    const path = `${MAPS}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
    expect((await client.request("GET", path)).code).toBe(410);
  });
});

describe("bookmarks", () => {
  it("CORE-467 come at the configured interval to a watch of a busy kind, not of an idle one", async () => {
    const { client } = await open({ bookmarkIntervalMs: 50 });
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    const query = `&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`;
    const busy = watch(client, query);
    const idle = watch(client, query, "/api/v1/namespaces/default/secrets");
    const changed = await client.ok<Obj>("POST", MAPS, map("b"));
    await until(() => busy.events.filter(({ type }) => type === "BOOKMARK").length >= 3);
    const bookmark = busy.events.find(({ type }) => type === "BOOKMARK")!;
    expect(bookmark.object.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
    expect(idle.events).toEqual([]);
  });

  it("CORE-467 only come when they are asked for", async () => {
    const { client } = await open({ bookmarkIntervalMs: 20 });
    const { events } = watch(client, "");
    await client.ok("POST", MAPS, map("a"));
    await sleep(150);
    expect(events.map(({ type }) => type)).toEqual(["ADDED"]);
  });
});

describe("settings", () => {
  it("CORE-161 without WatchList sendInitialEvents is refused with 422", async () => {
    const { client } = await open({ watchList: false, version: "v1.33.0" });
    const path = `${MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const answer = await client.request<Obj>("GET", path);
    expect(answer.code).toBe(422);
    expect(answer.body.details?.causes).toMatchObject([
      { reason: "FieldValueForbidden", field: "sendInitialEvents" },
    ]);
    expect(await client.ok("GET", "/version")).toMatchObject({ major: "1", minor: "33" });
  });

  it("CORE-466 the garbage collector can be switched off", async () => {
    const { client } = await open({ garbageCollection: false });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" }];
    await client.ok("POST", MAPS, { metadata: { name: "a", ownerReferences } });
    await sleep(150);
    await client.ok("GET", `${MAPS}/a`);
  });

  it("CORE-474 bearer tokens log in, and without RBAC everybody may do everything", async () => {
    const { double } = await open({ rbac: false });
    const client = testClient(await double.kubeconfig({ user: "jane", groups: [], auth: "token" }));
    opened.push(() => client.close());
    await client.ok("POST", MAPS, map("a"));
    const [request] = await double.requests({ verb: "create" });
    expect(request).toMatchObject({
      user: "jane",
      resource: "configmaps",
      name: "a",
      namespace: "default",
      code: 201,
    });
  });
});

describe("faults", () => {
  it("CORE-477 fail the n-th matching request, so often as wanted", async () => {
    const { double, client } = await open();
    double.inject({ match: { verb: "create", resource: "configmaps" }, skip: 1, times: 2, code: 503 });
    const codes: number[] = [];
    for (const name of ["a", "b", "c", "d"]) codes.push((await client.request("POST", MAPS, map(name))).code);
    expect(codes).toEqual([201, 503, 503, 201]);
    expect((await client.ok<Obj>("GET", MAPS)).items!.map(({ metadata }) => metadata.name)).toEqual([
      "a",
      "d",
    ]);
  });

  it("CORE-477 throttle with Retry-After", async () => {
    const { double, client } = await open();
    const restore = double.inject({ match: { verb: "list" }, code: 429, retryAfterSeconds: 3 });
    const answer = await client.request<Obj>("GET", MAPS);
    expect(answer.code).toBe(429);
    expect(answer.headers["retry-after"]).toBe("3");
    expect(answer.body).toMatchObject({ reason: "TooManyRequests", details: { retryAfterSeconds: 3 } });
    restore();
    expect((await client.request("GET", MAPS)).code).toBe(200);
  });

  it("CORE-477 delay a request", async () => {
    const { double, client } = await open();
    double.inject({ match: { verb: "list" }, delayMs: 200, times: 1 });
    const start = Date.now();
    await client.ok("GET", MAPS);
    expect(Date.now() - start).toBeGreaterThanOrEqual(190);
  });

  it("CORE-477 cut the connection before the work, or after it", async () => {
    const { double, client } = await open();
    double.inject({ match: { verb: "create" }, cut: "before", times: 1 });
    await expect(client.request("POST", MAPS, map("a"))).rejects.toThrow();
    double.inject({ match: { verb: "create" }, cut: "after", times: 1 });
    await expect(client.request("POST", MAPS, map("b"))).rejects.toThrow();
    const list = await client.ok<Obj>("GET", MAPS);
    expect(list.items!.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  it("CORE-477 drop running watches; a new one goes on", async () => {
    const { double, client } = await open();
    const { metadata } = await client.ok<Obj>("POST", MAPS, map("a"));
    const query = `&resourceVersion=${metadata.resourceVersion}`;
    const first = watch(client, query);
    await client.ok("POST", MAPS, map("b"));
    await until(() => first.events.length === 1);
    double.dropWatches();
    await first.ended;
    const second = watch(client, query);
    await client.ok("POST", MAPS, map("c"));
    await until(() => second.events.length === 2);
  });

  it("CORE-477 the clock can be moved: timestamps, timeouts", async () => {
    const { double, client } = await open();
    const running = watch(client, "&timeoutSeconds=3600");
    await sleep(50);
    double.clock.advance(3_600_000);
    await running.ended;
    const { metadata } = await client.ok<{ metadata: { creationTimestamp: string } }>("POST", MAPS, map("a"));
    expect(Date.parse(metadata.creationTimestamp) - Date.now()).toBeGreaterThan(3_590_000);
  });

  it("CORE-477 the request log tells who did what, in order of arrival", async () => {
    const { double, client } = await open();
    await client.ok("POST", MAPS, map("a"), { headers: { "user-agent": "tester/1" } });
    const since = Date.now();
    await sleep(5);
    const init = { contentType: "application/apply-patch+yaml" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "y" } };
    await client.ok("PATCH", `${MAPS}/a?fieldManager=one&dryRun=All`, body, init);
    await client.request("GET", `${MAPS}/missing`);
    await client.ok("DELETE", MAPS);
    const all = await double.requests();
    expect(all.map(({ verb, name, code, dryRun }) => [verb, name, code, dryRun])).toEqual([
      ["create", "a", 201, false],
      ["apply", "a", 200, true],
      ["get", "missing", 404, false],
      ["deletecollection", "", 200, false],
    ]);
    expect(all[0]).toMatchObject({
      user: "quartet-admin",
      userAgent: "tester/1",
      group: "",
      namespace: "default",
    });
    expect((await double.requests({ since, verb: "get" })).length).toBe(1);
  });
});
