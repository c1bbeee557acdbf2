/** The manager is killed at each of its calls; another one takes over; what there is in the end is the same (S-20). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, loadConnection } from "@quartet/core";
import { type CrashOptions, crashAtEveryCall, type TestProcess } from "@quartet/core/testkit";
import { tarsModule } from "@quartet/tars-tserver";
import { createTestManager, eventually, openStage, type Stage } from "@quartet/testing/stage";
import { expect, it } from "vitest";
import { echoSpec, type LiveObject } from "./support/scene.ts";

/** Limit for the life of one process, ms. */
const PATIENCE_MS = 30_000;
/** Limit for all lives, ms. */
const TIMEOUT_MS = 800_000;
const TARS = "/apis/k8s.tars.io/v1beta2";
const APPS = "/apis/apps/v1";

interface World {
  readonly client: Client;
  readonly stage: Stage;
  readonly folder: string;
}

const pathOf = ({ stage }: World, api: string, plural: string, name = ""): string =>
  [`${api}/namespaces/${stage.namespace}/${plural}`, name].filter(Boolean).join("/");
async function find(
  world: World,
  api: string,
  plural: string,
  name: string,
): Promise<LiveObject | undefined> {
  const { code, body } = await world.stage.client.request("GET", pathOf(world, api, plural, name));
  return code === 200 ? body : undefined;
}
const create = (world: World, plural: string, kind: string, name: string, body: object) =>
  world.stage.client.ok("POST", pathOf(world, TARS, plural), {
    apiVersion: "k8s.tars.io/v1beta2",
    kind,
    metadata: { name },
    ...body,
  });

async function openWorld(): Promise<World> {
  const stage = await openStage({ modules: [tarsModule] });
  const folder = mkdtempSync(join(tmpdir(), "tars-crash-"));
  const kubeconfig = join(folder, "kubeconfig");
  await stage.grant();
  writeFileSync(kubeconfig, await stage.kubeconfig(), { mode: 0o600 });
  const client = createClient({ connection: await loadConnection({ kubeconfig }), version: "test" });
  return { client, stage, folder };
}

async function closeWorld({ client, stage, folder }: World): Promise<void> {
  client.close();
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Life of one process: until the condition holds, or until it is killed. The caches read undisturbed. */
const workUntil =
  (isDone: (world: World) => Promise<void>) =>
  async (process: Pick<TestProcess, "client" | "crashed">, world: World): Promise<void> => {
    const manager = await createTestManager({
      modules: [tarsModule],
      client: process.client,
      reader: world.client,
      namespaces: [world.stage.namespace],
    });
    try {
      await manager.start();
      await eventually(async () => {
        if (!process.crashed) await isDone(world);
      }, PATIENCE_MS);
    } finally {
      await manager.stop();
    }
  };

const killedEverywhere = (options: Pick<CrashOptions<World>, "setup" | "run" | "endState">) =>
  crashAtEveryCall<World>({
    ...options,
    endState: async (world) => {
      // Names of revisions are hashes, of names of the namespace too.
      const isHash = (member: string): boolean => /^(current|update)Revision$/.test(member);
      const end = await options.endState(world);
      const text = JSON.stringify(end, (member, value) => (isHash(member) ? undefined : value));
      return JSON.parse(text.replaceAll(world.stage.namespace, "t")) as unknown;
    },
    teardown: closeWorld,
  });

const claimTemplate = {
  persistentVolumeClaimTemplate: {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1G" } } },
  },
};
const mounts = [
  { name: "m4", mountPath: "/m4", source: claimTemplate },
  { name: "m5", mountPath: "/m5", source: { tLocalVolume: {} } },
];
const ECHO = "demo-echoserver";
const claims = async (world: World): Promise<string[]> =>
  ((await find(world, APPS, "statefulsets", ECHO))?.spec.volumeClaimTemplates ?? []).map(
    ({ metadata }: LiveObject) => metadata.name,
  );
const withClaims = (names: string[], generation: number) => async (world: World) => {
  expect(await claims(world)).toEqual(names);
  expect((await find(world, TARS, "tendpoints", ECHO))?.status?.pods).toEqual([]);
  const { status } = (await find(world, TARS, "tservers", ECHO)) ?? {};
  expect(status).toMatchObject({ observedGeneration: generation });
  expect(status.conditions).toContainEqual(
    expect.objectContaining({ type: "WorkloadSynced", status: "True" }),
  );
};
const childrenOf = async (world: World) =>
  Promise.all(
    (
      [
        ["/api/v1", "services"],
        [APPS, "statefulsets"],
        [TARS, "tendpoints"],
        [TARS, "texitedrecords"],
        [TARS, "tservers"],
      ] as const
    ).map(([api, plural]) => find(world, api, plural, ECHO)),
  );

it("TARS-S-20 TARS-R-031 TARS-R-034 a StatefulSet that is made anew is there in the end wherever the manager is killed", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { crashes } = await killedEverywhere({
    async setup() {
      const world = await openWorld();
      await create(world, "tservers", "TServer", ECHO, { spec: echoSpec({ mounts, replicas: 0 }) });
      await workUntil(withClaims(["m4", "m5"], 1))({ client: world.client, crashed: false }, world);
      await world.stage.client.ok(
        "PATCH",
        pathOf(world, TARS, "tservers", ECHO),
        { spec: { k8s: { mounts: mounts.slice(1) } } },
        { contentType: "application/merge-patch+json" },
      );
      return world;
    },
    run: workUntil(withClaims(["m5"], 2)),
    endState: childrenOf,
  });
  // The try, deletion and creation, and the state
  expect(crashes).toBeGreaterThanOrEqual(6);
});

it("TARS-S-20 TARS-R-063 TARS-R-060 an approved request is deployed once wherever the manager is killed", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { crashes } = await killedEverywhere({
    async setup() {
      const world = await openWorld();
      await create(world, "tdeploys", "TDeploy", "echo", {
        apply: echoSpec({ replicas: 0 }),
        approve: { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" },
      });
      return world;
    },
    run: workUntil(async (world) => {
      expect((await find(world, TARS, "tdeploys", "echo"))?.deployed).toBe(true);
      await withClaims([], 1)(world);
    }),
    endState: async (world) => [await find(world, TARS, "tdeploys", "echo"), ...(await childrenOf(world))],
  });
  expect(crashes).toBeGreaterThanOrEqual(16);
});
