/** The controller as a planner: for a take-over from a peer, and for a look at what an edit would do. */
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  conditionOf,
  createBase,
  eventually,
  type Objects,
  objectsOf,
  type Resource,
} from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const WRITTEN: readonly Resource[] = ["nacos", "statefulsets", "services", "configmaps", "secrets"];

/** Names with resource versions of all that the controller could write. */
async function versions(): Promise<string[]> {
  const lists = await Promise.all(WRITTEN.map((resource) => objects.list(resource)));
  return lists.flat().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
}

interface Planned {
  write: string;
  changes: string[];
}

const planned = (log: string): Planned[] =>
  log
    .split("\n")
    .filter((line) => line.includes('"msg":"Planned change"'))
    .map((line) => JSON.parse(line) as Planned);

it("CORE-241 CORE-242 an edited resource is planned field by field, and every object stays as it is", async () => {
  const worker = await stage.startManager(NO_CHECK);
  await createBase(objects);
  await eventually(async () => {
    const resource = await objects.get("nacos", "demo");
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
  }, 60_000);
  await worker.stop();

  const since = Date.now();
  const manager = await stage.startManager({ ...NO_CHECK, dryRun: true });
  await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
  await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
  await objects.delete("services", "demo-client");
  await eventually(async () => {
    const writes = planned(manager.log()).map(({ write }) => write);
    expect(writes).toContain(`create services ${stage.namespace}/demo-client`);
    expect(planned(manager.log())).toContainEqual(
      expect.objectContaining({
        write: expect.stringMatching(/statefulsets\.apps \S+\/demo$/),
        changes: expect.arrayContaining(["~ spec.replicas: 3 -> 5"]),
      }),
    );
    expect(planned(manager.log())).toContainEqual(
      expect.objectContaining({
        write: expect.stringMatching(/configmaps \S+\/demo-final$/),
        changes: expect.arrayContaining([expect.stringMatching(/^~ data\[.*\]: .*text of|added/)]),
      }),
    );
  });
  // The server's own controllers may still be at work on what the worker left.
  await eventually(async () => {
    const [before, told] = [await versions(), planned(manager.log()).length];
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await versions()).toEqual(before);
    expect(planned(manager.log())).toHaveLength(told);
  });
  // Each further pass comes to the same plan.
  const plans = async (): Promise<number> =>
    (await stage.requests(since)).filter(
      ({ verb, resource, dryRun }) => verb === "update" && resource === "statefulsets" && dryRun,
    ).length;
  const passes = await plans();
  expect(passes).toBeGreaterThanOrEqual(1);
  await objects.patch("nacos", "demo", { metadata: { annotations: { "example.com/look": "again" } } });
  await eventually(async () => expect(await plans()).toBeGreaterThan(passes));
  const writes = (await stage.requests(since)).filter(
    ({ verb, resource }) => !["get", "list", "watch"].includes(verb) && resource !== "events",
  );
  expect(writes.length).toBeGreaterThanOrEqual(3);
  expect(writes.filter(({ dryRun }) => !dryRun)).toEqual([]);
  expect((await objects.get("statefulsets", "demo")).spec.replicas).toBe(3);
  expect(await objects.find("services", "demo-client")).toBeUndefined();
  await eventually(async () => {
    const notes = (await objects.list("events")).filter(({ reason }) => reason === "PlannedChange");
    expect(notes.map(({ note }) => note).join("\n")).toContain("~ spec.replicas: 3 -> 5");
  });
}, 120_000);

it("CORE-241 NACOS-705 NACOS-813 the initialisation of MySQL is planned, and shows no password", async () => {
  const manager = await stage.startManager({ ...NO_CHECK, dryRun: true, logLevel: "trace" });
  const data = { username: btoa("root"), password: btoa("MARK-4d2") };
  await objects.create("secrets", "login", { apiVersion: "v1", kind: "Secret", data });
  const database = { type: "mysql", mysqlHost: "db" };
  await objects.nacos("demo", {
    mysqlInitImage: "example/mysql:8.4",
    database: { ...database, credentialsSecretRef: { name: "login" } },
  });
  await objects.nacos("plain", {
    mysqlInitImage: "example/mysql:8.4",
    database: { ...database, mysqlPassword: "MARK-4d2" },
  });
  for (const name of ["demo", "plain"]) {
    await eventually(async () =>
      expect(planned(manager.log()).map(({ write }) => write)).toEqual(
        expect.arrayContaining([
          `create configmaps ${stage.namespace}/${name}-mysql-sql-init`,
          `create jobs.batch ${stage.namespace}/${name}-mysql-sql-init`,
          `create statefulsets.apps ${stage.namespace}/${name}`,
        ]),
      ),
    );
  }
  expect(await objects.list("jobs")).toEqual([]);
  expect(await objects.find("configmaps", "demo-mysql-sql-init")).toBeUndefined();
  await eventually(async () => {
    const notes = (await objects.list("events")).map(({ note }) => note);
    expect(notes.join()).toContain("plain-mysql-sql-init");
  });
  expect(JSON.stringify(await objects.list("events")) + manager.log()).not.toContain("MARK-4d2");
});

it("CORE-242 NACOS-813 literal values of a live template are planned without being shown, whatever they are called", async () => {
  const worker = await stage.startManager(NO_CHECK);
  const spec = (mark: string) => ({
    type: "standalone",
    replicas: 1,
    mysqlInitImage: "example/mysql:8.4",
    database: { type: "mysql", mysqlHost: "db", mysqlUser: mark, mysqlPassword: mark },
    env: [
      { name: "HARMLESS", value: mark },
      { name: "JAVA_OPT", value: mark },
    ],
    livenessProbe: { httpGet: { port: 8848, httpHeaders: [{ name: "X-Key", value: mark }] } },
  });
  await objects.nacos("demo", spec("MARK-1"));
  await eventually(async () => expect(await objects.find("statefulsets", "demo")).toBeDefined(), 60_000);
  await worker.stop();
  await objects.patch("nacos", "demo", { spec: spec("MARK-2") });
  const manager = await stage.startManager({ ...NO_CHECK, dryRun: true, logLevel: "trace" });
  await eventually(() => {
    const differences = JSON.stringify(planned(manager.log()));
    for (const name of ["HARMLESS", "JAVA_OPT", "MYSQL_SERVICE_PASSWORD", "MYSQL_SERVICE_USER", "X-Key"]) {
      expect(differences).toContain(`[${name}].value: [redacted] -> [redacted]`);
    }
  }, 60_000);
  await eventually(async () => {
    const notes = (await objects.list("events")).filter(({ reason }) => reason === "PlannedChange");
    expect(notes.length).toBeGreaterThan(0);
  });
  expect(JSON.stringify(await objects.list("events")) + manager.log()).not.toContain("MARK-");
}, 120_000);

it("CORE-241 NACOS-213 plans beside a peer that is at work", async () => {
  const now = (): string => new Date().toISOString().replace("Z", "000Z");
  await objects.create("leases", "219866ca.nacos.io", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { holderIdentity: "peer", leaseDurationSeconds: 15, renewTime: now() },
  });
  const renewing = setInterval(() => {
    objects.patch("leases", "219866ca.nacos.io", { spec: { renewTime: now() } }).catch(() => {});
  }, 500);
  try {
    const manager = await stage.startManager({ ...NO_CHECK, dryRun: true });
    await createBase(objects);
    await eventually(async () =>
      expect(planned(manager.log()).map(({ write }) => write)).toContain(
        `create statefulsets.apps ${stage.namespace}/demo`,
      ),
    );
    expect(await objects.find("statefulsets", "demo")).toBeUndefined();
    expect((await objects.get("nacos", "demo")).status).toBeUndefined();
  } finally {
    clearInterval(renewing);
  }
});
