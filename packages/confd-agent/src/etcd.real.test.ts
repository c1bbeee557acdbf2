/** The agent on a real etcd server. */
import { statSync } from "node:fs";
import { expect } from "vitest";
import { becomes, eventually, type Scene } from "./agent.testkit.ts";
import { type EtcdServer, startEtcd } from "./servers.testkit.ts";
import { stagedTests } from "./stage.testkit.ts";

const it = stagedTests("etcdv3", () => startEtcd());

const DATABASE = { host: "127.0.0.1", password: "p@sSw0rd", port: "3306", username: "confd" };
const DS = {
  "/key": "foobar",
  ...Object.fromEntries(
    ["", "/prefix"].flatMap((prefix) =>
      Object.entries(DATABASE).map(([key, value]) => [`${prefix}/database/${key}`, value]),
    ),
  ),
  ...Object.fromEntries(
    ["", "/prefix"].flatMap((prefix) =>
      [1, 2].map((n) => [`${prefix}/upstream/app${n}`, `10.0.1.1${n - 1}:8080`]),
    ),
  ),
  ...Object.fromEntries(
    ["production:10.0.1", "staging:172.16.1"].flatMap((entry) => {
      const [stage, net] = entry.split(":");
      return [1, 2].map((n) => [`/nested/${stage}/app${n}`, `${net}.1${n - 1}:8080`]);
    }),
  ),
};

/** Keys and a resource of those tests that follow changes. */
const prepare = async (scene: Scene, put: EtcdServer["put"]): Promise<void> => {
  await put({ "/app/name": "one", "/app/port": "80", "/apple": "no" });
  scene.resource("out", {
    keys: ["/app"],
    template: '{{getv "/app/name"}}:{{getv "/app/port"}}',
    lines: ['reload_cmd = "echo r >> {}/reloads"'],
  });
};

it("AS-1 CONFD-BE-4 CONFD-READ-1 the peer's own integration suite", async ({ scene, server, args }) => {
  await server.put(DS);
  const basic =
    'hostname: {{getenv "HOSTNAME"}}\n[database]\nhost={{getv "/database/host"}}\npassword={{getv "/database/password"}}\nport={{getv "/database/port"}}\nusername={{getv "/database/username"}}\n';
  const keys = Object.keys(DATABASE).map((key) => `/database/${key}`);
  scene.resource("basic", { keys, template: basic, lines: ['mode = "0644"'] });
  scene.resource("manykeys", { keys: Array.from({ length: 48 }, () => keys).flat(), template: basic });
  scene.resource("exists", {
    keys: ["/key"],
    template:
      '{{if exists "/key"}}value: {{getv "/key"}}\n{{end}}{{if exists "/doesnotexist"}}value: {{getv "/doesnotexist"}}{{end}}',
  });
  scene.resource("iteration", {
    keys: ["/upstream"],
    template: 'upstream app {\n{{range gets "/upstream/*" -}}\n{{"    "}}server {{.Value}};\n{{end -}}\n}\n',
  });
  scene.resource("nested", {
    keys: ["/nested"],
    template:
      '{{range gets "/nested/production/*"}}{{range gets .Key}}{{base .Key}}={{.Value}}\n{{end}}{{end}}',
  });
  const { code, stderr } = await scene.run(args("--onetime", "--watch", "--log-level", "debug"));
  expect([code, stderr.includes("ERROR")]).toEqual([0, false]);
  const expected =
    "hostname: localhost\n[database]\nhost=127.0.0.1\npassword=p@sSw0rd\nport=3306\nusername=confd\n";
  expect(scene.read("basic")).toBe(expected);
  expect(scene.read("manykeys")).toBe(expected);
  expect(scene.read("exists")).toBe("value: foobar\n");
  expect(scene.read("iteration")).toBe(
    "upstream app {\n    server 10.0.1.10:8080;\n    server 10.0.1.11:8080;\n}\n",
  );
  expect(scene.read("nested")).toBe("app1=10.0.1.10:8080\napp2=10.0.1.11:8080\n");
  expect(statSync(scene.path("basic")).mode & 0o777).toBe(0o644);
});

it("AS-3 CONFD-READ-3 CONFD-READ-4 CONFD-READ-8 300 keys read in parts are of one revision", async ({
  scene,
  server,
  watch,
}) => {
  const all = (value: number) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`/k/${i}`, String(value)]));
  await server.put(all(0));
  const keys = Array.from({ length: 300 }, (_, i) => `/k/${i}`);
  scene.resource("out", {
    keys,
    template: '{{range getvs "/k/*"}}{{.}} {{end}}',
    lines: ["check_cmd = \"test $(tr ' ' '\\\\n' < {{.src}} | sort -u | grep -c .) -eq 1\""],
  });
  const agent = watch("--etcd-max-txn-ops", "2000");
  await eventually(() => scene.exists("out"), Boolean);
  for (let value = 1; value <= 30; value++) await server.put(all(value));
  await becomes(scene, "out", "30 ".repeat(100));
  expect(agent.log()).not.toContain("Config check failed");
  expect(agent.log()).not.toContain("too many operations");
});

it("AS-4 CONFD-WATCH-5 CONFD-WATCH-3 CONFD-WATCH-13 each change arrives, several of one transaction are one run", async ({
  scene,
  server,
  watch,
  lines,
}) => {
  await prepare(scene, server.put);
  const agent = watch();
  await becomes(scene, "out", "one:80");
  for (let counter = 0; counter < 4; counter++) {
    await server.put({ "/app/name": String(counter), "/app/port": String(counter) });
    await becomes(scene, "out", `${counter}:${counter}`);
  }
  await server.put({ "/apple": "changed" });
  await server.remove("/app/port");
  await eventually(agent.log, (log) => log.includes("key does not exist: /app/port"));
  expect(scene.read("out")).toBe("3:3");
  await server.put({ "/app/port": "81" });
  await becomes(scene, "out", "3:81");
  expect((await agent.stop()).code).toBe(0);
  expect(lines("reloads")).toBe(6);
});

it("AS-6 CONFD-WATCH-9 CONFD-WATCH-10 goes on after a restart of the server", async ({
  scene,
  server,
  watch,
}) => {
  await prepare(scene, server.put);
  const agent = watch();
  await becomes(scene, "out", "one:80");
  await server.kill();
  await eventually(agent.log, (log) => log.includes("watch of etcdv3"));
  expect(scene.read("out")).toBe("one:80");
  await server.start();
  await server.put({ "/app/name": "two" });
  await becomes(scene, "out", "two:80");
});

it("AS-6 CONFD-WATCH-8 notices a store that begins anew", async ({ scene, server, watch }) => {
  await prepare(scene, server.put);
  for (let i = 0; i < 5; i++) await server.put({ "/app/name": `n${i}` });
  const agent = watch();
  await becomes(scene, "out", "n4:80");
  await server.kill();
  server.wipe();
  await server.start();
  await server.put({ "/app/name": "fresh", "/app/port": "1" });
  await becomes(scene, "out", "fresh:1");
  await eventually(agent.log, (log) => log.includes("backend history was reset"));
  await server.put({ "/app/name": "again" });
  await becomes(scene, "out", "again:1");
});

it("AS-7 CONFD-WATCH-7 what was compacted while the agent stood still is read anew", async ({
  scene,
  server,
  watch,
}) => {
  await prepare(scene, server.put);
  const agent = watch();
  await becomes(scene, "out", "one:80");
  agent.signal("SIGSTOP");
  for (let i = 0; i < 50; i++) await server.put({ "/app/name": `n${i}` });
  await server.compact();
  agent.signal("SIGCONT");
  await becomes(scene, "out", "n49:80");
  expect(agent.log()).not.toContain("ERROR");
});

it("AS-7 CONFD-WATCH-7 what was compacted during an outage is read anew", async ({
  scene,
  server,
  watch,
}) => {
  await prepare(scene, server.put);
  const agent = watch();
  await becomes(scene, "out", "one:80");
  await server.kill();
  await eventually(agent.log, (log) => log.includes("watch of etcdv3"));
  agent.signal("SIGSTOP");
  await server.start();
  for (let i = 0; i < 5; i++) await server.put({ "/app/name": `n${i}` });
  await server.compact();
  agent.signal("SIGCONT");
  await becomes(scene, "out", "n4:80");
  await server.put({ "/app/name": "last" });
  await becomes(scene, "out", "last:80");
});

it("CONFD-PROC-11 waits for a server that is not there at the start", async ({
  scene,
  server,
  args,
  watch,
}) => {
  await prepare(scene, server.put);
  await server.kill();
  const failing = await scene.run(args("--onetime", "--dial-timeout", "500ms"));
  expect(failing.code).toBe(1);
  expect(failing.stderr).toContain(server.address);
  const agent = watch("--dial-timeout", "500ms");
  await eventually(agent.log, (log) => log.includes("ERROR"));
  await server.start();
  await becomes(scene, "out", "one:80");
});

it("CONFD-ETCD-6 uses the next member when one is away", async ({ scene, server }) => {
  await prepare(scene, server.put);
  const agent = scene.start([
    "--backend",
    "etcd",
    "--node",
    "127.0.0.1:1",
    "--node",
    server.address,
    "--watch",
    "--dial-timeout",
    "500ms",
  ]);
  await becomes(scene, "out", "one:80");
  await server.put({ "/app/name": "two" });
  await becomes(scene, "out", "two:80");
  expect((await agent.stop()).code).toBe(0);
});

it("AS-16 50 resources with one key and one reload are written once each, with one reload", async ({
  scene,
  server,
  watch,
  lines,
}) => {
  await prepare(scene, server.put);
  for (let i = 0; i < 50; i++) {
    scene.resource(`many${i}`, {
      keys: ["/app/name"],
      template: '{{getv "/app/name"}}',
      lines: ['reload_cmd = "echo many >> {}/many-reloads"'],
    });
  }
  watch();
  await eventually(
    () => lines("many-reloads"),
    (count) => count === 1,
  );
  await server.put({ "/app/name": "two" });
  for (let i = 0; i < 50; i++) await becomes(scene, `many${i}`, "two");
  await eventually(
    () => lines("many-reloads"),
    (count) => count >= 2,
  );
  expect(lines("many-reloads")).toBe(2);
});

it("CONFD-STORE-3 CONFD-READ-7 large values and odd bytes arrive as they are", async ({
  scene,
  server,
  args,
}) => {
  await prepare(scene, server.put);
  const large = "é\"'\n".repeat(200_000);
  for (let i = 0; i < 5; i++) await server.put({ [`/big/${i}`]: large.slice(0, 790_000 - i) });
  scene.resource("big", { keys: ["/big"], template: '{{range gets "/big/*"}}{{.Value}}{{end}}' });
  const { code } = await scene.run(args("--onetime"));
  expect(code).toBe(0);
  expect(scene.read("big")).toBe([0, 1, 2, 3, 4].map((i) => large.slice(0, 790_000 - i)).join(""));
});

it("CONFD-ETCD-11 keys without a leading slash", async ({ scene, server, args }) => {
  await server.put({ "stolon/c/x": "1", "stolon/c": "0", "/stolon/c/x": "no" });
  scene.resource("out", {
    keys: ["/stolon/c"],
    template: '{{range gets "/stolon/*"}}{{.Key}}={{.Value}} {{end}}{{getv "/stolon/c/x"}}',
  });
  expect((await scene.run(args("--onetime", "--strip-leading-slash"))).code).toBe(0);
  expect(scene.read("out")).toBe("/stolon/c=0 1");
});
