/** The other kinds: configurations, templates, trees, accounts, images, requests (acceptance S-12 to S-18). */
import { createHash } from "node:crypto";
import type { Ground } from "@quartet/tars-tserver/testkit";
import type { Json } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GROUND_MS, openTarsGround } from "./support/ground.ts";
import { APPS, ECHO, echoSpec, type LiveObject, openScene, type Scene } from "./support/scene.ts";

let ground: Ground;
let scene: Scene;
let number = 0;
beforeAll(async () => {
  ground = await openTarsGround();
}, GROUND_MS);
afterAll(() => ground.close(), GROUND_MS);
beforeEach(async () => {
  scene = await openScene(await ground.openPlace(number++));
});
afterEach(() => scene.close());

const config = (name: string, more: Json = {}) =>
  scene.create("TConfig", name, {
    ...{ app: "Demo", server: "EchoServer", configName: "echo.conf", configContent: name },
    ...more,
  });
const names = (objects: readonly LiveObject[]): string[] =>
  objects.map(({ metadata }) => metadata.name).sort();
/** What a consumer reads: active, and with no mark. */
async function inForce(): Promise<string[]> {
  const all = await scene.list("TConfig");
  return names(
    all.filter(
      ({ activated, metadata: { labels } }) =>
        activated === true && !("tars.io/Deactivate" in labels) && !("tars.io/Deleting" in labels),
    ),
  );
}

it("TARS-S-12 TARS-M-030 TARS-V-043 TARS-V-044 labels of a configuration are kept, its content cannot change", async () => {
  await scene.create("TConfig", "app-conf", {
    ...{ app: "Demo", configName: "app.conf", configContent: "x", activated: false, version: "mine" },
  });
  const { metadata, version, updateTime } = await scene.get("TConfig", "app-conf");
  expect(version).toMatch(/^\d{14}-[0-9a-f]+$/);
  expect(updateTime).toMatch(/Z$/);
  expect(metadata.labels).toEqual({
    "tars.io/ServerApp": "Demo",
    "tars.io/ServerName": "",
    "tars.io/ConfigName": "app.conf",
    "tars.io/PodSeq": "m",
    "tars.io/Activated": "false",
    "tars.io/Version": version,
  });
  const change = (body: Json) => scene.patch("TConfig", "app-conf", body);
  for (const label of Object.keys(metadata.labels)) {
    await change({ metadata: { labels: { [label]: "changed" } } });
    await change({ metadata: { labels: { [label]: null } } });
  }
  expect((await scene.get("TConfig", "app-conf")).metadata.labels).toEqual(metadata.labels);
  for (const body of [{ app: "Other" }, { podSeq: "1" }, { configName: "b.conf" }, { configContent: "y" }]) {
    expect(await change(body)).toMatchObject({ code: 400, message: expect.stringContaining("immutable") });
  }
  expect((await change({ activated: true })).code).toBe(200);
  expect(await change({ activated: false })).toMatchObject({
    code: 400,
    message: expect.stringContaining("only use authorized account can update"),
  });
});

it("TARS-S-13 TARS-R-050 TARS-R-054 TARS-V-049 versions take each other's place, back and forth, and go together", async () => {
  await config("v1");
  const twice: string[][] = [];
  const watching = { on: true };
  const watch = (async () => {
    while (watching.on) {
      const now = await inForce();
      if (now.length > 1) twice.push(now);
    }
  })();
  await config("v2");
  await eventually(async () => {
    expect(await inForce()).toEqual(["v2"]);
    const { activated, metadata } = await scene.get("TConfig", "v1");
    expect([activated, metadata.labels["tars.io/Activated"]]).toEqual([false, "false"]);
    expect(metadata.labels).not.toHaveProperty(["tars.io/Deactivate"]);
  });
  const { version } = await scene.get("TConfig", "v1");
  expect((await scene.patch("TConfig", "v1", { activated: true })).code).toBe(200);
  await eventually(async () => {
    expect(await inForce()).toEqual(["v1"]);
    expect((await scene.get("TConfig", "v2")).activated).toBe(false);
  });
  expect(await scene.get("TConfig", "v1")).toMatchObject({ version, configContent: "v1" });
  watching.on = false;
  await watch;
  expect(twice).toEqual([]);
  expect((await scene.delete("TConfig", "v1")).code).toBe(200);
  await eventually(async () => expect(await scene.list("TConfig")).toEqual([]));
});

it("TARS-S-13 TARS-R-056 TARS-R-057 the history has an end, which may be brought forward", async () => {
  const framework = (tconfigHistory: number) => ({ recordLimit: { tconfigHistory } });
  await scene.create("TFrameworkConfig", "tars-framework", {
    ...framework(12),
    nodeImage: { image: "r.example/node:v1" },
    imageRegistry: { registry: "r.example/t" },
  });
  for (let n = 1; n <= 14; n += 1) {
    await config(`v${String(n).padStart(2, "0")}`);
    await eventually(async () => expect(await inForce()).toEqual([`v${String(n).padStart(2, "0")}`]));
  }
  await eventually(async () => expect(await scene.list("TConfig")).toHaveLength(13));
  await scene.patch("TFrameworkConfig", "tars-framework", framework(10));
  await eventually(async () => expect(await scene.list("TConfig")).toHaveLength(11));
  expect(await inForce()).toEqual(["v14"]);
});

it("TARS-R-055 TARS-R-052 of activations at the same time one is left in force", async () => {
  await config("v0");
  const answers = await Promise.all(["a", "b", "c", "d"].map((name) => config(name)));
  expect(answers.map(({ code }) => code)).toEqual([201, 201, 201, 201]);
  await eventually(async () => {
    const active = (await scene.list("TConfig")).filter(({ activated }) => activated);
    expect(active).toHaveLength(1);
    expect(await inForce()).toHaveLength(1);
  });
  expect((await config("e")).code).toBe(201);
  await eventually(async () => expect(await inForce()).toEqual(["e"]));
});

it("TARS-API-006 TARS-V-046 a dry run of a new version leaves the one in force as it is", async () => {
  await config("v1");
  const { resourceVersion } = (await scene.get("TConfig", "v1")).metadata;
  const body = { app: "Demo", server: "EchoServer", configName: "echo.conf", configContent: "v2" };
  expect((await scene.create("TConfig", "v2", body, undefined, "?dryRun=All")).code).toBe(201);
  await scene.create("TConfig", "other", { ...body, configName: "b.conf" });
  expect((await scene.get("TConfig", "v1")).metadata.resourceVersion).toBe(resourceVersion);
  expect(await inForce()).toEqual(["other", "v1"]);
});

it("TARS-R-051 a mark that no other version explains is taken off again", async () => {
  await config("v1");
  await scene.patch("TConfig", "v1", { metadata: { labels: { "tars.io/Deactivate": "Deactivating" } } });
  expect(await inForce()).toEqual([]);
  await eventually(async () => expect(await inForce()).toEqual(["v1"]));
});

it("TARS-S-14 TARS-V-041 TARS-V-042 TARS-V-048 a configuration of one pod needs its master", async () => {
  expect((await config("slave", { podSeq: "1" })).message).toContain("no activated master tconfig found");
  expect((await config("slave", { podSeq: "1", server: "" })).message).toContain("app level");
  await config("master");
  expect((await config("slave", { podSeq: "1" })).code).toBe(201);
  expect((await config("slave2", { podSeq: "2" })).code).toBe(201);
  await eventually(async () =>
    expect((await scene.delete("TConfig", "master")).message).toContain("reference"),
  );
  expect((await scene.delete("TConfig", "slave")).code).toBe(200);
  await eventually(async () => expect(names(await scene.list("TConfig"))).toEqual(["master", "slave2"]));
  await scene.delete("TConfig", "slave2");
  await eventually(async () => expect((await scene.delete("TConfig", "master")).code).toBe(200));
});

it("TARS-S-15 TARS-V-056 TARS-V-057 TARS-V-058 templates that are used stay, and never go in a circle", async () => {
  const template = (name: string, parent: string) =>
    scene.create("TTemplate", name, { spec: { content: "", parent } });
  await template("tt.default", "tt.default");
  expect((await template("tt.child", "tt.default")).code).toBe(201);
  expect((await scene.get("TTemplate", "tt.child")).metadata.labels).toEqual({
    "tars.io/Parent": "tt.default",
  });
  expect((await scene.get("TTemplate", "tt.default")).metadata.labels).toBeUndefined();
  await scene.create("TServer", ECHO, { spec: echoSpec() });
  await eventually(async () => {
    expect((await scene.delete("TTemplate", "tt.default")).message).toContain("reference by some ttemplate");
    expect((await scene.delete("TTemplate", "tt.cpp")).message).toContain("reference by some tserver");
  });
  const circle = await scene.patch("TTemplate", "tt.default", { spec: { parent: "tt.child" } });
  expect(circle).toMatchObject({
    code: 400,
    message: expect.stringContaining("tt.default -> tt.child -> tt.default"),
  });
  expect((await template("tt.lost", "none")).message).toContain("not exist");
});

it("TARS-S-15 TARS-M-049 TARS-V-065 TARS-V-067 a tree has one name, known businesses, and the applications in use", async () => {
  const business = (name: string) => ({ name, show: name, weight: 1 });
  const tree = (body: Json) => scene.patch("TTree", "tars-tree", body);
  expect((await scene.create("TTree", "other", { businesses: [], apps: [] })).code).toBe(400);
  const apps = [
    { name: "A", businessRef: "b1" },
    { name: "B", businessRef: "b2" },
  ];
  expect((await tree({ businesses: [business("b1"), business("b2")], apps })).code).toBe(200);
  await tree({ businesses: [business("c1"), business("c2")] });
  const refs = async () =>
    (await scene.get("TTree", "tars-tree")).apps.map(({ businessRef }: LiveObject) => businessRef);
  expect(await refs()).toEqual(["", ""]);
  expect((await tree({ apps: [{ name: "A" }] })).code).toBe(422);
  await tree({ apps: [{ name: "A", businessRef: "none" }] });
  expect(await refs()).toEqual([""]);
  await scene.create("TServer", ECHO, { spec: echoSpec() });
  await eventually(async () => expect(await refs()).toHaveLength(2));
  expect((await tree({ apps: [] })).message).toContain("apps[Demo]");
  expect((await scene.delete("TTree", "tars-tree")).code).toBe(400);
});

it("TARS-S-16 TARS-M-041 TARS-M-043 TARS-R-090 passwords are hashed, tokens go with them and with their time", async () => {
  const name = createHash("md5").update("admin").digest("hex");
  const authentication = { password: "secret-1" };
  const spec = { username: "admin", authentication, authorization: [] };
  expect((await scene.create("TAccount", "admin", { spec })).message).toContain("unexpected resource name");
  expect((await scene.create("TAccount", name, { spec })).code).toBe(201);
  const read = async () => (await scene.get("TAccount", name)).spec.authentication;
  const first = await read();
  expect(first.password).toBeUndefined();
  expect(first.bcryptPassword).toMatch(/^\$2a\$10\$/);
  const token = (id: string, ms: number) => ({
    name: id,
    content: "c",
    expirationTime: new Date(Date.now() + ms).toISOString().replace(/\.\d+/, ""),
  });
  const later = 3_600_000;
  const change = (body: Json) => scene.patch("TAccount", name, { spec: { authentication: body } });
  await change({ tokens: [token("t1", later), token("t2", later), token("t3", later)] });
  expect((await read()).tokens).toHaveLength(3);
  await change({ password: "secret-2" });
  const second = await read();
  expect([second.tokens, second.password]).toEqual([[], undefined]);
  expect(second.bcryptPassword).not.toBe(first.bcryptPassword);
  await change({ tokens: [token("t1", later)] });
  await change({ bcryptPassword: first.bcryptPassword });
  expect((await read()).tokens).toEqual([]);
  await change({ tokens: [token("soon", 3_000), token("later", later)] });
  await eventually(async () =>
    expect((await read()).tokens.map(({ name: id }: LiveObject) => id)).toEqual(["later"]),
  );
  expect((await change({ password: "kurz" })).message).toContain("password should match pattern");
});

it("TARS-S-17 TARS-M-047 TARS-M-048 TARS-R-085 releases are there once, a build that takes too long has failed", async () => {
  const releases = ["1", "1", "2", "2", "3", "2"].map((id, index) => ({
    id,
    image: `r.example/x:${id}-${index}`,
  }));
  await scene.create("TImage", "img", { imageType: "server", releases });
  const stored = async () => (await scene.get("TImage", "img")).releases;
  expect((await stored()).map(({ image }: LiveObject) => image)).toEqual([
    "r.example/x:1-0",
    "r.example/x:2-2",
    "r.example/x:3-4",
  ]);
  expect((await stored()).every(({ createTime }: LiveObject) => Date.parse(createTime) > 0)).toBe(true);
  await scene.patch("TImage", "img", {
    releases: (await stored()).map((one: Json) => ({ ...one, id: "1" })),
  });
  expect(await stored()).toHaveLength(1);
  const running = {
    id: "b1",
    baseImage: "r.example/base:1",
    image: "r.example/x:b1",
    createTime: "2024-01-01T00:00:00Z",
  };
  await scene.patch("TImage", "img", { build: { running } });
  await eventually(async () => {
    const { build } = await scene.get("TImage", "img");
    expect(build.running).toBeUndefined();
    expect(build.last).toMatchObject({ ...running, phase: "Failed", message: "task overtime" });
  });
});

it("TARS-S-18 TARS-R-060 TARS-V-076 TARS-V-077 an approved request becomes a server, once", async () => {
  const timer = {
    apply: {
      ...{ app: "Demo", server: "TimerServer", subType: "tars", mark: "m", person: "eve" },
      tars: { template: "tt.cpp", servants: [{ name: "TimerObj", port: 12000 }] },
      k8s: { replicas: 0 },
    },
    approve: { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" },
    deployed: true,
  };
  await scene.create("TDeploy", "demo-timer", timer);
  const read = () => scene.get("TDeploy", "demo-timer");
  const asked = await read();
  expect([asked.approve, asked.deployed]).toEqual([undefined, undefined]);
  expect(asked.metadata.labels).toEqual({ "tars.io/Approve": "Pending" });
  expect((await scene.patch("TDeploy", "demo-timer", { approve: timer.approve })).code).toBe(200);
  await eventually(async () => {
    const { deployed, metadata, apply } = await read();
    expect([deployed, metadata.labels["tars.io/Approve"], apply.mark]).toEqual([true, "Approved", "m"]);
    const { metadata: server } = await scene.get("TServer", "demo-timerserver");
    expect(server.ownerReferences).toBeUndefined();
    expect(await scene.find("StatefulSet", "demo-timerserver", APPS)).toBeDefined();
  });
  const change = async (body: Json) => (await scene.patch("TDeploy", "demo-timer", body)).message;
  expect(await change({ approve: { reason: "other" } })).toContain('"/approve" is immutable');
  expect(await change({ apply: { mark: "n" } })).toContain('"/apply" is immutable');
  expect(await change({ deployed: false })).toContain("only use authorized account");
  expect((await scene.create("TDeploy", "again", timer)).message).toContain("already exists");
  await scene.create("TDeploy", "no", { ...timer, apply: { ...timer.apply, server: "OtherServer" } });
  await scene.patch("TDeploy", "no", { approve: { ...timer.approve, result: false } });
  await scene.delete("TServer", "demo-timerserver");
  await eventually(async () =>
    expect(await scene.find("StatefulSet", "demo-timerserver", APPS)).toBeUndefined(),
  );
  expect((await scene.get("TDeploy", "no")).metadata.labels).toEqual({ "tars.io/Approve": "Reject" });
  expect(await scene.list("TServer")).toEqual([]);
});

it("TARS-R-062 TARS-V-078 two requests for one server that are approved at once make one server", async () => {
  const request = {
    apply: {
      ...{ app: "Demo", server: "TwinServer", subType: "normal" },
      ...{ normal: { ports: [] }, k8s: { replicas: 0 } },
    },
  };
  const approve = { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" };
  const both = ["twin-a", "twin-b"];
  for (const name of both) expect((await scene.create("TDeploy", name, request)).code).toBe(201);
  const answers = await Promise.all(both.map((name) => scene.patch("TDeploy", name, { approve })));
  expect(answers.filter(({ code }) => code === 200).length).toBeGreaterThan(0);
  for (const { code, message } of answers) if (code !== 200) expect(message).toContain("already exists");
  await eventually(async () => {
    expect(names(await scene.list("TServer"))).toEqual(["demo-twinserver"]);
    const requests = await scene.list("TDeploy");
    const approved = requests.filter((one) => one.approve !== undefined);
    expect(approved.map(({ deployed }) => deployed)).toEqual(approved.map(() => true));
  });
});
