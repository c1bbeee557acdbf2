/** What the API server refuses the controller: each verb on each of its children. */
import { MAX_WRITES, type Refusal, type RefusedBy, refuse } from "@quartet/testing/stage";
import { describe, expect, it } from "vitest";
import { nacosModule } from "../src/index.ts";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";
import { createStorage } from "./support/storage.ts";

/** Longest wait between two tries is a minute. */
const RETRY_LIMIT_MS = 100_000;
const COMING_UP_MS = 120_000;
const MYSQL = {
  mysqlInitImage: "example/mysql:8.4",
  database: { type: "mysql", mysqlHost: "db", credentialsSecretRef: { name: "login" } },
};

interface Case {
  /** `verb group/resource`. */
  readonly refused: string;
  readonly spec?: object;
  /** Ends with what makes the controller need the verb. */
  readonly provoke: (objects: Objects) => Promise<unknown>;
  /** With claims that can grow. */
  readonly storage?: boolean;
}

const grow = (objects: Objects) =>
  objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
const rename = (objects: Objects) =>
  objects.patch("nacos", "demo", { spec: { finalConfigName: "other-final" } });
const relabel = (objects: Objects) => objects.patch("nacos", "demo", { metadata: { labels: { team: "x" } } });

const CASES: readonly Case[] = [
  { refused: "create apps/statefulsets", provoke: (o) => o.delete("statefulsets", "demo") },
  {
    refused: "update apps/statefulsets",
    provoke: (o) => o.patch("nacos", "demo", { spec: { replicas: 5 } }),
  },
  {
    // Taken over again as an orphan.
    refused: "update apps/statefulsets",
    provoke: (o) => o.patch("statefulsets", "demo", { metadata: { ownerReferences: null } }),
  },
  { refused: "delete apps/statefulsets", storage: true, provoke: grow },
  { refused: "create apps/controllerrevisions", storage: true, provoke: grow },
  { refused: "delete apps/controllerrevisions", storage: true, provoke: grow },
  { refused: "patch /persistentvolumeclaims", storage: true, provoke: grow },
  { refused: "create /services", provoke: (o) => o.delete("services", "demo-client") },
  { refused: "update /services", provoke: relabel },
  { refused: "create /configmaps", provoke: rename },
  { refused: "update /configmaps", provoke: relabel },
  // Once the one pod mounts the other.
  { refused: "delete /configmaps", spec: { type: "standalone", replicas: 1 }, provoke: rename },
  {
    refused: "create /secrets",
    spec: { certification: { enabled: true } },
    provoke: (o) => o.delete("secrets", "demo-nacos-auth"),
  },
  { refused: "update /secrets", spec: { certification: { enabled: true } }, provoke: relabel },
  { refused: "create batch/jobs", spec: MYSQL, provoke: (o) => o.delete("jobs", "demo-mysql-sql-init") },
  { refused: "update batch/jobs", spec: MYSQL, provoke: relabel },
];

const refusalOf = ({ refused }: Case): Refusal => {
  const [verb, place] = refused.split(" ") as [Refusal["verb"], string];
  const [group, resource] = place.split("/") as [string, string];
  return { verb, group, resource };
};

async function prepare(stage: Stage, objects: Objects, { spec = {}, storage = false }: Case): Promise<void> {
  const manager = await stage.startManager(NO_CHECK);
  const storageClassName = storage ? await createStorage(stage, objects, "demo", 3) : "";
  const volume = { volumeClaimTemplate: { spec: { storageClassName } }, persistentVolumeSize: "1Gi" };
  await createBase(objects, "demo", { ...spec, ...(storage && { volume }) });
  await eventually(async () => {
    const resource = await objects.get("nacos", "demo");
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
  }, COMING_UP_MS);
  await manager.stop();
}

async function watch(found: Case, by: RefusedBy): Promise<void> {
  const stage = await openStage();
  try {
    const objects = objectsOf(stage);
    await prepare(stage, objects, found);
    const { writes, lift } = await refuse({
      stage,
      module: nacosModule,
      refusal: refusalOf(found),
      by,
      start: (options) => stage.startManager({ ...NO_CHECK, ...options }),
      provoke: () => found.provoke(objects),
    });
    expect(writes.length, writes.join("\n")).toBeLessThanOrEqual(MAX_WRITES);
    const words = by === "policy" ? /not on a Friday/ : /is forbidden/;
    const told = async () => JSON.stringify((await objects.get("nacos", "demo")).status?.operatorConditions);
    expect(await told()).toMatch(words);
    // The double shows that it goes on; how long a policy stays in force after its end is the server's affair.
    if (by === "policy") return;
    await lift();
    await eventually(async () => expect(await told()).not.toMatch(words), RETRY_LIMIT_MS);
  } finally {
    await stage.close();
  }
}

const REAL = process.env.QUARTET_TARGET === "real";
const ROWS = CASES.map((found) => [found.refused, found] as const);

describe.concurrent("refusals", () => {
  // Rights are the same on both; policies there are on the real one alone.
  it.runIf(!REAL).each(ROWS)(
    "NACOS-612 CORE-319 CORE-317: without the right to %s it says so, tries at growing intervals, and goes on when it may",
    async (_refused, found) => watch(found, "rights"),
  );

  it.runIf(REAL).each(ROWS)(
    "NACOS-612 CORE-319 CORE-317: a policy that denies %s is quoted, asked at growing intervals, and never in a loop",
    async (_refused, found) => watch(found, "policy"),
  );
});
