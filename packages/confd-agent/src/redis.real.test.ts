/** The agent on a real Redis server. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { type RedisServer, startRedis } from "./servers.testkit.ts";

let scene: Scene;
let redis: RedisServer;
const NOTICES = ["--notify-keyspace-events", "KA"];
beforeEach(async () => {
  scene = createScene();
  redis = await startRedis(NOTICES);
});
afterEach(async () => {
  await scene.close();
  await redis.close();
});

const args = (...more: string[]): string[] => [
  "--backend",
  "redis",
  "--node",
  redis.address,
  "--watch-error-backoff",
  "100ms",
  ...more,
];
const watch = (...more: string[]): RunningAgent => scene.start(args("--watch", ...more));
const set = (key: string, value: string): void => void redis.command("set", key, value);
const app = (more: readonly string[] = []): void =>
  scene.resource("out", {
    keys: ["/app"],
    template: '{{range gets "/app/*"}}{{base .Key}}={{.Value}} {{end}}',
    lines: more,
  });

it("AS-1 AS-2 CONFD-REDIS-1 CONFD-REDIS-4 the peer's own integration suite, with strings and hashes", async () => {
  const database = { host: "127.0.0.1", password: "p@sSw0rd", port: "3306", username: "confd" };
  set("/key", "foobar");
  for (const [key, value] of Object.entries(database)) {
    set(`/database/${key}`, value);
    redis.command("hset", "/prefix/database", key, value);
  }
  for (const n of [0, 1]) {
    set(`/upstream/app${n + 1}`, `10.0.1.1${n}:8080`);
    redis.command("hset", "/prefix/upstream", `app${n + 1}`, `10.0.1.1${n}:8080`);
  }
  scene.resource("basic", {
    keys: ["/database"],
    template:
      'host={{getv "/database/host"}}\npassword={{getv "/database/password"}}\nport={{getv "/database/port"}}\nusername={{getv "/database/username"}}\n',
  });
  scene.resource("iteration", {
    keys: ["/upstream"],
    template: '{{range gets "/upstream/*"}}server {{.Value}};\n{{end}}',
  });
  for (const more of [[], ["--prefix", "/prefix"]]) {
    for (const node of [redis.address, `${redis.address}/0`, `redis://${redis.address}/0`]) {
      expect((await scene.run(["--backend", "redis", "--node", node, "--onetime", ...more])).code).toBe(0);
      expect(scene.read("basic")).toBe("host=127.0.0.1\npassword=p@sSw0rd\nport=3306\nusername=confd\n");
      expect(scene.read("iteration")).toBe("server 10.0.1.10:8080;\nserver 10.0.1.11:8080;\n");
    }
  }
});

it("CONFD-REDIS-6 CONFD-BE-5 CONFD-BE-4 every kind of change arrives, of these keys only", async () => {
  app(['reload_cmd = "cat {}/out >> {}/reloads; echo >> {}/reloads"']);
  set("/app/a", "1");
  set("/apple", "no");
  watch();
  await becomes(scene, "out", "a=1 ");
  const steps: [string[], string][] = [
    [["set", "/app/a", "2"], "a=2 "],
    [["setrange", "/app/a", "0", "3"], "a=3 "],
    [["rename", "/app/a", "/app/b"], "b=3 "],
    [["copy", "/app/b", "/app/c"], "b=3 c=3 "],
    [["incr", "/app/c"], "b=3 c=4 "],
    [["hset", "/app", "h", "5"], "b=3 c=4 h=5 "],
    [["set", "/app/b", "6", "PX", "50"], "c=4 h=5 "],
    [["del", "/app"], "c=4 "],
  ];
  for (const [command, text] of steps) {
    redis.command(...command);
    await becomes(scene, "out", text);
  }
  set("/apple", "still no");
  set("/app/d", "7");
  // The reload runs after the file is there: each is waited for by the text that it found.
  await eventually(
    () => scene.read("reloads"),
    (text) => text.endsWith("\nc=4 \nc=4 d=7 \n"),
  );
});

it("CONFD-REDIS-4 CONFD-BE-2 a key that is a field of a hash is read and followed, whoever else reads the hash", async () => {
  redis.command("hset", "/app", "field", "1", "deep/er", "1");
  for (const [name, key] of [
    ["field", "/app/field"],
    ["deep", "/app/deep"],
  ] as const) {
    const template = `{{range gets "${name === "deep" ? "/app/deep/*" : "/app/*"}"}}{{.Key}}={{.Value}} {{end}}`;
    scene.resource(name, { keys: [key], template });
  }
  expect((await scene.run(args("--onetime"))).code).toBe(0);
  expect([scene.read("field"), scene.read("deep")]).toEqual(["/app/field=1 ", "/app/deep/er=1 "]);
  watch();
  redis.command("hset", "/app", "field", "2", "deep/er", "2");
  await becomes(scene, "field", "/app/field=2 ");
  await becomes(scene, "deep", "/app/deep/er=2 ");
  app();
  await becomes(scene, "out", "field=2 ");
  redis.command("hdel", "/app", "field");
  await becomes(scene, "field", "");
  await becomes(scene, "out", "");
});

/** Scans since the counts were reset; undefined for none. */
const scans = (): string | undefined =>
  /cmdstat_scan:calls=(\d+)/.exec(redis.command("info", "commandstats"))?.[1];

it("CONFD-REDIS-4 CONFD-BE-4 many resources are read with one scan, each its own keys", async () => {
  const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
  redis.command("mset", ...names.flatMap((name) => [`/app/${name}/a`, name, `/app/${name}x`, "no"]));
  redis.command("hset", "/app/n3", "h", "hash");
  for (const name of names) {
    scene.resource(name, {
      keys: [`/app/${name}`],
      template: `{{range gets "/app/*"}}{{.Key}} {{end}}{{range gets "/app/*/*"}}{{.Key}}={{.Value}} {{end}}`,
    });
  }
  redis.command("config", "resetstat");
  expect((await scene.run(args("--onetime"))).code).toBe(0);
  for (const name of names) {
    const hash = name === "n3" ? "/app/n3/h=hash " : "";
    expect(scene.read(name)).toBe(`/app/${name}/a=${name} ${hash}`);
  }
  expect(scans()).toBe("1");
});

it("CONFD-REDIS-13 CONFD-REDIS-8 a change that was told brings to light that all keys were removed or replaced", async () => {
  app();
  redis.command("mset", "/app/a", "1", "/app/b", "1");
  redis.command("-n", "1", "mset", "/app/c", "1", "/app/d", "1");
  watch("--resync-interval", "0");
  await becomes(scene, "out", "a=1 b=1 ");
  set("/app/a", "2");
  await becomes(scene, "out", "a=2 b=1 ");
  redis.command("swapdb", "0", "1");
  set("/app/c", "2");
  await becomes(scene, "out", "c=2 d=1 ");
  redis.command("flushall");
  set("/app/e", "1");
  await becomes(scene, "out", "e=1 ");
});

it("CONFD-REDIS-13 a key read for a range below it is not lost to the range that it lies in", async () => {
  redis.command("mset", "/app/a", "1", "/app/b", "1", "/app/b/c", "1");
  app(['debounce = "300ms"']);
  scene.resource("narrow", { keys: ["/app/b/c"], template: '{{getv "/app/b/c"}}' });
  watch();
  await becomes(scene, "out", "a=1 b=1 ");
  await becomes(scene, "narrow", "1");
  redis.command("mset", "/app/a", "2", "/app/b", "2", "/app/b/c", "2");
  await becomes(scene, "narrow", "2");
  await eventually(
    () => scene.read("out"),
    (text) => text !== "a=1 b=1 ",
  );
  expect(scene.read("out")).toBe("a=2 b=2 ");
});

it("CONFD-REDIS-13 after changes the keys that were told are read, without any scan, and together", async () => {
  const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
  redis.command("mset", ...names.flatMap((name) => [`/app/${name}/a`, "0", `/app/${name}/b`, "0"]));
  redis.command("hset", "/app/n3", "h", "0");
  for (const name of names) {
    scene.resource(name, {
      keys: [`/app/${name}`],
      template: `{{range gets "/app/${name}/*"}}{{.Key}}={{.Value}} {{end}}`,
    });
  }
  const text = (name: string, value: string): string =>
    [
      `/app/${name}/a=${value} /app/${name}/b=${value} `,
      ...(name === "n3" ? [`/app/${name}/h=${value} `] : []),
    ].join("");
  watch();
  for (const name of names) await becomes(scene, name, text(name, "0"));
  redis.command("config", "resetstat");
  redis.command("hset", "/app/n3", "h", "1");
  redis.command("mset", ...names.flatMap((name) => [`/app/${name}/a`, "1", `/app/${name}/b`, "1"]));
  for (const name of names) await becomes(scene, name, text(name, "1"));
  redis.command("del", "/app/n5/a", "/app/n5/b");
  redis.command("rename", "/app/n6/a", "/app/n5/c");
  await becomes(scene, "n5", "/app/n5/c=1 ");
  await becomes(scene, "n6", "/app/n6/b=1 ");
  expect(scans()).toBeUndefined();
});

it("AS-15 CONFD-REDIS-10 CONFD-WATCH-4 two resources on one connection both end with their last value", async () => {
  scene.resource("a", { keys: ["/a"], template: '{{getv "/a" "-"}}' });
  scene.resource("b", { keys: ["/b"], template: '{{getv "/b" "-"}}' });
  watch();
  await becomes(scene, "b", "-");
  for (let i = 0; i < 50; i++) {
    set("/a", `a${i}`);
    set("/b", `b${i}`);
  }
  await becomes(scene, "a", "a49");
  await becomes(scene, "b", "b49");
});

it("CONFD-REDIS-9 CONFD-WATCH-9 what changed while the server restarted is read", async () => {
  app();
  set("/app/a", "1");
  const agent = watch();
  await becomes(scene, "out", "a=1 ");
  set("/app/a", "2");
  await becomes(scene, "out", "a=2 ");
  await redis.kill();
  await eventually(agent.log, (log) => log.includes("watch of redis"));
  agent.signal("SIGSTOP");
  await redis.start();
  set("/app/a", "3");
  agent.signal("SIGCONT");
  await becomes(scene, "out", "a=3 ");
  set("/app/a", "4");
  await becomes(scene, "out", "a=4 ");
});

it("AS-15 CONFD-REDIS-7 a server that tells nothing is named, and read again and again", async () => {
  redis.command("config", "set", "notify-keyspace-events", "");
  app();
  set("/app/a", "1");
  const agent = watch("--interval", "1");
  await becomes(scene, "out", "a=1 ");
  expect(agent.log()).toContain(
    "set notify-keyspace-events to Kg$hxe there, or start with -redis-configure-notifications",
  );
  set("/app/a", "2");
  await becomes(scene, "out", "a=2 ");
  await agent.stop();
  watch("--redis-configure-notifications");
  await eventually(
    () => redis.command("config", "get", "notify-keyspace-events"),
    (text) => /[$]/.test(text),
  );
  set("/app/a", "3");
  await becomes(scene, "out", "a=3 ");
});

it("CONFD-REDIS-8 CONFD-WATCH-14 a flush, which Redis does not tell of, is found by a comparison", async () => {
  app();
  set("/app/a", "1");
  const agent = watch("--resync-interval", "1s");
  await becomes(scene, "out", "a=1 ");
  redis.command("flushdb");
  await becomes(scene, "out", "");
  await eventually(agent.log, (log) => log.includes("had not told"));
});

it("CONFD-REDIS-2 CONFD-REDIS-3 password, its old place, and another separator", async () => {
  await redis.close();
  redis = await startRedis([...NOTICES, "--requirepass", "s3cr3t"]);
  redis.command("set", "app:a", "1");
  app();
  const run = (...more: string[]) => scene.run(args("--onetime", "--separator", ":", ...more));
  const refused = await run();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("NOAUTH");
  expect((await run("--password", "s3cr3t")).code).toBe(0);
  expect(scene.read("out")).toBe("a=1 ");
  const old = await run("--client-key", "s3cr3t");
  expect(old.code).toBe(0);
  expect(old.stderr).toContain("client-key is taken as the password");
  watch("--separator", ":", "--password", "s3cr3t");
  await becomes(scene, "out", "a=1 ");
  redis.command("set", "app:a", "2");
  await becomes(scene, "out", "a=2 ");
});

it("CONFD-REDIS-2 TLS: the right CA, none, and none wanted", async () => {
  await redis.close();
  redis = await startRedis(NOTICES, { tls: true });
  set("/app/a", "1");
  app();
  const run = (node: string, ...more: string[]) =>
    scene.run(["--backend", "redis", "--node", node, "--onetime", "--backend-timeout", "5s", ...more]);
  expect((await run(redis.address, "--client-ca-keys", redis.caFile)).code).toBe(0);
  expect(scene.read("out")).toBe("a=1 ");
  const unknown = await run(`rediss://${redis.address}`);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/self-signed certificate|unable to verify|unable to get/);
  expect((await run(`rediss://${redis.address}`, "--client-insecure")).code).toBe(0);
  watch("--client-ca-keys", redis.caFile);
  set("/app/a", "2");
  await becomes(scene, "out", "a=2 ");
});

it("CONFD-REDIS-2 CONFD-REDIS-7 a user of an ACL that may read and listen, but not see the configuration", async () => {
  redis.command(
    "acl",
    "setuser",
    "reader",
    "on",
    ">pw",
    "~/app*",
    "&*",
    "-@all",
    "+@read",
    "+@pubsub",
    "+@connection",
    "+info",
    "+select",
  );
  set("/app/a", "1");
  app();
  const agent = watch("--username", "reader", "--password", "pw", "--interval", "1");
  await becomes(scene, "out", "a=1 ");
  await eventually(agent.log, (log) => log.includes("cannot ask for notify-keyspace-events"));
  set("/app/a", "2");
  await becomes(scene, "out", "a=2 ");
  expect(agent.log()).not.toContain("pw");
  const wrong = await scene.run(args("--onetime", "--username", "reader", "--password", "wrong"));
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("WRONGPASS") });
});

it("CONFD-REDIS-1 CONFD-REDIS-9 CONFD-WATCH-9 the next node is used when the first goes, with what changed there", async () => {
  const replica = await startRedis([...NOTICES, "--replicaof", "127.0.0.1", redis.address.split(":")[1]!]);
  try {
    set("/app/a", "1");
    app();
    watch("--node", replica.address);
    await becomes(scene, "out", "a=1 ");
    await eventually(
      () => replica.command("get", "/app/a"),
      (value) => value === "1",
    );
    await redis.kill();
    replica.command("replicaof", "no", "one");
    replica.command("set", "/app/a", "2");
    await becomes(scene, "out", "a=2 ");
    replica.command("set", "/app/a", "3");
    await becomes(scene, "out", "a=3 ");
  } finally {
    await replica.close();
  }
});
