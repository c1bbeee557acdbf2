/** The agent on a real Redis master with a replica and three real sentinels. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portAllocator } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { type RedisServer, startRedis, startServer, type TestServer } from "./servers.testkit.ts";

const OPTIONS = [
  "--notify-keyspace-events",
  "KA",
  "--repl-diskless-sync-delay",
  "0",
  "--enable-debug-command",
  "yes",
];
const NAME = "main";

let scene: Scene;
let servers: RedisServer[];
let sentinels: TestServer[];
const portOf = ({ address }: TestServer): string => address.split(":")[1]!;
/** Sentinels want a password of their own, the servers none. */
const SENTINEL_PASSWORD = "sentinels-own";
const cli = (port: string, ...words: string[]): string =>
  execFileSync("redis-cli", ["-p", port, ...words], { encoding: "utf8" }).trim();
const askSentinel = (port: string, ...words: string[]): string =>
  cli(port, "--no-auth-warning", "-a", SENTINEL_PASSWORD, ...words);
const master = (): string =>
  askSentinel(portOf(sentinels.at(-1)!), "sentinel", "get-master-addr-by-name", NAME).split("\n")[1]!;
const replicasOf = (port: string): number =>
  Number(/connected_slaves:(\d+)/.exec(cli(port, "info", "replication"))?.[1]);

async function startSentinel(masterPort: string): Promise<TestServer> {
  const ports = portAllocator();
  const port = await ports.allocate();
  const folder = mkdtempSync(join(tmpdir(), "confd-sentinel-"));
  const file = join(folder, "sentinel.conf");
  writeFileSync(
    file,
    [
      `port ${port}`,
      "bind 127.0.0.1",
      `dir ${folder}`,
      `requirepass ${SENTINEL_PASSWORD}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
      "",
    ].join("\n"),
  );
  return await startServer({
    command: "redis-server",
    args: [file, "--sentinel"],
    folder,
    data: join(folder, "data"),
    address: `127.0.0.1:${port}`,
    isReady: async () => {
      try {
        return askSentinel(String(port), "ping") === "PONG";
      } catch {
        return false;
      }
    },
    release: () => ports.releaseAll(),
  });
}

beforeEach(async () => {
  scene = createScene();
  const first = await startRedis(OPTIONS);
  servers = [first, await startRedis([...OPTIONS, "--replicaof", "127.0.0.1", portOf(first)])];
  sentinels = [];
  for (let n = 0; n < 3; n++) sentinels.push(await startSentinel(portOf(first)));
  for (const sentinel of sentinels) {
    await eventually(
      () => askSentinel(portOf(sentinel), "sentinel", "master", NAME).replaceAll("\n", " "),
      (state) => state.includes("num-slaves 1 num-other-sentinels 2"),
    );
  }
});
afterEach(async () => {
  await scene.close();
  for (const server of [...sentinels, ...servers]) await server.close();
});

const LOGIN = ["-sentinel-password", SENTINEL_PASSWORD];
const nodes = (): string[] => sentinels.flatMap((one) => ["-node", `sentinel://${one.address}/${NAME}`]);
const start = (): RunningAgent => {
  scene.resource("out", { keys: ["/app"], template: '{{getv "/app/a"}}' });
  return scene.start([
    "-backend",
    "redis",
    ...nodes(),
    ...LOGIN,
    "-watch",
    "-watch-error-backoff",
    "100ms",
    "-watch-error-backoff-max",
    "500ms",
  ]);
};
/** Waits for another master that takes writes. */
const another = async (old: string): Promise<string> => {
  const now = await eventually(master, (port) => port !== old);
  await eventually(
    () => cli(now, "role").split("\n")[0],
    (role) => role === "master",
  );
  return now;
};

it("CONFD-REDIS-12 follows the master that the sentinels name, when it is killed and when it hangs, with a sentinel gone", async () => {
  const [first] = servers as [RedisServer];
  first.command("set", "/app/a", "one");
  const agent = start();
  await becomes(scene, "out", "one");
  await sentinels[0]!.kill();
  first.command("set", "/app/a", "two");
  await becomes(scene, "out", "two");
  await eventually(
    () => replicasOf(portOf(first)),
    (count) => count === 1,
  );

  await first.kill();
  const second = await another(portOf(first));
  cli(second, "set", "/app/a", "three");
  await becomes(scene, "out", "three");

  await first.start();
  await eventually(
    () => replicasOf(second),
    (count) => count === 1,
  );
  const hang = spawn("redis-cli", ["-p", second, "debug", "sleep", "600"], { stdio: "ignore" });
  const third = await another(second);
  expect(third).toBe(portOf(first));
  cli(third, "set", "/app/a", "four");
  await becomes(scene, "out", "four");
  hang.kill();
  expect(agent.log()).not.toContain("Unhandled");
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-REDIS-12 CONFD-CFG-15 a name that no sentinel knows, sentinels that are away, and passwords that they refuse are told", async () => {
  const once = (name: string, login: readonly string[] = LOGIN) =>
    scene.run([
      ...["-backend", "redis", "-node", `sentinel://${sentinels[0]!.address}/${name}`, "-onetime"],
      ...login,
    ]);
  scene.resource("out", { keys: ["/app"], template: "x" });
  const unknown = await once("other");
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining("no sentinel can be reached that knows this master"),
  ]);
  expect((await once(NAME)).code).toBe(0);
  for (const [login, words] of [
    [[], "NOAUTH"],
    [["-sentinel-password", "not-this-one"], "WRONGPASS"],
    [["-sentinel-username", "ann", ...LOGIN], "WRONGPASS"],
  ] as const) {
    const { code, stderr } = await once(NAME, login);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`no sentinel can be reached that knows this master: ${words}`),
    ]);
    expect(stderr).not.toMatch(/not-this-one|sentinels-own/);
  }
  await sentinels[0]!.kill();
  const away = await once(NAME);
  expect([away.code, away.stderr]).toEqual([1, expect.stringContaining("main of the sentinels 127.0.0.1:")]);
});
