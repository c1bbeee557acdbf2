/** Files, variables and nodes as sources. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { loadSettings } from "../config/settings.ts";
import { nodesOf } from "./discovery.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());
const ALL = '{{range gets "/*"}}{{.Key}}={{.Value}};{{end}}{{range gets "/*/*"}}{{.Key}}={{.Value}};{{end}}';
const values = async (files: readonly string[], ...more: readonly string[]): Promise<string> => {
  scene.resource("out", { keys: ["/"], template: ALL });
  const named = files.flatMap((file) => ["--file", scene.path(file)]);
  const { code, stderr } = await scene.run(["--onetime", "--backend", "file", ...named, ...more]);
  return code === 0 ? scene.read("out") : stderr;
};

it("CONFD-FBE-1 CONFD-FBE-2 later files hold, folders are read through, dot names and others are left out", async () => {
  scene.write("one.json", '{"a": "1", "b": "1"}');
  scene.write("folder/b.yaml", "b: 2\nc: 2\n---\nc: second document\n");
  scene.write("folder/deep/a", "c: 3\n");
  scene.write("folder/.hidden.yaml", "c: 4\n");
  scene.write("folder/x.txt", "d: 1\n");
  expect(await values(["one.json", "folder"])).toBe("/a=1;/b=2;/c=3;/d=1;");
  expect(await values(["folder", "one.json"], "--filter", "*.yaml")).toBe("/a=1;/b=1;/c=2;");
});

it("CONFD-FBE-3 CONFD-FBE-4 values are what stands in the file", async () => {
  scene.write(
    "v.yaml",
    [
      "port: 0644",
      "v: 1.10",
      'q: "1.10"',
      "b: yes",
      "t: true",
      "big: 123456789012345678901234567890",
      "huge: 1e21",
      "none: null",
      "empty: {}",
      "list: [x, y]",
      "5: number",
      "",
    ].join("\n"),
  );
  expect(await values(["v.yaml"])).toBe(
    "/5=number;/b=yes;/big=123456789012345678901234567890;/huge=1000000000000000000000;/port=420;/q=1.10;/t=true;/v=1.1;/list/0=x;/list/1=y;",
  );
});

it("CONFD-FBE-6 anchors and merge keys work, and a bomb of aliases is refused", async () => {
  scene.write("m.yaml", "base: &b {x: 1, y: 2}\nother: {<<: *b, y: 3}\n");
  expect(await values(["m.yaml"])).toBe("/base/x=1;/base/y=2;/other/x=1;/other/y=3;");
  const levels = Array.from(
    { length: 9 },
    (_, i) => `l${i + 1}: &l${i + 1} [${Array(10).fill(`*l${i}`).join(", ")}]`,
  );
  scene.write("bomb.yaml", `l0: &l0 x\n${levels.join("\n")}\n`);
  expect(await values(["bomb.yaml"])).toMatch(/bomb\.yaml.*alias/);
});

it("CONFD-BE-2 CONFD-BE-3 CONFD-BE-4 CONFD-FBE-5 a key is itself and what is below it; a file that is wrong gives nothing", async () => {
  scene.write("v.json", '{"foo": {"a": "2"}, "foobar": "3"}');
  scene.resource("out", { keys: ["/foo", "/missing"], template: ALL });
  const args = ["--onetime", "--backend", "file", "--file", scene.path("v.json")];
  expect((await scene.run(args)).code).toBe(0);
  expect(scene.read("out")).toBe("/foo/a=2;");
  scene.write("w.json", '{"foo": ');
  const { code, stderr } = await scene.run([...args, "--file", scene.path("w.json")]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/w\.json:1:\d+/);
  expect(scene.read("out")).toBe("/foo/a=2;");
});

it("CONFD-ENVB-2 of two variables for one key the last one holds, with a warning", async () => {
  scene.resource("out", { keys: ["/a"], template: ALL });
  const { stderr } = await scene.run(["--onetime", "--backend", "env"], { A_B: "1", A__B: "2", A_B_: "3" });
  expect(scene.read("out")).toContain("/a/b=");
  expect(stderr).toContain("are the same");
});

it("CONFD-STORE-2 CONFD-STORE-4 the clean one of two names for a key holds, with a warning", async () => {
  scene.write("v.json", '{"a": {"b": "clean"}, "a/./b": "other"}');
  expect(await values(["v.json"])).toBe("/a/b=clean;");
});

it("CONFD-BE-7 -preflight asks and reads everything, and writes nothing", async () => {
  scene.write("v.json", '{"a": "1"}');
  scene.resource("a", { keys: ["/a"], template: "x" });
  scene.resource("none", { keys: ["/none"], template: "x" });
  const run = (file: string) => scene.run(["--preflight", "--backend", "file", "--file", scene.path(file)]);
  const good = await run("v.json");
  expect(good.code).toBe(0);
  expect(good.stderr).toContain("none.toml: no keys found");
  expect((await run("gone.json")).code).toBe(1);
  expect(scene.exists("a")).toBe(false);
});

it("CONFD-CFG-9 CONFD-CFG-10 nodes are as given, those of SRV records, or the usual ones", async () => {
  const { settings } = loadSettings(new Map(), {});
  const nodes = (more: object, environment = {}, found = [{ name: "a.example.", port: 1 }]) =>
    nodesOf({ ...settings, ...more }, environment, async (record) => {
      if (record !== "_etcd._tcp.example.com." && record !== "own.") throw new Error(`asked for ${record}`);
      return found;
    });
  expect(await nodes({ backend: "etcd" })).toEqual(["127.0.0.1:2379"]);
  expect(await nodes({ backend: "etcdv3" }, { ETCDCTL_ENDPOINTS: "a:1,b:2" })).toEqual(["a:1", "b:2"]);
  expect(await nodes({ backend: "etcd" }, { ETCDCTL_PEERS: "c:3" })).toEqual(["c:3"]);
  expect(await nodes({ backend: "redis" })).toEqual(["127.0.0.1:6379"]);
  expect(await nodes({ backend: "consul" })).toEqual(["127.0.0.1:8500"]);
  expect(await nodes({ backend: "vault" })).toEqual(["http://127.0.0.1:8200"]);
  const srv = { backend: "etcd", srvDomain: "example.com", nodes: ["x:1"], scheme: "https" };
  expect(await nodes(srv)).toEqual(["https://a.example:1"]);
  expect(await nodes({ backend: "redis", srvRecord: "own." })).toEqual(["a.example:1"]);
  expect(await nodes({ backend: "env", srvDomain: "example.com" })).toEqual([]);
  await expect(nodes(srv, {}, [])).rejects.toThrow(
    "Cannot get nodes from SRV records _etcd._tcp.example.com.",
  );
});
