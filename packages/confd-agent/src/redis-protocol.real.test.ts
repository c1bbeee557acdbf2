/** What the agent and a real Redis server say to each other: the order of a start, reads that changes come into. */
import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { createRedisBackend } from "./backend/redis/redis.ts";
import { loadSettings } from "./config/settings.ts";
import { type Relay, startRelay } from "./relay.testkit.ts";
import { type RedisServer, startRedis } from "./servers.testkit.ts";

const NOTICES = ["--notify-keyspace-events", "KA"];
let scene: Scene;
let servers: RedisServer[];
let relay: Relay | undefined;
beforeEach(() => {
  scene = createScene();
  servers = [];
});
afterEach(async () => {
  await scene.close();
  await relay?.close();
  relay = undefined;
  for (const server of servers) await server.close();
});
const redis = async (...args: string[]): Promise<RedisServer> => {
  const server = await startRedis([...NOTICES, ...args]);
  servers.push(server);
  return server;
};
const watch = (node: string, ...more: string[]): RunningAgent =>
  scene.start([
    ...["--backend", "redis", "--node", node, "--watch", "--watch-error-backoff", "100ms"],
    ...["--watch-error-backoff-max", "500ms", ...more],
  ]);
const app = (): void =>
  scene.resource("out", {
    keys: ["/app"],
    template: '{{range gets "/app/*"}}{{base .Key}}={{.Value}} {{end}}',
  });

it("CONFD-PROC-5 CONFD-REDIS-9 the watch stands before the first read, so that nothing in between is lost", async () => {
  const server = await redis();
  server.command("set", "/app/a", "1");
  const port = server.address.split(":")[1]!;
  const monitor: ChildProcess = spawn("redis-cli", ["-p", port, "monitor"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    let seen = "";
    monitor.stdout!.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
    });
    await eventually(
      () => seen,
      (text) => text.includes("OK"),
    );
    app();
    watch(server.address);
    await becomes(scene, "out", "a=1 ");
    await eventually(
      () => seen,
      (text) => /"get(range)?" "\/app\/a"/i.test(text),
    );
    const commands = seen.split("\n").flatMap((line) => /"(psubscribe|scan|get)"/i.exec(line)?.[1] ?? []);
    expect(commands.map((name) => name.toLowerCase()).slice(0, 3)).toEqual(["psubscribe", "scan", "get"]);
  } finally {
    monitor.kill();
  }
});

it("CONFD-REDIS-5 a read that changes come into is done again, three times at most", async () => {
  const server = await redis();
  server.command("set", "/app/a", "0");
  relay = await startRelay(server.address);
  const { settings } = loadSettings(new Map(), {});
  const backend = createRedisBackend({
    settings: { ...settings, backend: "redis", nodes: [relay.address] },
    notice: () => {},
  });
  const stop = new AbortController();
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let changed = (): void => {};
  const events = { onReady: () => resolve(), onChange: () => changed(), onNotice: () => {} };
  const watching = backend.watch!(["/app"], events, stop.signal);
  await ready;
  let scans = 0;
  let changes = 2;
  relay.onRequest(async (piece) => {
    if (!piece.toString("latin1").toLowerCase().includes("scan")) return;
    scans += 1;
    if (scans > changes) return;
    const told = new Promise<void>((done) => {
      changed = done;
    });
    server.command("set", "/app/a", String(scans));
    await told;
  });
  const read = async (): Promise<string | undefined> =>
    (await backend.read(["/app"], { signal: stop.signal })).values.get("/app/a");
  expect([await read(), scans]).toEqual(["2", 3]);
  scans = 0;
  changes = Number.POSITIVE_INFINITY;
  expect([await read(), scans]).toEqual(["4", 4]);
  stop.abort();
  await watching;
  await backend.close();
});

it("CONFD-REDIS-11 a server of a cluster is refused with the reason", async () => {
  const server = await redis("--cluster-enabled", "yes");
  app();
  const args = ["--backend", "redis", "--node", server.address, "--onetime"];
  const { code, stderr } = await scene.run(args);
  expect([code, scene.exists("out")]).toEqual([1, false]);
  expect(stderr).toContain("redis cluster is not supported");
});

it("CONFD-REDIS-9 CONFD-WATCH-10 connections through which nothing comes any more are given up, and changes are read", async () => {
  const server = await redis();
  server.command("set", "/app/a", "1");
  relay = await startRelay(server.address);
  app();
  const agent = watch(relay.address, "--backend-timeout", "1s");
  await becomes(scene, "out", "a=1 ");
  server.command("set", "/app/a", "2");
  await becomes(scene, "out", "a=2 ");
  relay.freeze();
  server.command("set", "/app/a", "3");
  await eventually(agent.log, (log) => log.includes("the server does not answer any more"));
  await becomes(scene, "out", "a=3 ");
  server.command("set", "/app/a", "4");
  await becomes(scene, "out", "a=4 ");
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-WATCH-11 resources that find the connection lost at the same time share the next one", async () => {
  const server = await redis();
  for (let i = 0; i < 20; i++) {
    server.command("set", `/app/${i}`, "1");
    scene.resource(`out${i}`, { keys: [`/app/${i}`], template: `{{getv "/app/${i}"}}` });
  }
  const connections = (): number => server.command("client", "list").trim().split("\n").length;
  watch(server.address);
  await becomes(scene, "out19", "1");
  for (const round of ["2", "3", "4"]) {
    server.command("client", "kill", "type", "normal");
    server.command("client", "kill", "type", "pubsub");
    for (let i = 0; i < 20; i++) server.command("set", `/app/${i}`, round);
    for (let i = 0; i < 20; i++) await becomes(scene, `out${i}`, round);
  }
  // One for reads, one for the watch, and the one that asks.
  await eventually(connections, (count) => count <= 3);
});
