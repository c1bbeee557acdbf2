/** Two managers: one of them leads, and the other one answers the API server's questions. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningManager, startManager } from "@quartet/manager";
import { tarsModule } from "@quartet/tars-tserver";
import { eventually } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GROUND_MS, MANAGER, openTarsGround, type TarsGround } from "./support/ground.ts";
import { APPS, ECHO, echoSpec, type LiveObject, openScene, type Scene } from "./support/scene.ts";

const V1BETA3 = "k8s.tars.io/v1beta3";
const ELECTION = ["--leader-elect=true", "--leader-election-namespace=quartet"];
const LEADER = "leader";

let ground: TarsGround;
let leader: RunningManager;
let scene: Scene;
let number = 0;
let folder: string;

beforeAll(async () => {
  ground = await openTarsGround(...ELECTION);
  folder = await mkdtemp(join(tmpdir(), "quartet-tars-"));
}, GROUND_MS);
afterAll(async () => {
  await leader?.stop();
  await ground.close();
  await rm(folder, { recursive: true, force: true });
}, GROUND_MS);
beforeEach(async () => {
  scene = await openScene(await ground.openPlace(number++));
});
afterEach(() => scene.close());

/** A manager that leads and has no webhooks. */
async function startLeader(): Promise<void> {
  const kubeconfig = join(folder, "leader");
  const login = await ground.server.kubeconfig({ user: LEADER, groups: ["system:masters"] });
  await writeFile(kubeconfig, login, { mode: 0o600 });
  leader = await startManager({
    modules: [tarsModule],
    args: [
      ...[`--kubeconfig=${kubeconfig}`, "--webhook-port=-1", "--log-level=error", ...ELECTION],
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
    ],
    processMetrics: false,
  });
  await leader.leading;
}

/** Writes of a manager to what belongs to the scene, as `verb resource[/subresource]`. */
async function writesOf(user: string, since = 0): Promise<string[]> {
  const all = await ground.server.requests({ since, user });
  return all
    .filter(({ namespace }) => namespace === scene.namespace)
    .filter(({ verb }) => /^(create|update|patch|delete)$/.test(verb))
    .map(({ verb, resource, subresource }) => `${verb} ${[resource, subresource].filter(Boolean).join("/")}`);
}

it(
  "TARS-R-023 TARS-R-045 one of two managers works, the other answers and takes over; what was written past the webhooks is clamped once",
  async () => {
    await ground.without(async () => {
      // Nobody defaults this server, and nobody refuses its replicas, once the API server has forgotten the webhooks.
      await eventually(async () => {
        expect((await scene.create("TServer", ECHO, { spec: echoSpec({ replicas: 7 }) })).code).toBe(201);
      });
      await startLeader();
    });
    const since = Date.now();
    await eventually(async () => {
      expect((await scene.get("StatefulSet", ECHO, APPS)).spec.replicas).toBe(0);
      expect((await scene.get("TServer", ECHO)).spec.k8s.replicas).toBe(0);
    });
    await eventually(async () => {
      expect((await writesOf(LEADER)).filter((write) => write === "patch tservers")).toHaveLength(1);
    });

    const spec = { ...echoSpec(), server: "Other" };
    expect(await scene.create("TServer", "demo-another", { spec })).toMatchObject({ code: 400 });
    expect((await scene.create("TServer", "demo-other", { spec })).code).toBe(201);
    expect((await scene.get("TServer", "demo-other", V1BETA3)).spec.k8s.readinessGates).toEqual([
      "tars.io/active",
    ]);
    await eventually(() => scene.get("StatefulSet", "demo-other", APPS));
    expect(await writesOf(MANAGER, since)).toEqual([]);

    await leader.stop();
    const later = { ...echoSpec(), server: "Later" };
    expect((await scene.create("TServer", "demo-later", { spec: later })).code).toBe(201);
    await eventually(() => scene.get("StatefulSet", "demo-later", APPS));
    await eventually(async () => expect(await writesOf(MANAGER, since)).toContain("create statefulsets"));
  },
  GROUND_MS,
);

interface ClientConfig {
  readonly url: string;
  readonly caBundle: string;
}

/** Sends a body to a webhook as the API server would. */
function send({ url, caBundle }: ClientConfig, body: string): Promise<{ code: number; text: string }> {
  const agent = new Agent({ ca: Buffer.from(caBundle, "base64") });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const call = request(url, { method: "POST", agent, headers }, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString();
      agent.destroy();
      resolve({ code: answer.statusCode ?? 0, text });
    });
    call.on("error", reject).end(body);
  });
}

it("TARS-API-004 a review that cannot be read is an HTTP 400", async () => {
  for (const type of ["mutating", "validating"]) {
    const path = `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations`;
    const { items } = await ground.client.ok<{ items: LiveObject[] }>("GET", path);
    const webhooks = items.flatMap((item) => item.webhooks as { clientConfig: ClientConfig }[]);
    expect(webhooks.length).toBeGreaterThan(0);
    for (const { clientConfig } of webhooks) {
      for (const body of ["", "{", "{}", '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}']) {
        expect((await send(clientConfig, body)).code).toBe(400);
      }
    }
  }
});

it("TARS-CV-006 converted objects come in their order; a version that is unknown is a failure with words", async () => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tservers.k8s.tars.io";
  const { spec } = await ground.client.ok<LiveObject>("GET", path);
  const review = async (desiredAPIVersion: string) => {
    const objects = ["c", "a", "b"].map((name) => ({
      ...{ apiVersion: "k8s.tars.io/v1beta2", kind: "TServer" },
      ...{ metadata: { name }, spec: echoSpec() },
    }));
    const body = JSON.stringify({
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" },
      request: { uid: "u", desiredAPIVersion, objects },
    });
    const { code, text } = await send(spec.conversion.webhook.clientConfig, body);
    expect(code).toBe(200);
    return JSON.parse(text).response as LiveObject;
  };
  const { result, convertedObjects } = await review(V1BETA3);
  expect(result.status).toBe("Success");
  expect(convertedObjects.map(({ metadata }: LiveObject) => metadata.name)).toEqual(["c", "a", "b"]);
  expect((await review("k8s.tars.io/v1beta9")).result).toMatchObject({
    status: "Failure",
    message: expect.stringContaining("no conversion is known for version v1beta9"),
  });
});
