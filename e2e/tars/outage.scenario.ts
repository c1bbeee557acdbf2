/** What goes on while no manager answers, and the way out of v1beta3 as a stored version. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "@quartet/manager";
import { tarsModule } from "@quartet/tars-tserver";
import { eventually } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GROUND_MS, openTarsGround, type TarsGround } from "./support/ground.ts";
import { APPS, ECHO, echoSpec, type LiveObject, openScene, type Scene } from "./support/scene.ts";

let ground: TarsGround;
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

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const REGISTRATIONS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/** No manager runs during the work, but the API server calls its webhooks, as where a chart has registered them. */
async function whileDown(work: () => Promise<void>): Promise<void> {
  const registered: { path: string; object: LiveObject }[] = [];
  for (const plural of REGISTRATIONS) {
    const path = `${ADMISSION}/${plural}`;
    const { items } = await ground.client.ok<{ items: LiveObject[] }>("GET", path);
    for (const { metadata, webhooks } of items) {
      registered.push({ path, object: { metadata: { name: metadata.name }, webhooks } });
    }
  }
  await ground.without(async () => {
    for (const { path, object } of registered) await ground.client.ok("POST", path, object);
    await eventually(async () => expect(await scene.patch("TTree", "tars-tree", {})).toMatchObject(DOWN));
    await work();
    for (const { path, object } of registered) {
      await ground.client.ok("DELETE", `${path}/${object.metadata.name}`);
    }
  });
}

const V1BETA3 = "k8s.tars.io/v1beta3";
const DOWN = { code: 500, message: expect.stringContaining("failed calling webhook") };

it(
  "TARS-API-002 TARS-R-022 while the webhooks are down writes are refused, what is there is read, deleted and left as it is, and later all goes on",
  async () => {
    await scene.create("TServer", ECHO, { spec: echoSpec() });
    await eventually(() => scene.get("StatefulSet", ECHO, APPS));
    await whileDown(async () => {
      const more = { app: "Demo", server: "EchoServer", configName: "a.conf", configContent: "-" };
      expect(await scene.patch("TServer", ECHO, { spec: { important: 4 } })).toMatchObject(DOWN);
      expect(await scene.create("TConfig", "a", more)).toMatchObject(DOWN);
      expect(await scene.delete("TTemplate", "tt.cpp")).toMatchObject(DOWN);
      // Read as it is stored, no conversion is needed (D1).
      expect((await scene.get("TServer", ECHO)).spec.important).toBe(3);
      expect((await scene.get("TEndpoint", ECHO, V1BETA3)).spec.app).toBe("Demo");
      expect((await scene.delete("TServer", ECHO)).code).toBe(200);
    });
    await eventually(async () => expect(await scene.find("StatefulSet", ECHO, APPS)).toBeUndefined());
    expect((await scene.create("TServer", ECHO, { spec: echoSpec() })).code).toBe(201);
    await eventually(() => scene.get("StatefulSet", ECHO, APPS));
  },
  GROUND_MS,
);

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CRD = `${CRDS}/tservers.k8s.tars.io`;
interface Definition {
  readonly spec: { readonly versions: readonly { readonly name: string }[] };
  readonly status: { readonly storedVersions: readonly string[] };
}
const storedVersions = async (): Promise<readonly string[]> =>
  (await ground.client.ok<Definition>("GET", CRD)).status.storedVersions;

/** As the peer's definition has it, or ours. */
async function store(version: string): Promise<void> {
  const { spec } = await ground.client.ok<Definition>("GET", CRD);
  const versions = spec.versions.map((one) => ({ ...one, storage: one.name === version }));
  const contentType = "application/merge-patch+json";
  await ground.client.ok("PATCH", CRD, { spec: { versions } }, { contentType });
  await eventually(async () => expect(await storedVersions()).toContain(version));
}

async function migrateStorage(): Promise<{ code: number; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), "quartet-tars-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await ground.server.kubeconfig(), { mode: 0o600 });
  let output = "";
  const write = (text: string) => (output += text);
  try {
    const code = await runCli({
      args: ["tars", "migrate-storage", `--kubeconfig=${kubeconfig}`],
      env: {},
      modules: [tarsModule],
      stdout: { write },
      stderr: { write },
      onSignal: () => () => {},
      exit: () => {},
    });
    return { code, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

it("TARS-X-007 what was stored as v1beta3 is read, written anew, and v1beta3 is no stored version any more", async () => {
  await store("v1beta3");
  const k8s = { abilityAffinity: "None", readinessGates: ["tars.io/active", "mine"], command: ["run"] };
  expect((await scene.create("TServer", ECHO, { spec: echoSpec(k8s) }, V1BETA3)).code).toBe(201);
  await store("v1beta2");
  expect([...(await storedVersions())].sort()).toEqual(["v1beta2", "v1beta3"]);
  const before = await scene.get("TServer", ECHO);
  expect(before.spec.k8s.readinessGate).toBe("tars.io/active");

  const since = Date.now();
  const { code, output } = await migrateStorage();
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/tservers.k8s.tars.io: \d+ objects are stored as v1beta2/),
  ]);
  expect(await storedVersions()).toEqual(["v1beta2"]);
  await eventually(async () => {
    const writes = await ground.server.requests({ since, verb: "update", resource: "tservers" });
    expect(writes.map(({ name }) => name)).toContain(ECHO);
  });
  expect((await scene.get("TServer", ECHO)).spec).toEqual(before.spec);
  expect((await scene.get("TServer", ECHO, V1BETA3)).spec.k8s).toMatchObject(k8s);
});
