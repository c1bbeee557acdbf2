/** What the agent and a real etcd server say to each other: addresses, positions, large answers, leases, lost connections. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { createClient } from "./backend/client.ts";
import { createEtcdBackend } from "./backend/etcd/etcd.ts";
import { loadSettings } from "./config/settings.ts";
import { NO_METRICS } from "./observe/metrics.ts";
import { type Relay, startRelay } from "./relay.testkit.ts";
import { type EtcdServer, startEtcd } from "./servers.testkit.ts";

let scene: Scene;
let etcd: EtcdServer;
let relay: Relay | undefined;
beforeEach(async () => {
  scene = createScene();
  etcd = await startEtcd({ args: ["--watch-progress-notify-interval=100ms"] });
  await etcd.put({ "/app/name": "one" });
});
afterEach(async () => {
  await scene.close();
  await relay?.close();
  relay = undefined;
  await etcd.close();
});

const args = (...nodes: string[]): string[] => [
  ...["--backend", "etcdv3", "--watch-error-backoff", "50ms", "--watch-error-backoff-max", "100ms"],
  ...nodes.flatMap((node) => ["--node", node]),
];
const watch = (node: string, ...more: string[]): RunningAgent =>
  scene.start([...args(node), "--watch", ...more]);
const app = (template = '{{getv "/app/name"}}'): void => scene.resource("out", { keys: ["/app"], template });
const base64 = (text: string): string => Buffer.from(text).toString("base64");

it("CONFD-ETCD-1 nodes with a scheme, without one, and on a socket; two schemes do not go together", async () => {
  const socket = scene.path("socket");
  relay = await startRelay(etcd.address, socket);
  for (const [index, node] of [etcd.address, `http://${etcd.address}`, `unix://${socket}`].entries()) {
    await etcd.put({ "/app/name": `n${index}` });
    app();
    expect((await scene.run([...args(node), "--onetime"])).code).toBe(0);
    expect(scene.read("out")).toBe(`n${index}`);
  }
  const mixed = await scene.run([...args(etcd.address, "https://127.0.0.1:1"), "--onetime"]);
  expect(mixed).toMatchObject({ code: 1, stderr: expect.stringContaining("the same scheme") });
});

it("CONFD-ETCD-8 CONFD-WATCH-6 a progress notice moves the position, and nothing runs for it", async () => {
  relay = await startRelay(etcd.address);
  app();
  const agent = watch(relay.address, "--metrics-addr", "127.0.0.1:0");
  await becomes(scene, "out", "one");
  for (let i = 0; i < 20; i++) await etcd.put({ "/other": String(i) });
  // Between signs of life, ten seconds apart, only notices come.
  const { pieces } = relay.received;
  await eventually(
    () => relay!.received.pieces,
    (count) => count >= pieces + 5,
  );
  const [, port] = /health on port (\d+)/.exec(agent.log()) ?? [];
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain(`confd_template_process_total{dest="${scene.path("out")}",status="success"} 1\n`);
  await etcd.compact();
  relay.cut();
  await eventually(agent.log, (log) => log.includes("watch of etcdv3"));
  await etcd.put({ "/app/name": "two" });
  await becomes(scene, "out", "two");
  // From a position before the compaction it could not have gone on.
  expect(agent.log()).not.toContain("compacted");
});

it("CONFD-ETCD-9 what was missed arrives, though etcd has to send it in pieces", async () => {
  relay = await startRelay(etcd.address);
  app('{{range gets "/app/*"}}{{base .Key}}={{len .Value}} {{end}}');
  const agent = watch(relay.address);
  await becomes(scene, "out", "name=3 ");
  relay.refuse(true);
  relay.cut();
  await eventually(agent.log, (log) => log.includes("watch of etcdv3"));
  for (let i = 0; i < 8; i++) await etcd.put({ [`/app/${i}`]: "x".repeat(1_000_000 + i) });
  relay.refuse(false);
  const sizes = Array.from({ length: 8 }, (_, i) => `${i}=${1_000_000 + i} `);
  await becomes(scene, "out", `${sizes.join("")}name=3 `);
  await etcd.put({ "/app/0": "" });
  await becomes(scene, "out", `0=0 ${sizes.slice(1).join("")}name=3 `);
});

it("CONFD-ETCD-10 CONFD-WATCH-13 a key whose lease ends is gone, and the file stays until it is back", async () => {
  app();
  const agent = watch(etcd.address);
  await becomes(scene, "out", "one");
  const { ID } = (await etcd.call("/v3/lease/grant", { TTL: 5 })) as { ID: string };
  await etcd.call("/v3/kv/put", { key: base64("/app/name"), value: base64("leased"), lease: ID });
  await becomes(scene, "out", "leased");
  await eventually(agent.log, (log) => log.includes("key does not exist: /app/name"));
  expect(scene.read("out")).toBe("leased");
  await etcd.put({ "/app/name": "for good" });
  await becomes(scene, "out", "for good");
});

it("CONFD-WATCH-11 hundreds of lost connections leave nothing behind, and a stop ends everything", async () => {
  relay = await startRelay(etcd.address);
  const { cut } = relay;
  const { settings } = loadSettings(new Map(), {});
  const quick = { watchErrorBackoff: 1, watchErrorBackoffMax: 1, dialTimeout: 60_000 };
  const client = createClient({
    settings: { ...settings, ...quick, nodes: [relay.address] },
    connect: async (own) => createEtcdBackend(own),
    log: () => {},
    metrics: NO_METRICS,
    signal: new AbortController().signal,
  });
  const idle = inUse();
  let connections = 0;
  let early: Counts = {};
  const done = new Promise<void>((resolve) => {
    client.follow(["/app", "/other"], {
      onChange: () => {},
      // After a failure it is told that something may be missed; after each connection that nothing was.
      onState: ({ missed }) => {
        if (missed && connections > 0) return;
        connections += 1;
        if (connections === 10) early = inUse();
        if (connections > 200) resolve();
        else setImmediate(cut);
      },
    });
  });
  await done;
  await eventually(inUse, (now) => isNoMore(now, early));
  await client.close();
  await eventually(inUse, (now) => isNoMore(now, idle));
});

type Counts = Readonly<Record<string, number>>;

/** Timers, sockets and the like of this process. */
function inUse(): Counts {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const isNoMore = (now: Counts, before: Counts): boolean =>
  Object.entries(now).every(([kind, count]) => count <= (before[kind] ?? 0));
