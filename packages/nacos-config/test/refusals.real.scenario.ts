/** What the API server refuses the controller: each verb on each of its children. */
import { testRefusals } from "@quartet/testing/stage";
import { expect } from "vitest";
import { nacosModule } from "../src/index.ts";
import { conditionOf, createBase, eventually, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";
import { createStorage } from "./support/storage.ts";

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
  readonly also?: readonly ("webhook" | "quota")[];
}

const grow = (objects: Objects) =>
  objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
const rename = (objects: Objects) =>
  objects.patch("nacos", "demo", { spec: { finalConfigName: "other-final" } });
const relabel = (objects: Objects) => objects.patch("nacos", "demo", { metadata: { labels: { team: "x" } } });

const CASES: readonly Case[] = [
  {
    refused: "create apps/statefulsets",
    also: ["quota", "webhook"],
    provoke: (o) => o.delete("statefulsets", "demo"),
  },
  {
    refused: "update apps/statefulsets",
    provoke: (o) => o.patch("nacos", "demo", { spec: { replicas: 5 } }),
  },
  {
    // Taken over again as an orphan.
    refused: "update apps/statefulsets",
    provoke: (o) => o.patch("statefulsets", "demo", { metadata: { ownerReferences: null } }),
  },
  { refused: "delete apps/statefulsets", also: ["webhook"], storage: true, provoke: grow },
  { refused: "create apps/controllerrevisions", storage: true, provoke: grow },
  { refused: "delete apps/controllerrevisions", storage: true, provoke: grow },
  { refused: "patch /persistentvolumeclaims", storage: true, provoke: grow },
  { refused: "create /services", also: ["quota"], provoke: (o) => o.delete("services", "demo-client") },
  { refused: "update /services", provoke: relabel },
  { refused: "create /configmaps", provoke: rename },
  { refused: "update /configmaps", also: ["webhook"], provoke: relabel },
  // Once the one pod mounts the other.
  { refused: "delete /configmaps", spec: { type: "standalone", replicas: 1 }, provoke: rename },
  {
    refused: "delete /secrets",
    spec: { type: "standalone", replicas: 1, finalConfigKind: "Secret" },
    provoke: rename,
  },
  {
    refused: "create /secrets",
    spec: { certification: { enabled: true } },
    provoke: (o) => o.delete("secrets", "demo-nacos-auth"),
  },
  { refused: "update /secrets", spec: { certification: { enabled: true } }, provoke: relabel },
  { refused: "create batch/jobs", spec: MYSQL, provoke: (o) => o.delete("jobs", "demo-mysql-sql-init") },
  { refused: "update batch/jobs", spec: MYSQL, provoke: relabel },
];

async function prepare(stage: Stage, { spec = {}, storage = false }: Case): Promise<void> {
  const objects = objectsOf(stage);
  const storageClassName = storage ? await createStorage(stage, objects, "demo", 3) : "";
  const volume = { volumeClaimTemplate: { spec: { storageClassName } }, persistentVolumeSize: "1Gi" };
  await createBase(objects, "demo", { ...spec, ...(storage && { volume }) });
  await eventually(async () => {
    const resource = await objects.get("nacos", "demo");
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
  }, COMING_UP_MS);
}

testRefusals<Stage>({
  ids: "NACOS-612 CORE-319 CORE-317 CORE-479",
  module: nacosModule,
  open: openStage,
  start: (stage, options) => stage.startManager({ ...NO_CHECK, ...options }),
  cases: CASES.map((one) => ({
    refused: one.refused,
    prepare: (stage) => prepare(stage, one),
    provoke: (stage) => one.provoke(objectsOf(stage)),
    ...(one.also && { also: one.also }),
  })),
  told: async (stage) =>
    JSON.stringify((await objectsOf(stage).get("nacos", "demo")).status?.operatorConditions),
});
