/** Scenarios of MySQL databases: what the Job does, what it never does, and what depends on it. */

import type { JsonMap } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { peerAdoptions, peerCases } from "../src/fixtures.testkit.ts";
import { conditionOf, eventually, type Objects, objectsOf, type Resource } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

const JOB = "demo-mysql-sql-init";
/** Limit for what takes several passes and pods. */
const LONG_MS = 60_000;
/** Time in which a state must not change any more. */
const REST_MS = 1_500;
/** An image whose containers fail, and one whose containers do their work. */
const FAILING = "example/mysql:test-fail";
const GOOD = "example/mysql:8.4";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const ready = async (name = "demo") => conditionOf(await objects.get("nacos", name), "DatabaseReady");
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, REST_MS));
const create = (mysqlInitImage: string, spec: JsonMap = {}): Promise<void> =>
  objects.nacos("demo", {
    mysqlInitImage,
    database: { type: "mysql", mysqlHost: "db", credentialsSecretRef: { name: "login" } },
    ...spec,
  });
const reaches = (state: JsonMap): Promise<void> =>
  eventually(async () => expect(await ready()).toMatchObject(state), LONG_MS);

describe("MySQL", () => {
  it("NACOS-705 NACOS-707 runs the Job once, reports it, and runs it again when it is deleted", async () => {
    await stage.startManager(NO_CHECK);
    await create(GOOD);
    await reaches({ status: "True", reason: "Initialized" });
    await eventually(async () => expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running"));
    const { metadata } = await objects.get("jobs", JOB);
    const sql = (await objects.get("configmaps", JOB)).data?.SQL_SCRIPT ?? "";
    expect(sql).toContain("CREATE TABLE IF NOT EXISTS `config_info`");
    const { spec } = await objects.get("statefulsets", "demo");
    expect(spec.template.spec.initContainers).toMatchObject([{ name: "mysql-check-database", image: GOOD }]);
    const since = Date.now();
    await objects.patch("nacos", "demo", { metadata: { labels: { team: "x" } } });
    await eventually(async () =>
      expect((await objects.get("jobs", JOB)).metadata.labels).toMatchObject({ team: "x", app: "demo" }),
    );
    await quiet();
    expect((await objects.get("jobs", JOB)).metadata.uid).toBe(metadata.uid);
    expect((await stage.writes(since)).filter((write) => /^(create|delete)/.test(write))).toEqual([]);
    await objects.delete("jobs", JOB, "?propagationPolicy=Background");
    await eventually(async () => {
      const again = await objects.get("jobs", JOB);
      expect(again.metadata.uid).not.toBe(metadata.uid);
      expect(again.status?.succeeded).toBe(1);
    }, LONG_MS);
    await reaches({ status: "True" });
  });

  it("NACOS-707 NACOS-202 a failed Job is reported with its container, holds up nothing, and waits for its deletion", async () => {
    await stage.startManager(NO_CHECK);
    await create(FAILING);
    // The first failure is to be the last: the waits between them are the Job controller's, not ours.
    await eventually(() => objects.patch("jobs", JOB, { spec: { backoffLimit: 0 } }));
    await reaches({
      status: "False",
      reason: "InitJobFailed",
      message: expect.stringMatching(/BackoffLimitExceeded.*mysql-sql-init ended with exit code 1 \(Error\)/),
    });
    const { uid } = (await objects.get("jobs", JOB)).metadata;
    await eventually(async () => {
      const { status } = await objects.get("nacos", "demo");
      expect(status?.phase).toBe("Running");
      expect(status?.event?.at(-1)).toMatchObject({
        code: -1,
        message: expect.stringContaining("InitJobFailed"),
      });
    });
    await eventually(async () => {
      const events = (await objects.list("events")).filter(({ reason }) => reason === "InitJobFailed");
      expect(events).toMatchObject([{ type: "Warning" }]);
    });
    await objects.patch("nacos", "demo", {
      spec: { mysqlInitImage: GOOD, env: [{ name: "X", value: "1" }] },
    });
    await eventually(async () => {
      const { template } = (await objects.get("statefulsets", "demo")).spec;
      expect(template.spec.containers[0]?.env).toContainEqual({ name: "X", value: "1" });
    });
    await quiet();
    expect((await objects.get("jobs", JOB)).metadata.uid).toBe(uid);
    expect(await ready()).toMatchObject({ reason: "InitJobFailed" });
    await objects.delete("jobs", JOB, "?propagationPolicy=Background");
    await reaches({ status: "True", reason: "Initialized" });
  });

  it("NACOS-705 NACOS-211 a Job that still runs is waited for without writes, and survives a restart", async () => {
    const first = await stage.startManager(NO_CHECK);
    await create(GOOD, { k8sWrapper: { PodSpec: { nodeSelector: { "example.org/none": "here" } } } });
    await reaches({ status: "Unknown", reason: "InitJobRunning" });
    const { uid } = (await objects.get("jobs", JOB)).metadata;
    await first.stop();
    const since = Date.now();
    await stage.startManager(NO_CHECK);
    await quiet();
    await quiet();
    expect((await objects.get("jobs", JOB)).metadata.uid).toBe(uid);
    expect(await stage.writes(since)).toEqual([]);
    expect((await objects.list("events")).filter(({ reason }) => reason.startsWith("InitJob"))).toEqual([]);
  });

  it("NACOS-704 NACOS-813 the password of a Secret appears in nothing that the controller makes", async () => {
    const manager = await stage.startManager(NO_CHECK);
    const data = { username: btoa("root"), password: btoa("MARK-9c1") };
    await objects.create("secrets", "login", { apiVersion: "v1", kind: "Secret", data });
    await create(GOOD);
    await reaches({ status: "True" });
    const made: Resource[] = ["statefulsets", "jobs", "configmaps", "pods", "events", "nacos"];
    const all = await Promise.all(made.map((resource) => objects.list(resource)));
    for (const text of [JSON.stringify(all), manager.log(), await manager.metrics()]) {
      expect(text).not.toContain("MARK-9c1");
      expect(text).not.toContain(btoa("MARK-9c1"));
    }
  });

  it("NACOS-702 NACOS-333 without an image there is no Job, and somebody else's is left alone", async () => {
    await stage.startManager(NO_CHECK);
    await create("");
    await eventually(
      async () => expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running"),
      LONG_MS,
    );
    expect(await objects.list("jobs")).toEqual([]);
    expect(
      (await objects.get("nacos", "demo")).status?.operatorConditions?.map(({ type }) => type),
    ).not.toContain("DatabaseReady");
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: GOOD }] } };
    await objects.create("jobs", JOB, { apiVersion: "batch/v1", kind: "Job", spec: { template } });
    await objects.patch("nacos", "demo", { spec: { mysqlInitImage: GOOD } });
    await reaches({
      status: "False",
      reason: "ResourceConflict",
      message: expect.stringContaining(`Job ${JOB}`),
    });
    expect((await objects.get("jobs", JOB)).metadata.ownerReferences).toBeUndefined();
  });
});

describe("MySQL and a long name", () => {
  const name = `n${"o".repeat(48)}`;
  const spec = {
    mysqlInitImage: GOOD,
    database: { type: "mysql", mysqlHost: "db", credentialsSecretRef: { name: "login" } },
  };

  it("NACOS-109 is told before anything is made, and removing the image helps", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos(name, spec);
    await eventually(async () =>
      expect(conditionOf(await objects.get("nacos", name), "SpecValid")).toMatchObject({
        status: "False",
        reason: "NameInvalid",
        message: expect.stringContaining("at most 48 characters"),
      }),
    );
    expect(await objects.find("statefulsets", name)).toBeUndefined();
    // What the message claims is so.
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: GOOD }] } };
    const job = { apiVersion: "batch/v1", kind: "Job", spec: { template } };
    await expect(objects.create("jobs", `${name}-mysql-sql-init`, job)).rejects.toThrow(/63/);
    await objects.patch("nacos", name, { spec: { mysqlInitImage: null } });
    await eventually(
      async () => expect((await objects.get("nacos", name)).status?.phase).toBe("Running"),
      LONG_MS,
    );
  });

  it("NACOS-109 NACOS-202 keeps no running installation from anything", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos(name, { ...spec, mysqlInitImage: "" });
    await eventually(
      async () => expect((await objects.get("nacos", name)).status?.phase).toBe("Running"),
      LONG_MS,
    );
    await objects.patch("nacos", name, { spec: { mysqlInitImage: GOOD, env: [{ name: "X", value: "1" }] } });
    await eventually(async () => {
      const { template } = (await objects.get("statefulsets", name)).spec;
      expect(template.spec.containers[0]?.env).toContainEqual({ name: "X", value: "1" });
    });
    await eventually(async () =>
      expect(await ready(name)).toMatchObject({
        status: "False",
        reason: "NameInvalid",
        message: expect.stringContaining("at most 48 characters"),
      }),
    );
    expect(conditionOf(await objects.get("nacos", name), "SpecValid")).toMatchObject({ status: "True" });
    expect(await objects.list("jobs")).toEqual([]);
  });
});

describe("MySQL installations of the peer", () => {
  /** Creates a resource and the peer's objects for it, the status of the Job too. */
  async function arrange(name: string, resource: JsonMap, children: readonly JsonMap[]): Promise<void> {
    const { spec } = resource as { spec: JsonMap };
    await objects.create("nacos", name, { apiVersion: "nacos.io/v1alpha1", kind: "Nacos", spec });
    const { uid } = (await objects.get("nacos", name)).metadata;
    for (const child of children) {
      const text = JSON.stringify(child).replaceAll('"UID"', JSON.stringify(uid));
      const { kind, metadata, ...body } = JSON.parse(text) as { kind: string; metadata: JsonMap } & JsonMap;
      const { namespace: _recorded, ...meta } = metadata;
      if (kind === "Job") {
        const job = body.spec as { selector?: unknown; template: { metadata: JsonMap } };
        delete job.selector;
        job.template.metadata = {};
      }
      const plural = `${kind.toLowerCase()}s` as Resource;
      await objects.create(plural, meta.name as string, { kind, ...body, metadata: meta });
    }
  }

  it("NACOS-414 NACOS-707 NACOS-709 keeps the Job that has run, the pods, and replaces the script", async () => {
    const row = structuredClone(peerAdoptions().find(({ name }) => name === "mysql with init container")!);
    await arrange("myi", row.resource as unknown as JsonMap, [
      row.statefulSet as unknown as JsonMap,
      ...row.otherChildren.filter(({ kind }) => kind === "Job" || kind === "ConfigMap"),
    ]);
    const job = (await objects.get("jobs", "myi-mysql-sql-init")).metadata;
    await eventually(
      async () => expect((await objects.get("jobs", job.name!)).status?.succeeded).toBe(1),
      LONG_MS,
    );
    const before = await objects.get("statefulsets", "myi");
    await stage.startManager(NO_CHECK);
    await eventually(
      async () => expect(await ready("myi")).toMatchObject({ reason: "Initialized" }),
      LONG_MS,
    );
    const sql = (await objects.get("configmaps", job.name!)).data?.SQL_SCRIPT;
    expect(sql).toContain("CREATE TABLE IF NOT EXISTS");
    expect((await objects.get("jobs", job.name!)).metadata.uid).toBe(job.uid);
    await quiet();
    expect((await objects.get("statefulsets", "myi")).spec).toEqual(before.spec);
  });

  it("NACOS-703 NACOS-405 goes on with the peer's default password, and refuses a new installation without any", async () => {
    const row = structuredClone(peerCases().find(({ name }) => name === "mysql, defaults filled in")!);
    const resource = row.steps[0]!.object;
    await arrange(
      "myd",
      resource,
      row.expect.children.filter(({ kind }) => kind === "StatefulSet"),
    );
    const before = await objects.get("statefulsets", "myd");
    await stage.startManager(NO_CHECK);
    await eventually(async () => {
      const { metadata } = await objects.get("statefulsets", "myd");
      expect(metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
    });
    await objects.patch("nacos", "myd", { metadata: { labels: { team: "x" } } });
    await eventually(async () =>
      expect((await objects.get("statefulsets", "myd")).metadata.labels).toMatchObject({ team: "x" }),
    );
    expect((await objects.get("statefulsets", "myd")).spec.template).toEqual(before.spec.template);
    expect(conditionOf(await objects.get("nacos", "myd"), "SpecValid")).toMatchObject({ status: "True" });
    await objects.nacos("fresh", { database: { type: "mysql" } });
    await eventually(async () =>
      expect(conditionOf(await objects.get("nacos", "fresh"), "SpecValid")).toMatchObject({
        status: "False",
        reason: "DatabasePasswordMissing",
      }),
    );
    expect(await objects.find("statefulsets", "fresh")).toBeUndefined();
  });
});
