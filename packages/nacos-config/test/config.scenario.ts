/** Scenarios of the configuration: merge, rollout, missing and bad input, drift, conflicts. */
import { readFileSync } from "node:fs";
import type { JsonMap, Pod } from "@quartet/core/kinds";
import { TEST_ANNOTATIONS } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Nacos } from "../src/api.gen.ts";
import {
  conditionOf,
  createBase,
  eventually,
  IMAGE,
  nodesOf,
  type Objects,
  objectsOf,
} from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

const M15 =
  "# ===== Internal Configuration =====\nserver.port=8848\n\n\n# ===== User Configuration =====\nnacos.console.ui.enabled=true\n\n";
const M15_DIGEST = "c9294469fec85948";
const M16_DIGEST = "a1c9ed99c7b3b5f4";
const DIGEST = "nacos.io/config-digest";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

async function running(name = "demo"): Promise<Nacos> {
  return eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.phase).toBe("Running");
    expect(conditionOf(resource, "Progressing").reason).toBe("RolloutComplete");
    // A pod may count as ready before its address is known, which is then written.
    expect(nodesOf(resource).filter(({ instance }) => !instance)).toEqual([]);
    return resource;
  }, 60_000);
}

/** Waits until every pod has been ready for as long as the StatefulSet asks for. */
async function steady(name = "demo"): Promise<void> {
  await eventually(async () => {
    const { spec, status } = await objects.get("statefulsets", name);
    expect(status?.availableReplicas).toBe(spec.replicas);
  }, 60_000);
}

/** Names of pods in the order in which they are replaced, each once; more than one is never missing or unready. */
async function replacements(before: readonly Pod[]): Promise<string[]> {
  const uids = new Map(before.map(({ metadata }) => [metadata.name!, metadata.uid]));
  const order: string[] = [];
  while (order.length < before.length) {
    const pods = await objects.list("pods");
    const ready = pods.filter((pod) =>
      pod.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True"),
    );
    expect(ready.length).toBeGreaterThanOrEqual(before.length - 1);
    for (const { metadata } of pods) {
      if (uids.get(metadata.name!) === metadata.uid) continue;
      uids.set(metadata.name!, metadata.uid);
      order.push(metadata.name!);
    }
    await quiet(50);
  }
  return order;
}

const user = (text: string): Promise<void> =>
  objects.patch("configmaps", "uc", { data: { "user.properties": text } });
const digestOf = async (name = "demo"): Promise<string | undefined> =>
  (await objects.get("statefulsets", name)).spec.template.metadata.annotations?.[DIGEST];
const finalText = async (name = "demo-final"): Promise<string | undefined> =>
  (await objects.get("configmaps", name)).data?.["application.properties"];
/** Generation and uid of the StatefulSet, uids of the pods: what a running installation is told by. */
async function fingerprint(name = "demo"): Promise<object> {
  const { metadata } = await objects.get("statefulsets", name);
  const pods = (await objects.list("pods")).map((pod) => pod.metadata.uid).sort();
  return { uid: metadata.uid, generation: metadata.generation, pods };
}
/** Lets time pass in which nothing must happen. */
const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("merged configuration", () => {
  it("nacos A1 NACOS-201 NACOS-313 NACOS-501: merges, mounts, rolls out and reports a healthy cluster", async () => {
    const nacos = stage.nacosFor("demo");
    await stage.startManager();
    const begin = Date.now();
    await createBase(objects);
    const resource = await running();
    expect(await finalText()).toBe(M15);
    expect(Buffer.byteLength(M15)).toBe(120);
    const { spec } = await objects.get("statefulsets", "demo");
    expect(spec.template.metadata.annotations?.[DIGEST]).toBe(M15_DIGEST);
    expect(spec.template.spec.volumes).toEqual([
      {
        name: "config",
        configMap: expect.objectContaining({
          name: "demo-final",
          items: [{ key: "application.properties", path: "application.properties" }],
        }),
      },
    ]);
    expect(spec.template.spec.containers[0]?.volumeMounts).toEqual([
      {
        name: "config",
        mountPath: "/home/nacos/conf/application.properties",
        subPath: "application.properties",
      },
    ]);
    expect((await objects.get("services", "demo-headless")).spec.clusterIP).toBe("None");
    const children = [
      await objects.get("statefulsets", "demo"),
      await objects.get("services", "demo-headless"),
      await objects.get("services", "demo-client"),
      await objects.get("configmaps", "demo-final"),
    ];
    for (const { metadata } of children) {
      expect(metadata.ownerReferences).toEqual([
        {
          apiVersion: "nacos.io/v1alpha1",
          kind: "Nacos",
          name: "demo",
          uid: resource.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    expect(resource.status).toMatchObject({ healthy: true, configDigest: M15_DIGEST, version: "2.4.3" });
    const roles = nodesOf(resource).map(({ podName, type, status }) => `${podName} ${type} ${status}`);
    expect(roles).toEqual(["demo-0 leader true", "demo-1 follower true", "demo-2 follower true"]);
    expect(nacos.requests.every(({ path }) => path === "/nacos/v1/core/cluster/nodes")).toBe(true);

    const writes = await stage.writes(begin);
    expect(writes[0]).toBe("patch nacos/status demo");
    const first = (write: string): number => writes.findIndex((line) => line.startsWith(write));
    expect(first("create configmaps")).toBeGreaterThan(0);
    expect(first("create statefulsets")).toBeGreaterThan(first("create configmaps"));
  });

  it("NACOS-303 NACOS-309 NACOS-312: the documents of the usage guide work as they stand", async () => {
    await stage.startManager(NO_CHECK);
    for (const file of ["user-config", "internal-config", "cluster"]) {
      const text = readFileSync(
        new URL(`../../../e2e/nacos/fixtures/seed/${file}.yaml`, import.meta.url),
        "utf8",
      );
      const { metadata, ...body } = parse(text) as JsonMap & { kind: string; metadata: { name: string } };
      await objects.create(body.kind === "Nacos" ? "nacos" : "configmaps", metadata.name, body);
    }
    const resource = await running("my-nacos");
    expect(resource.status?.configDigest).toBe("0a636216853f632b");
    const text = await finalText("my-nacos-final-config");
    expect(Buffer.byteLength(text!)).toBe(701);
    const internal = (await objects.get("configmaps", "nacos-internal-config")).data?.["internal.properties"];
    const user = (await objects.get("configmaps", "nacos-user-config")).data?.["user.properties"];
    expect(text).toBe(
      `# ===== Internal Configuration =====\n${internal}\n\n# ===== User Configuration =====\n${user}\n`,
    );
    const { spec } = await objects.get("statefulsets", "my-nacos");
    expect(spec.template.spec.containers[0]?.resources).toEqual({
      requests: { cpu: "100m", memory: "512Mi" },
      limits: { cpu: "2", memory: "2Gi" },
    });
  });

  it("nacos A2 NACOS-470 NACOS-475 NACOS-918: one change of the user's text changes the template once and replaces each pod once", async () => {
    const manager = await stage.startManager(NO_CHECK);
    const begin = Date.now();
    await createBase(objects);
    await running();
    await steady();
    const before = await objects.get("statefulsets", "demo");
    const pods = await objects.list("pods");
    await user("nacos.console.ui.enabled=false\n");
    await eventually(async () => expect(await digestOf()).toBe(M16_DIGEST), 5_000);
    expect(await finalText()).toBe(M15.replace("true", "false"));
    expect(await replacements(pods)).toEqual(["demo-2", "demo-1", "demo-0"]);
    const resource = await running();
    expect(resource.status?.configDigest).toBe(M16_DIGEST);
    const after = await objects.get("statefulsets", "demo");
    expect(after.metadata.generation).toBe(before.metadata.generation! + 1);
    await eventually(async () => {
      const merged = (await objects.list("events")).filter(({ reason }) => reason === "ConfigMerged");
      const digests = [M16_DIGEST, M15_DIGEST].map((digest) => expect.stringContaining(digest));
      expect(merged.map(({ note }) => note).sort()).toEqual(digests);
    });
    const told = manager
      .log()
      .split("\n")
      .filter((line) => line.includes('"Event"'));
    for (const reason of ["Created", "ConfigMerged", "ConfigRollout"]) {
      expect(told).toContainEqual(expect.stringContaining(reason));
    }
    await steady();
    const since = Date.now();
    await quiet(3_000);
    expect(await stage.writes(since)).toEqual([]);
    expect((await stage.writes(begin)).filter((write) => / pods/.test(write))).toEqual([]);
  }, 120_000);

  it("NACOS-345 NACOS-346 NACOS-348: edits in one second make one rollout, there and back makes none", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const generation = async (): Promise<number> =>
      (await objects.get("statefulsets", "demo")).metadata.generation!;
    const first = await generation();
    for (const text of ["a=1\n", "a=2\n", "nacos.console.ui.enabled=true\n"]) await user(text);
    await quiet(2_500);
    expect(await generation()).toBe(first);
    for (const text of ["a=1\n", "a=2\n", "nacos.console.ui.enabled=false\n"]) await user(text);
    await eventually(async () => expect(await digestOf()).toBe(M16_DIGEST));
    expect(await generation()).toBe(first + 1);
    await user("nacos.console.ui.enabled=false\n# comment\n");
    await eventually(async () => expect(await generation()).toBe(first + 2));
    await user("nacos.console.ui.enabled=true\n");
    await eventually(async () => expect(await digestOf()).toBe(M15_DIGEST));
    expect(await generation()).toBe(first + 3);
  });

  it("nacos A7 NACOS-315 NACOS-316 NACOS-318: waits for sources and keys, and goes on when they appear", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {
      type: "cluster",
      internalConfigRef: { name: "ic" },
      userConfigRef: { name: "uc" },
      finalConfigName: "demo-final",
    });
    const waiting = await eventually(async () => {
      const resource = await objects.get("nacos", "demo");
      expect(conditionOf(resource, "ConfigReady")).toMatchObject({
        status: "False",
        reason: "SourceNotFound",
      });
      return resource;
    });
    expect(waiting.status?.phase).toBe("Creating");
    expect(waiting.status?.event?.at(-1)).toMatchObject({
      code: 301,
      message: expect.stringContaining("internalConfigRef"),
    });
    expect(await objects.list("statefulsets")).toEqual([]);
    await objects.configMap("ic", { "internal.properties": "server.port=8848\n" });
    await eventually(async () => {
      const { message } = conditionOf(await objects.get("nacos", "demo"), "ConfigReady");
      expect(message).toMatch(/userConfigRef.*uc/);
    });
    await objects.configMap("uc", { "user.properties": "nacos.console.ui.enabled=true\n" });
    await eventually(async () => expect(await digestOf()).toBe(M15_DIGEST), 5_000);
    await running();
    const before = await fingerprint();
    await objects.patch("nacos", "demo", { spec: { userConfigRef: { key: "other.properties" } } });
    await eventually(async () => {
      const condition = conditionOf(await objects.get("nacos", "demo"), "ConfigReady");
      expect(condition).toMatchObject({
        reason: "KeyNotFound",
        message: expect.stringContaining("other.properties"),
      });
    });
    await objects.patch("nacos", "demo", { spec: { userConfigRef: { key: null } } });
    await eventually(async () => {
      expect(conditionOf(await objects.get("nacos", "demo"), "ConfigReady").status).toBe("True");
    });
    expect(await fingerprint()).toEqual(before);
  });

  it("nacos A8 NACOS-317 NACOS-202: a source that is deleted disturbs nothing, and scaling still works", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const before = await fingerprint();
    await objects.delete("configmaps", "uc");
    const lost = await eventually(async () => {
      const resource = await objects.get("nacos", "demo");
      expect(conditionOf(resource, "ConfigReady").reason).toBe("SourceNotFound");
      return resource;
    });
    expect(lost.status).toMatchObject({ phase: "Running", configDigest: M15_DIGEST });
    await quiet(2_000);
    expect(await fingerprint()).toEqual(before);
    expect(await finalText()).toBe(M15);
    await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
    await eventually(async () => expect(await objects.list("pods")).toHaveLength(5), 60_000);
    expect(await digestOf()).toBe(M15_DIGEST);
    const { generation } = (await objects.get("statefulsets", "demo")).metadata;
    await objects.configMap("uc", { "user.properties": "nacos.console.ui.enabled=true\n" });
    await eventually(async () => {
      expect(conditionOf(await objects.get("nacos", "demo"), "ConfigReady").status).toBe("True");
    });
    expect((await objects.get("statefulsets", "demo")).metadata.generation).toBe(generation);
  });

  it("nacos A9 NACOS-336 NACOS-337: restores the generated object within two seconds and touches nothing else", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    await steady();
    const { resourceVersion } = (await objects.get("statefulsets", "demo")).metadata;
    const labels = { app: "demo", middleware: "nacos", component: "nacos" };
    for (const edit of [
      { data: { "application.properties": "x=1" } },
      { data: { "application.properties": null } },
      { data: { more: "y" } },
      { metadata: { labels: { middleware: null } } },
    ]) {
      await objects.patch("configmaps", "demo-final", edit);
      await eventually(async () => {
        const { data, metadata } = await objects.get("configmaps", "demo-final");
        expect(data).toEqual({ "application.properties": M15 });
        expect(metadata.labels).toMatchObject(labels);
      }, 2_000);
    }
    await objects.delete("configmaps", "demo-final");
    await eventually(async () => expect(await finalText()).toBe(M15), 2_000);
    expect((await objects.get("statefulsets", "demo")).metadata.resourceVersion).toBe(resourceVersion);
    await eventually(async () => {
      const reasons = (await objects.list("events")).map(({ reason }) => reason);
      expect(reasons).toContain("FinalConfigDriftRepaired");
    });
  });

  it("nacos A10 NACOS-204 NACOS-211 NACOS-311: restarts and unrelated edits write nothing, another image changes the template once", async () => {
    let manager = await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const before = await fingerprint();
    const since = Date.now();
    for (let restarts = 0; restarts < 3; restarts += 1) {
      await manager.stop();
      manager = await stage.startManager(NO_CHECK);
      await quiet(700);
    }
    await objects.patch("configmaps", "uc", { metadata: { labels: { l: "1" } }, data: { other: "x" } });
    await objects.patch("configmaps", "ic", { metadata: { annotations: { a: "1" } } });
    await quiet(2_500);
    expect(await stage.writes(since)).toEqual([]);
    const settled = Date.now();
    const passes = manager.reconciles("demo");
    await objects.patch("pods", "demo-0", { metadata: { labels: { l: "1" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(passes));
    await quiet(500);
    expect((await stage.requests(settled)).filter(({ verb }) => verb !== "watch")).toEqual([]);
    await objects.patch("nacos", "demo", { metadata: { labels: { team: "a" } } });
    await eventually(async () => {
      expect((await objects.get("statefulsets", "demo")).metadata.labels).toMatchObject({ team: "a" });
    });
    await quiet(500);
    expect(await fingerprint()).toEqual(before);
    expect(await finalText()).toBe(M15);
    const { generation } = (await objects.get("statefulsets", "demo")).metadata;
    await objects.patch("nacos", "demo", { spec: { image: `${IMAGE}-slim` } });
    await eventually(async () => {
      const { metadata } = await objects.get("statefulsets", "demo");
      expect(metadata.generation).toBe(generation! + 1);
    });
  });

  it("nacos A11 NACOS-322 NACOS-333 NACOS-335: never touches what belongs to somebody else, and goes on when it is gone", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const refs = { internalConfigRef: { name: "ic" }, userConfigRef: { name: "uc" } };
    await objects.nacos("demo2", { ...refs, finalConfigName: "demo-final" });
    await objects.configMap("mine", { "application.properties": "hands off" });
    await objects.nacos("demo3", { ...refs, finalConfigName: "mine" });
    await objects.nacos("demo4", { userConfigRef: { name: "demo4-final-config" } });
    await eventually(async () => {
      const two = conditionOf(await objects.get("nacos", "demo2"), "ConfigReady");
      expect(two).toMatchObject({
        reason: "FinalConfigConflict",
        message: expect.stringContaining("Nacos demo"),
      });
      const three = conditionOf(await objects.get("nacos", "demo3"), "ConfigReady");
      expect(three).toMatchObject({
        reason: "FinalConfigConflict",
        message: expect.stringContaining("unmanaged"),
      });
      const four = conditionOf(await objects.get("nacos", "demo4"), "SpecValid");
      expect(four).toMatchObject({ status: "False", reason: "ConfigLoop" });
    });
    expect((await objects.list("statefulsets")).map(({ metadata }) => metadata.name)).toEqual(["demo"]);
    expect(await finalText()).toBe(M15);
    expect(await finalText("mine")).toBe("hands off");
    await objects.delete("nacos", "demo");
    await eventually(async () => {
      const owners = (await objects.get("configmaps", "demo-final")).metadata.ownerReferences;
      expect(owners).toEqual([expect.objectContaining({ name: "demo2" })]);
    }, 90_000);
    await eventually(async () => expect(await digestOf("demo2")).toBe(M15_DIGEST));
  });

  it("nacos A12 NACOS-340 NACOS-341: another name of the final object rolls once and removes the old one at the end, across a restart", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    const { generation } = (await objects.get("statefulsets", "demo")).metadata;
    // The rollout lasts until the other manager is there.
    await objects.patch("pods", "demo-0", {
      metadata: { annotations: { [TEST_ANNOTATIONS.deleteDelay]: "5s" } },
    });
    await objects.patch("nacos", "demo", { spec: { finalConfigName: "demo-final2" } });
    await eventually(async () => expect(await objects.find("configmaps", "demo-final2")).toBeDefined());
    await manager.stop();
    expect(await objects.find("configmaps", "demo-final")).toBeDefined();
    await stage.startManager(NO_CHECK);
    await eventually(async () => {
      expect(await objects.find("configmaps", "demo-final")).toBeUndefined();
    }, 90_000);
    const volumes = (await objects.list("pods")).map((pod) => JSON.stringify(pod.spec?.volumes));
    expect(volumes.every((text) => text.includes("demo-final2"))).toBe(true);
    expect((await objects.get("statefulsets", "demo")).metadata.generation).toBe(generation! + 1);
    expect((await running()).status).toMatchObject({
      finalConfigName: "demo-final2",
      configDigest: M15_DIGEST,
    });
  });

  it("nacos A13 NACOS-342 NACOS-344 NACOS-362: leaves merged mode for the legacy text and comes back, one rollout each", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    const { generation } = (await objects.get("statefulsets", "demo")).metadata;
    await objects.patch("nacos", "demo", {
      spec: { userConfigRef: null, internalConfigRef: null, config: "k=v" },
    });
    await eventually(async () => {
      expect((await objects.get("configmaps", "demo")).data).toEqual({ "custom.properties": "k=v" });
      expect((await objects.get("nacos", "demo")).status).toMatchObject({
        configDigest: "",
        configMode: "legacy",
      });
    });
    const { metadata, spec } = await objects.get("statefulsets", "demo");
    expect(metadata.generation).toBe(generation! + 1);
    expect(spec.template.metadata.annotations ?? {}).not.toHaveProperty([DIGEST]);
    expect(spec.template.spec.containers[0]?.volumeMounts).toEqual([
      { name: "config", mountPath: "/home/nacos/init.d/custom.properties", subPath: "custom.properties" },
    ]);
    await eventually(
      async () => expect(await objects.find("configmaps", "demo-final")).toBeUndefined(),
      90_000,
    );
    await objects.patch("nacos", "demo", { spec: { config: "k=w" } });
    await eventually(async () => {
      expect((await objects.get("configmaps", "demo")).data).toEqual({ "custom.properties": "k=w" });
    });
    expect((await objects.get("statefulsets", "demo")).metadata.generation).toBe(generation! + 1);
    await objects.patch("nacos", "demo", {
      spec: { userConfigRef: { name: "uc" }, internalConfigRef: { name: "ic" } },
    });
    await eventually(async () => expect(await digestOf()).toBe(M15_DIGEST));
    await eventually(async () => expect(await objects.find("configmaps", "demo")).toBeUndefined(), 90_000);
    expect((await objects.get("statefulsets", "demo")).metadata.generation).toBe(generation! + 2);
  });

  it("nacos A14 NACOS-331: holds a configuration that is one byte too large, and takes it without that byte", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const before = await fingerprint();
    await user(`${"x".repeat(1_048_486)}\n`);
    await eventually(async () => {
      const condition = conditionOf(await objects.get("nacos", "demo"), "ConfigReady");
      expect(condition).toMatchObject({
        reason: "ConfigTooLarge",
        message: expect.stringMatching(/1048578.*1048576|1048577.*1048576/),
      });
    });
    expect(await fingerprint()).toEqual(before);
    expect(await digestOf()).toBe(M15_DIGEST);
    const overhead = 120 - "nacos.console.ui.enabled=true\n".length;
    await user(`${"x".repeat(1_048_576 - overhead - 1)}\n`);
    await eventually(async () => expect(await digestOf()).not.toBe(M15_DIGEST));
    expect(Buffer.byteLength((await finalText())!)).toBe(1_048_576);
  });

  it("nacos A15 NACOS-327 NACOS-330 NACOS-319: keeps the last good configuration for a bad escape, a protected key, an empty text", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", {
      configPolicy: { protectedKeys: ["server.*"], onViolation: "Reject" },
    });
    await running();
    const before = await fingerprint();
    const reason = async (expected: string, message = /./): Promise<void> => {
      await eventually(async () => {
        const condition = conditionOf(await objects.get("nacos", "demo"), "ConfigReady");
        expect(condition.reason).toBe(expected);
        expect(condition.message).toMatch(message);
      });
    };
    await user("ok=1\nx=\\u12\n");
    await reason("ConfigInvalid", /uc.*line 2/);
    await user("server\\.port=1\n");
    await reason("ProtectedKeyOverridden", /server\.port/);
    await user("");
    await objects.patch("configmaps", "ic", { data: { "internal.properties": "" } });
    await reason("EmptyConfig");
    expect(await fingerprint()).toEqual(before);
    expect(await digestOf()).toBe(M15_DIGEST);
    expect(await finalText()).toBe(M15);
  });

  it("NACOS-349: a source of many reaches exactly those that refer to it", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await objects.nacos("second", { userConfigRef: { name: "uc" } });
    await objects.configMap("other", { "user.properties": "a=1\n" });
    await objects.nacos("third", { userConfigRef: { name: "other" } });
    for (const name of ["demo", "second", "third"]) await running(name);
    const third = await fingerprint("third");
    const digests = await Promise.all(["demo", "second"].map((name) => digestOf(name)));
    const since = Date.now();
    await user("a=changed\n");
    await eventually(async () => {
      const now = await Promise.all(["demo", "second"].map((name) => digestOf(name)));
      expect(now.every((digest, at) => digest !== digests[at])).toBe(true);
    });
    expect((await stage.writes(since)).filter((write) => write.endsWith(" third"))).toEqual([]);
    expect(((await fingerprint("third")) as { generation: number }).generation).toBe(
      (third as { generation: number }).generation,
    );
    await objects.patch("nacos", "second", { spec: { userConfigRef: { name: "other" } } });
    const digest = await digestOf("third");
    await eventually(async () => expect(await digestOf("second")).toBe(digest));
    const demo = await digestOf();
    await user("a=again\n");
    await eventually(async () => expect(await digestOf()).not.toBe(demo));
    expect(await digestOf("second")).toBe(digest);
  });
});
