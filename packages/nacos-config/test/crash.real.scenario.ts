/** The controller is killed at each of its calls; a new one takes over; what there is in the end is the same. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, loadConnection } from "@quartet/core";
import { type CrashOptions, crashAtEveryCall, type TestProcess } from "@quartet/core/testkit";
import { createTestManager } from "@quartet/testing/stage";
import { expect, it } from "vitest";
import { nacosModule } from "../src/index.ts";
import { createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { openStage, type Stage } from "./support/stage.ts";

/** Digests of the base objects' merged text, before and after the change (rule book, M15 and M16). */
const FIRST_DIGEST = "c9294469fec85948";
const CHANGED_DIGEST = "a1c9ed99c7b3b5f4";
/** No node has it: the pods wait for ever, and nothing but the controller's own work changes anything. */
const NOWHERE = { nodeSelector: { "test.quartet.io/place": "nowhere" } };
/** A database to initialise: its Job waits for ever as well. */
const DATABASE = {
  database: { type: "mysql", mysqlHost: "db", credentialsSecretRef: { name: "login" } },
  mysqlInitImage: "example/mysql:8.4",
};
/** Limit for the life of one process, in milliseconds. */
const PATIENCE_MS = 30_000;

interface World {
  readonly client: Client;
  readonly stage: Stage;
  readonly objects: Objects;
  readonly folder: string;
}

async function openWorld(): Promise<World> {
  const stage = await openStage();
  const folder = mkdtempSync(join(tmpdir(), "nacos-crash-"));
  const kubeconfig = join(folder, "kubeconfig");
  await stage.grant();
  writeFileSync(kubeconfig, await stage.kubeconfig(), { mode: 0o600 });
  const client = createClient({ connection: await loadConnection({ kubeconfig }), version: "test" });
  const objects = objectsOf(stage);
  await createBase(objects, "demo", { ...NOWHERE, ...DATABASE });
  return { client, stage, objects, folder };
}

async function closeWorld({ client, stage, folder }: World): Promise<void> {
  client.close();
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Life of one process: until it has brought about the configuration with this digest, or until it is killed. */
const workUntil =
  (digest: string) =>
  async (process: Pick<TestProcess, "client" | "crashed">, world: World): Promise<void> => {
    // The caches read undisturbed; what the manager writes may kill it.
    const { client, stage } = world;
    const manager = await createTestManager({
      modules: [nacosModule],
      client: process.client,
      reader: client,
      namespaces: [stage.namespace],
      flags: { "nacos-skip-node-check": true },
    });
    try {
      await manager.start();
      await eventually(async () => {
        if (process.crashed) return;
        expect(manager.reconciles("demo")).toBeGreaterThan(0);
        await expectApplied(world.objects, digest);
      }, PATIENCE_MS);
    } finally {
      await manager.stop();
    }
  };

async function expectApplied(objects: Objects, digest: string): Promise<void> {
  const { metadata, status } = await objects.get("nacos", "demo");
  expect(status).toMatchObject({ configDigest: digest, observedGeneration: metadata.generation });
  const statefulSet = await objects.get("statefulsets", "demo");
  expect(statefulSet.spec.template.metadata.annotations).toMatchObject({ "nacos.io/config-digest": digest });
  expect(statefulSet.status).toMatchObject({
    replicas: 3,
    observedGeneration: statefulSet.metadata.generation,
  });
}

/** Everything that the controller made, without what differs from server to server: names, uids and addresses. */
async function endState({ objects, stage }: World): Promise<unknown> {
  const { status, metadata } = await objects.get("nacos", "demo");
  const services = await objects.list("services");
  const maps = await objects.list("configmaps");
  const jobs = await objects.list("jobs");
  const state = {
    statefulSet: { ...(await objects.get("statefulsets", "demo")), status: undefined },
    services: services.map((service) => ({
      metadata: service.metadata,
      ports: service.spec.ports,
      selector: service.spec.selector,
    })),
    maps: maps.filter((map) => map.metadata.name !== "kube-root-ca.crt"),
    jobs: jobs.map(({ metadata: { name, labels, ownerReferences } }) => ({ name, labels, ownerReferences })),
    phase: status?.phase,
    digest: status?.configDigest,
    conditions: status?.operatorConditions?.map(({ type, status: is, reason }) => ({ type, is, reason })),
  };
  const text = JSON.stringify(state).replaceAll(stage.namespace, "NAMESPACE");
  return JSON.parse(text.replaceAll(metadata.uid as string, "UID"));
}

const trials: Pick<CrashOptions<World>, "endState" | "teardown"> = { endState, teardown: closeWorld };

/** Writes of a piece of work in order, each once, without what tells of it: statuses and events. */
function changes(calls: readonly string[]): string[] {
  const told = /^(get|list|patchStatus|\w+ events) ?/;
  const made = calls.filter((call) => !told.test(call)).map((call) => call.replace(/\S+\//, ""));
  return [...new Set(made)];
}

it("nacos CORE-240 an installation comes about whichever call of its creation is a process's last", async () => {
  const run = workUntil(FIRST_DIGEST);
  const { calls, crashes } = await crashAtEveryCall({ ...trials, setup: openWorld, run });
  expect(changes(calls)).toEqual([
    "create configmaps demo-final",
    "create statefulsets demo",
    "create services demo-headless",
    "create services demo-client",
    "create configmaps demo-mysql-sql-init",
    "create jobs demo-mysql-sql-init",
  ]);
  // Two for each of these, for the first status and for the last one at the least
  expect(crashes).toBeGreaterThanOrEqual(16);
}, 600_000);

it("nacos CORE-240 a changed configuration is applied whichever call of it is a process's last", async () => {
  const { calls, crashes } = await crashAtEveryCall({
    ...trials,
    async setup() {
      const world = await openWorld();
      await workUntil(FIRST_DIGEST)({ client: world.client, crashed: false }, world);
      await world.objects.patch("configmaps", "uc", {
        data: { "user.properties": "nacos.console.ui.enabled=false\n" },
      });
      return world;
    },
    run: workUntil(CHANGED_DIGEST),
  });
  expect(changes(calls)).toEqual(["update configmaps demo-final", "update statefulsets demo"]);
  expect(crashes).toBeGreaterThanOrEqual(6);
}, 600_000);
