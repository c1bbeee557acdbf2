/** Scenarios of the workload: StatefulSet, Services, health, conflicts, adoption. */

import type { JsonMap } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import { recreateRecord } from "../src/desired/recreate.ts";
import { peerAdoptions } from "../src/fixtures.testkit.ts";
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
import { createStorage } from "./support/storage.ts";

const CREDENTIALS = { name: "serverIdentity", value: "security" };

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const running = (name = "demo"): Promise<Nacos> => inPhase("Running", name);
const inPhase = (phase: string, name = "demo"): Promise<Nacos> =>
  eventually(async () => {
    const resource = await objects.get("nacos", name);
    expect(resource.status?.phase).toBe(phase);
    return resource;
  }, 60_000);
const container = async (name = "demo") =>
  (await objects.get("statefulsets", name)).spec.template.spec.containers.find((item) => item.name === name)!;
const envOf = async (name = "demo"): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(((await container(name)).env ?? []).map(({ name: key, value }) => [key, value]));
const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const generation = async (name = "demo"): Promise<number> =>
  (await objects.get("statefulsets", name)).metadata.generation ?? 0;
const ready = (type: string, name = "demo") =>
  objects.get("nacos", name).then((resource) => conditionOf(resource, type));

describe("workload", () => {
  it("nacos A3 NACOS-402 NACOS-422 NACOS-502: standalone has one node, its mode and no headless Service", async () => {
    stage.nacosFor("demo");
    await stage.startManager();
    await objects.nacos("demo", { type: "standalone", replicas: 1 });
    const resource = await running();
    expect(nodesOf(resource)).toEqual([
      expect.objectContaining({ type: "leader", status: "true", podName: "demo-0" }),
    ]);
    expect(await envOf()).toMatchObject({ MODE: "standalone", EMBEDDED_STORAGE: "embedded" });
    expect(await container()).not.toHaveProperty("command");
    const { template } = (await objects.get("statefulsets", "demo")).spec;
    expect(template.metadata.annotations ?? {}).toEqual({});
    const services = (await objects.list("services")).map(({ metadata }) => metadata.name);
    expect(services.sort()).toEqual(["demo", "demo-client"]);
  });

  it("nacos A4 nacos A5 NACOS-412 NACOS-914: a cluster lists its members, and growing rolls them once while it stays Running", async () => {
    stage.nacosFor("demo");
    await stage.startManager();
    await objects.nacos("demo", {
      type: "cluster",
      replicas: 3,
      k8sWrapper: { PodSpec: { schedulerName: "default-scheduler", terminationGracePeriodSeconds: 7 } },
    });
    await running();
    expect((await container()).command).toEqual(["/bin/bash", "-c", "bin/docker-startup.sh"]);
    expect(await container()).not.toHaveProperty("lifecycle");
    const { NACOS_SERVERS: three, NACOS_REPLICAS } = await envOf();
    expect(three?.split(" ")).toEqual(
      [0, 1, 2].map((at) => `demo-${at}.demo-headless.${stage.namespace}.svc.cluster.local:8848`),
    );
    expect(NACOS_REPLICAS).toBe("3");
    const { template } = (await objects.get("statefulsets", "demo")).spec;
    expect(template.spec).toMatchObject({ terminationGracePeriodSeconds: 7 });
    await eventually(async () => {
      expect((await objects.get("statefulsets", "demo")).status?.availableReplicas).toBe(3);
    }, 60_000);

    const before = await generation();
    await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
    const phases = new Set<string>();
    await eventually(async () => {
      const grown = await objects.get("nacos", "demo");
      phases.add(grown.status?.phase ?? "");
      const nodes = nodesOf(grown);
      expect(nodes).toHaveLength(5);
      expect(nodes.filter(({ type, status }) => type === "follower" && status === "true")).toHaveLength(4);
    }, 90_000);
    expect([...phases]).toEqual(["Running"]);
    expect(await generation()).toBe(before + 1);
    expect((await envOf()).NACOS_SERVERS).toMatch(new RegExp(`^${three} demo-3\\..* demo-4\\.`));
  }, 180_000);

  it("nacos A6 NACOS-1001 NACOS-1002: deletes what it made through its owner, and leaves the sources alone", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createBase(objects);
    const { metadata } = await running();
    expect(metadata).not.toHaveProperty("finalizers");
    await objects.delete("nacos", "demo");
    await eventually(async () => {
      expect(await objects.list("statefulsets")).toEqual([]);
      expect(await objects.find("configmaps", "demo-final")).toBeUndefined();
    }, 90_000);
    for (const name of ["ic", "uc"]) {
      expect((await objects.get("configmaps", name)).metadata).not.toHaveProperty("ownerReferences");
    }
    const log = manager.log();
    expect(log).not.toContain('"level":"error"');
  });

  it("NACOS-1006 NACOS-1002: a resource that is made anew under its old name starts from nothing", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    const first = await running();
    const old = (await objects.get("statefulsets", "demo")).metadata.uid;
    await objects.delete("nacos", "demo");
    await objects.nacos("demo", {
      userConfigRef: { name: "uc" },
      internalConfigRef: { name: "ic" },
      finalConfigName: "demo-final",
    });
    await eventually(async () => {
      const { metadata } = await objects.get("statefulsets", "demo");
      expect(metadata.uid).not.toBe(old);
      expect(metadata.ownerReferences?.[0]?.uid).not.toBe(first.metadata.uid);
    }, 90_000);
    await running();
  });

  it("nacos A16 NACOS-350 NACOS-351: Secret sources end in a Secret, and no value appears anywhere else", async () => {
    const manager = await stage.startManager({ ...NO_CHECK, logLevel: "trace" });
    await objects.configMap("ic", {
      "internal.properties": "server.port=8848\nordinary=MARK-0\nmy.credential=MARK-1\n",
    });
    const text = "db.password.0=MARK-2\na.secret=MARK-3\na.token=MARK-4\nkey.key=MARK-5\nserver.port=8848\n";
    await objects.create("secrets", "sc", {
      apiVersion: "v1",
      kind: "Secret",
      stringData: { "user.properties": text },
    });
    await objects.nacos("guarded", {
      internalConfigRef: { name: "ic" },
      userConfigRef: { name: "sc", kind: "Secret" },
      configPolicy: { protectedKeys: ["server.*", "db.*"], onViolation: "Warn" },
    });
    const resource = await running("guarded");
    const final = await objects.get("secrets", "guarded-final-config");
    expect(final.type).toBe("Opaque");
    expect(Buffer.from(final.data!["application.properties"]!, "base64").toString()).toContain("MARK-2");
    const { volumes } = (await objects.get("statefulsets", "guarded")).spec.template.spec;
    expect(volumes).toEqual([
      { name: "config", secret: expect.objectContaining({ secretName: "guarded-final-config" }) },
    ]);
    await objects.patch("nacos", "guarded", { spec: { finalConfigKind: "ConfigMap" } });
    await eventually(async () =>
      expect(await ready("SpecValid", "guarded")).toMatchObject({ reason: "SecretLeak" }),
    );
    await objects.patch("nacos", "guarded", { spec: { finalConfigKind: null } });
    await objects.patch("secrets", "sc", { stringData: { "user.properties": `${text}bad=\\u12MARK-6` } });
    await eventually(async () =>
      expect(await ready("ConfigReady", "guarded")).toMatchObject({ reason: "ConfigInvalid" }),
    );
    await eventually(async () => {
      const reasons = (await objects.list("events")).map(({ reason }) => reason);
      expect(reasons).toEqual(
        expect.arrayContaining(["ConfigMerged", "ConfigInvalid", "ProtectedKeyOverridden"]),
      );
    });
    const seen = [
      manager.log(),
      await manager.metrics(),
      JSON.stringify([resource.status, (await objects.get("nacos", "guarded")).status]),
      JSON.stringify(await objects.list("events")),
      JSON.stringify((await objects.list("configmaps")).filter(({ metadata }) => metadata.name !== "ic")),
      JSON.stringify(await objects.list("statefulsets")),
    ];
    for (const output of seen) expect(output).not.toContain("MARK-");
    expect(await manager.metrics()).toMatch(/nacos_config_bytes\{[^}]*name="guarded"[^}]*\} \d+/);
  });

  it("NACOS-353: metrics count merges by result and rollouts", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await createBase(objects, "demo", { replicas: 1 });
    await running();
    await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
    await eventually(async () => {
      const text = await manager.metrics();
      expect(text).toMatch(/nacos_config_rollouts_total 1\b/);
      expect(text).toMatch(/nacos_config_merge_total\{result="ready"\} [1-9]/);
    });
  });

  it("nacos A18 NACOS-901 NACOS-906 NACOS-909: counts ready pods of new Kubernetes, and passes the login of Nacos 3 by its identity", async () => {
    stage.nacosFor("demo", { version: "3.0.1", auth: true, identity: CREDENTIALS });
    await stage.startManager();
    await objects.nacos("demo", { type: "cluster", image: "nacos/nacos-server:v3.0.1", replicas: 3 });
    const unverified = await running();
    expect(conditionOf(unverified, "NodesVerified")).toMatchObject({
      status: "Unknown",
      reason: "AuthRequired",
    });
    expect(nodesOf(unverified).map(({ type }) => type)).toEqual(["unknown", "unknown", "unknown"]);
    await objects.create("secrets", "identity", {
      apiVersion: "v1",
      kind: "Secret",
      stringData: { identity_key: CREDENTIALS.name, identity_value: CREDENTIALS.value },
    });
    await objects.patch("nacos", "demo", { spec: { identitySecretRef: { name: "identity" } } });
    await eventually(async () => {
      const resource = await objects.get("nacos", "demo");
      expect(conditionOf(resource, "NodesVerified")).toMatchObject({ status: "True" });
      expect(resource.status).toMatchObject({ phase: "Running", version: "3.0.1" });
    }, 60_000);
  });

  it("nacos A18 NACOS-905 NACOS-209: nodes that do not answer hold up nobody else, also when they outnumber the workers", async () => {
    const names = ["hang-a", "hang-b", "hang-c", "hang-d", "hang-e", "hang-f"];
    const hanging = names.map((name) => stage.nacosFor(name));
    stage.nacosFor("fine");
    await stage.startManager();
    for (const name of names) await objects.nacos(name, {});
    await eventually(async () => {
      for (const nacos of hanging) expect(nacos.members).toHaveLength(1);
    }, 60_000);
    for (const nacos of hanging) nacos.behaviour.hung.add(nacos.members[0]!.ip);
    for (const name of names) {
      await objects.patch("nacos", name, { metadata: { annotations: { look: "again" } } });
    }
    const begin = performance.now();
    await objects.nacos("fine", {});
    await running("fine");
    expect(performance.now() - begin).toBeLessThan(10_000);
    for (const name of names) {
      await eventually(async () => {
        expect(await ready("NodesVerified", name)).toMatchObject({ status: "False", reason: "Timeout" });
      });
    }
  });

  it("NACOS-904: asks the nodes at the port and path of their properties, also while a source is missing", async () => {
    const nacos = stage.nacosFor("demo", { port: 9_848, contextPath: "/n" });
    await stage.startManager();
    await objects.configMap("ic", {
      "internal.properties": "server.port=9848\nserver.servlet.contextPath=/n\n",
    });
    await objects.nacos("demo", { internalConfigRef: { name: "ic" } });
    await running();
    await eventually(async () => {
      expect((await objects.list("events")).map(({ reason }) => reason)).toContain("NonDefaultPort");
    });
    await objects.delete("configmaps", "ic");
    await eventually(async () =>
      expect(await ready("ConfigReady")).toMatchObject({ reason: "SourceNotFound" }),
    );
    expect(await ready("NodesVerified")).toMatchObject({ status: "True" });
    expect(nacos.requests.filter(({ status }) => status === 200).length).toBeGreaterThan(1);
  });

  it("NACOS-103 NACOS-104 NACOS-108: writes nothing for a resource that cannot be carried out, and tells why", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("two", { type: "standalone", replicas: 2 });
    await objects.nacos("bare", { image: "" });
    await objects.nacos("size", { volume: { persistentVolumeSize: "10Gb!" } });
    const expected = { two: "StandaloneReplicas", bare: "ImageMissing", size: "QuantityInvalid" };
    for (const [name, reason] of Object.entries(expected)) {
      await eventually(async () => {
        const resource = await objects.get("nacos", name);
        expect(conditionOf(resource, "SpecValid")).toMatchObject({ status: "False", reason });
        expect(resource.status?.event?.at(-1)).toMatchObject({ code: 301, status: false });
      });
    }
    expect(await objects.list("statefulsets")).toEqual([]);
    await objects.patch("nacos", "two", { spec: { replicas: 1 } });
    await running("two");
    expect(conditionOf(await objects.get("nacos", "two"), "SpecValid").status).toBe("True");
  });

  it("NACOS-115 NACOS-111: another type is refused, the pods stay, and setting it back clears it", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 1 });
    await running();
    const before = await generation();
    const pods = (await objects.list("pods")).map(({ metadata }) => metadata.uid);
    await objects.patch("nacos", "demo", { spec: { type: "standalone", image: `${IMAGE}-x` } });
    await eventually(async () => expect(await ready("SpecValid")).toMatchObject({ reason: "TypeImmutable" }));
    expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running");
    expect(await generation()).toBe(before);
    await objects.patch("nacos", "demo", { spec: { type: "cluster", image: IMAGE } });
    await eventually(async () => expect(await ready("SpecValid")).toMatchObject({ status: "True" }));
    expect(await generation()).toBe(before);
    expect((await objects.list("pods")).map(({ metadata }) => metadata.uid)).toEqual(pods);
  });

  it("NACOS-115 NACOS-1005: nodes that an orphaning deletion left are adopted as they are, and not as another type", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    const before = await objects.get("statefulsets", "demo");
    await objects.delete("nacos", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("nacos", "demo")).toBeUndefined(), 120_000);
    const refs = { userConfigRef: { name: "uc" }, internalConfigRef: { name: "ic" } };
    await objects.nacos("demo", { ...refs, type: "standalone", finalConfigName: "demo-final" });
    await eventually(async () =>
      expect(await ready("SpecValid")).toMatchObject({ status: "False", reason: "TypeImmutable" }),
    );
    expect((await objects.get("statefulsets", "demo")).spec).toEqual(before.spec);
    await objects.patch("nacos", "demo", { spec: { type: "cluster", replicas: 3 } });
    await running();
    const { metadata, spec } = await objects.get("statefulsets", "demo");
    const { uid } = (await objects.get("nacos", "demo")).metadata;
    expect(metadata.ownerReferences).toEqual([expect.objectContaining({ uid, controller: true })]);
    expect(spec).toEqual(before.spec);
  }, 300_000);

  it("NACOS-1005 NACOS-805: what an orphaning deletion left goes with the next resource of the name, the signing key too", async () => {
    await stage.startManager(NO_CHECK);
    const spec = { config: "a=1\n", certification: { enabled: true } };
    await objects.nacos("demo", spec);
    await running();
    const children = async () => [
      ...(await objects.list("statefulsets")),
      ...(await objects.list("services")),
      await objects.get("configmaps", "demo"),
      await objects.get("secrets", "demo-nacos-auth"),
    ];
    const before = await children();
    await objects.delete("nacos", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("nacos", "demo")).toBeUndefined(), 120_000);
    for (const { metadata } of await children()) expect(metadata).not.toHaveProperty("ownerReferences");
    await objects.nacos("demo", spec);
    await running();
    const { uid } = (await objects.get("nacos", "demo")).metadata;
    await eventually(async () => {
      for (const { kind, metadata } of await children()) {
        expect(metadata.ownerReferences, `${kind} ${metadata.name}`).toEqual([
          expect.objectContaining({ uid, controller: true }),
        ]);
      }
    });
    const after = await children();
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
    expect(after.at(-1)).toHaveProperty("data", (before.at(-1) as unknown as JsonMap).data);
    expect(await generation()).toBe(1);
  }, 300_000);

  it("NACOS-106: zero nodes are no failure", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    await running();
    await objects.patch("nacos", "demo", { spec: { replicas: 0 } });
    const resource = await inPhase("Creating");
    expect(conditionOf(resource, "Progressing")).toMatchObject({ reason: "ScaledToZero" });
    await eventually(async () => expect(await objects.list("pods")).toEqual([]), 60_000);
  });

  it("NACOS-413 NACOS-509: leaves a StatefulSet and a Service of somebody else alone, and adopts on request", async () => {
    const template = {
      metadata: { labels: { app: "theirs" } },
      spec: { containers: [{ name: "demo", image: "theirs:1" }] },
    };
    await objects.create("statefulsets", "demo", {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      spec: { replicas: 1, serviceName: "", selector: { matchLabels: { app: "theirs" } }, template },
    });
    await objects.create("services", "demo-client", {
      apiVersion: "v1",
      kind: "Service",
      spec: { ports: [{ port: 1 }], selector: { app: "theirs" } },
    });
    const before = (await objects.get("services", "demo-client")).metadata.resourceVersion;
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await eventually(async () => {
      expect(await ready("Ready")).toMatchObject({
        status: "False",
        reason: "ResourceConflict",
        message: expect.stringContaining("StatefulSet demo"),
      });
    });
    expect((await objects.get("statefulsets", "demo")).metadata).not.toHaveProperty("ownerReferences");
    expect((await objects.get("services", "demo-client")).metadata.resourceVersion).toBe(before);
    await objects.patch("nacos", "demo", { metadata: { annotations: { "nacos.io/adopt": "true" } } });
    await running();
    const { metadata, spec } = await objects.get("statefulsets", "demo");
    expect(metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
    expect(spec.template.spec.containers[0]?.image).toBe("theirs:1");
    expect((await objects.get("services", "demo-client")).spec.selector).toEqual({ app: "theirs" });
  });

  it("NACOS-410 NACOS-415 NACOS-416 NACOS-508: repairs what was edited or deleted by hand", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    await running();
    await objects.patch("statefulsets", "demo", { spec: { replicas: 2 } });
    await eventually(async () => expect((await objects.get("statefulsets", "demo")).spec.replicas).toBe(3));
    await objects.patch("services", "demo-client", { spec: { selector: { app: "other" } } });
    await eventually(async () => {
      expect((await objects.get("services", "demo-client")).spec.selector).toMatchObject({ app: "demo" });
    }, 2_000);
    await objects.delete("services", "demo-headless");
    await eventually(
      async () => expect(await objects.find("services", "demo-headless")).toBeDefined(),
      2_000,
    );
    const image = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "theirs:1" }];
    const path = `/apis/apps/v1/namespaces/${stage.namespace}/statefulsets/demo`;
    await stage.client.ok("PATCH", path, image, { contentType: "application/json-patch+json" });
    await eventually(async () => expect((await container()).image).toBe(IMAGE));
    await eventually(async () => {
      const reasons = (await objects.list("events")).map(({ reason }) => reason);
      expect(reasons).toContain("StatefulSetDriftRepaired");
    });
    const { uid } = (await objects.get("statefulsets", "demo")).metadata;
    await objects.delete("statefulsets", "demo");
    await eventually(async () => {
      const again = await objects.find("statefulsets", "demo");
      expect(again?.metadata.uid).toBeDefined();
      expect(again?.metadata.uid).not.toBe(uid);
    }, 60_000);
  });

  it("NACOS-408: a restart by kubectl is not undone", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await running();
    const annotations = { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" };
    await objects.patch("statefulsets", "demo", { spec: { template: { metadata: { annotations } } } });
    const restarted = await generation();
    await quiet(2_000);
    expect(await generation()).toBe(restarted);
    const { template } = (await objects.get("statefulsets", "demo")).spec;
    expect(template.metadata.annotations).toEqual(annotations);
  });

  it("NACOS-450 NACOS-206: a pod that the API server refuses is reported without its values, the old one stays", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await running();
    const before = await generation();
    await objects.patch("nacos", "demo", {
      spec: { k8sWrapper: { PodSpec: { restartPolicy: "MARK-Sometimes" } } },
    });
    await eventually(async () => {
      const condition = await ready("SpecValid");
      expect(condition).toMatchObject({ status: "False", reason: "PodSpecRejected" });
      expect(condition.message).toContain("restartPolicy");
      expect(condition.message).not.toContain("MARK");
    });
    const malformed = { PodSpec: { restartPolicy: null, terminationGracePeriodSeconds: "MARK" } };
    await objects.patch("nacos", "demo", { spec: { k8sWrapper: malformed } });
    await eventually(async () => {
      const { message, ...condition } = await ready("SpecValid");
      expect(condition).toMatchObject({ status: "False", reason: "PodSpecRejected" });
      expect(message).toMatch(/spec\.template\.spec\.terminationGracePeriodSeconds must be of type int64$/);
    });
    expect(await generation()).toBe(before);
    await objects.patch("nacos", "demo", { spec: { k8sWrapper: null } });
    await eventually(async () => expect(await ready("SpecValid")).toMatchObject({ status: "True" }));
  });

  it("NACOS-210: a paused resource is watched and not written, and goes on at once", async () => {
    await stage.startManager(NO_CHECK);
    await createBase(objects);
    await running();
    await objects.patch("nacos", "demo", { metadata: { annotations: { "nacos.io/paused": "true" } } });
    await eventually(async () =>
      expect(await ready("Progressing")).toMatchObject({ status: "False", reason: "Paused" }),
    );
    const before = await generation();
    await objects.patch("configmaps", "uc", { data: { "user.properties": "a=1\n" } });
    await objects.patch("nacos", "demo", { spec: { replicas: 5 } });
    await quiet(2_500);
    expect(await generation()).toBe(before);
    await objects.patch("nacos", "demo", { metadata: { annotations: { "nacos.io/paused": null } } });
    // Without any further event; the change of the pods waits until all of the young cluster are available (NACOS-465).
    await eventually(async () => expect((await objects.get("statefulsets", "demo")).spec.replicas).toBe(5));
  });

  it("NACOS-213: writes nothing while the peer operator renews its Lease, and takes over when it stops", async () => {
    const lease = (second: number): JsonMap => ({
      spec: {
        holderIdentity: "peer",
        leaseDurationSeconds: 3,
        renewTime: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`,
      },
    });
    await objects.create("leases", "219866ca.nacos.io", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      ...lease(0),
    });
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {});
    await eventually(async () => {
      expect(await ready("Ready")).toMatchObject({ status: "Unknown", reason: "PeerOperatorActive" });
    });
    for (let second = 1; second < 4; second += 1) {
      await objects.patch("leases", "219866ca.nacos.io", lease(second));
      await quiet(1_000);
    }
    expect((await objects.get("nacos", "demo")).status?.phase ?? "").toBe("");
    expect(await objects.list("statefulsets")).toEqual([]);
    await running();
  });

  it("NACOS-805 NACOS-813: generates a signing key once, refers to it, and keeps it", async () => {
    let manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { certification: { enabled: true } });
    await running();
    const { data } = await objects.get("secrets", "demo-nacos-auth");
    const token = Buffer.from(data!.token!, "base64").toString();
    expect(Buffer.from(token, "base64")).toHaveLength(32);
    const variable = (await container()).env?.find(({ name }) => name === "NACOS_AUTH_TOKEN");
    expect(variable?.valueFrom).toEqual({ secretKeyRef: { name: "demo-nacos-auth", key: "token" } });
    const log = manager.log();
    await manager.stop();
    manager = await stage.startManager(NO_CHECK);
    await quiet(1_000);
    expect((await objects.get("secrets", "demo-nacos-auth")).data).toEqual(data);
    for (const output of [log, manager.log(), JSON.stringify((await objects.get("nacos", "demo")).status)]) {
      expect(output).not.toContain(token);
      expect(output).not.toContain(data!.token!);
    }
  });

  it("NACOS-407 CORE-324: false and 0 where absent means something else, and the order of init containers, arrive and go again", async () => {
    await stage.startManager(NO_CHECK);
    const init = (name: string) => ({ name, image: "example/init:1" });
    const wrapper = (more: JsonMap, names: string[]) => ({
      k8sWrapper: { PodSpec: { initContainers: names.map(init), ...more } },
    });
    await objects.nacos("demo", wrapper({}, ["a", "b"]));
    await running();
    const pod = async () => (await objects.get("statefulsets", "demo")).spec.template.spec;
    const set = (spec: JsonMap) => objects.patch("nacos", "demo", { spec });
    await set(wrapper({ automountServiceAccountToken: false }, ["a", "b"]));
    await eventually(async () => expect(await pod()).toMatchObject({ automountServiceAccountToken: false }));
    await set(wrapper({ automountServiceAccountToken: null, terminationGracePeriodSeconds: 0 }, ["a", "b"]));
    await eventually(async () => {
      expect(await pod()).not.toHaveProperty("automountServiceAccountToken");
      expect(await pod()).toMatchObject({ terminationGracePeriodSeconds: 0 });
    });
    await set(wrapper({}, ["b", "a"]));
    await eventually(async () =>
      expect((await pod()).initContainers?.map(({ name }) => name)).toEqual(["b", "a"]),
    );
  });

  it("NACOS-465: an edit while pods are ready and not yet available does not replace them all at once", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    const readyPods = async (): Promise<number> =>
      (await objects.list("pods")).filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined &&
          status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
      ).length;
    await eventually(async () => expect(await readyPods()).toBe(3), 60_000);
    await objects.patch("nacos", "demo", { spec: { env: [{ name: "A", value: "1" }] } });
    await eventually(async () =>
      expect(await ready("Progressing")).toMatchObject({ reason: "WaitingForAvailability" }),
    );
    let fewest = 3;
    await eventually(async () => {
      fewest = Math.min(fewest, await readyPods());
      const { spec } = await objects.get("statefulsets", "demo");
      expect(JSON.stringify(spec.template)).toContain('"name":"A"');
      expect(await ready("Progressing")).toMatchObject({ reason: "RolloutComplete" });
    }, 150_000);
    expect(fewest).toBeGreaterThanOrEqual(2);
  });

  it("nacos A17 NACOS-605 NACOS-606 NACOS-610: claims grow under running pods", async () => {
    const storageClass = await createStorage(stage, objects, "demo", 3);
    await stage.startManager(NO_CHECK);
    const volume = {
      volumeClaimTemplate: { spec: { storageClassName: storageClass } },
      persistentVolumeSize: "1Gi",
    };
    await objects.nacos("demo", { type: "cluster", replicas: 3, volume });
    await running();
    const before = await objects.get("statefulsets", "demo");
    const uids = async (resource: "pods" | "persistentvolumeclaims") =>
      (await objects.list(resource)).map(({ metadata }) => metadata.uid).sort();
    const [pods, claims] = [await uids("pods"), await uids("persistentvolumeclaims")];
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    const after = await eventually(async () => {
      const again = await objects.get("statefulsets", "demo");
      expect(again.metadata.uid).not.toBe(before.metadata.uid);
      expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
      return again;
    }, 60_000);
    expect(after.spec.template).toEqual(before.spec.template);
    const sizes = (spec: JsonMap) => (spec.resources as { requests: { storage: string } }).requests.storage;
    expect(after.spec.volumeClaimTemplates?.map(({ spec }) => sizes(spec))).toEqual(["2Gi"]);
    const grown = (await objects.list("persistentvolumeclaims")).map(({ spec }) => sizes(spec));
    expect(grown).toEqual(["2Gi", "2Gi", "2Gi"]);
    await running();
    await quiet(1_500);
    expect(await uids("pods")).toEqual(pods);
    expect(await uids("persistentvolumeclaims")).toEqual(claims);
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "1Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeShrinkRefused" }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(after.metadata.uid);
  }, 120_000);

  it("nacos A17 NACOS-607: a StatefulSet that was deleted and not yet made anew is made by its record", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    await running();
    await manager.stop();
    const resource = await objects.get("nacos", "demo");
    const before = await objects.get("statefulsets", "demo");
    const pods = async () => (await objects.list("pods")).map(({ metadata }) => metadata.uid).sort();
    const uids = await pods();
    const annotations = { ...before.metadata.annotations, recorded: "yes" };
    const record = recreateRecord(resource, { ...before, metadata: { ...before.metadata, annotations } }, []);
    await objects.create("controllerrevisions", "demo-sts-recreate", { ...record });
    await objects.delete("statefulsets", "demo", "?propagationPolicy=Orphan");
    await eventually(async () => expect(await objects.find("statefulsets", "demo")).toBeUndefined(), 60_000);
    await objects.patch("nacos", "demo", { spec: { image: "" } });
    await stage.startManager(NO_CHECK);
    await eventually(async () => {
      const { metadata, spec } = await objects.get("statefulsets", "demo");
      expect(metadata.annotations).toMatchObject({ recorded: "yes" });
      expect(spec.template).toEqual(before.spec.template);
      expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
    });
    await quiet(1_000);
    expect(await pods()).toEqual(uids);
  });

  it("NACOS-607 NACOS-611: what a tenant can write makes no StatefulSet, here or elsewhere", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", {}, { annotations: { "nacos.io/paused": "true" } });
    const resource = await objects.get("nacos", "demo");
    const spec = {
      selector: { matchLabels: { app: "evil" } },
      template: {
        metadata: { labels: { app: "evil" } },
        spec: { containers: [{ name: "evil", image: "evil:1", securityContext: { privileged: true } }] },
      },
    };
    const evil = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "evil", namespace: "kube-system", labels: { app: "evil" } },
      spec,
    };
    const ours = { app: "demo", component: "nacos", middleware: "nacos", "nacos.io/record": "recreate" };
    const { name, uid } = resource.metadata;
    const owner = {
      apiVersion: "nacos.io/v1alpha1",
      kind: "Nacos",
      name: name!,
      uid: uid!,
      controller: true,
    };
    for (const kind of ["Secret", "ConfigMap"]) {
      const text = (value: object) =>
        kind === "Secret" ? Buffer.from(JSON.stringify(value)).toString("base64") : JSON.stringify(value);
      await objects.create(kind === "Secret" ? "secrets" : "configmaps", "demo-sts-recreate", {
        apiVersion: "v1",
        kind,
        metadata: { labels: ours, ownerReferences: [owner] },
        data: { "statefulset.json": text(evil), spec: text(spec) },
      });
    }
    await eventually(async () => expect(await ready("Progressing")).toMatchObject({ reason: "Paused" }));
    await quiet(1_500);
    expect(await objects.list("statefulsets")).toEqual([]);
    const path = "/apis/apps/v1/namespaces/kube-system/statefulsets/evil";
    expect((await stage.client.request("GET", path)).code).toBe(404);

    // Nor does the record itself say anything about the identity of what is made of it.
    const record = { apiVersion: "apps/v1", kind: "ControllerRevision", revision: 1 };
    await objects.create("controllerrevisions", "demo-sts-recreate", {
      ...record,
      metadata: { labels: ours, ownerReferences: [owner] },
      data: { ...evil, labels: { app: "evil" }, ownerReferences: [{ ...owner, name: "evil" }] },
    });
    const made = await eventually(() => objects.get("statefulsets", "demo"));
    expect(made.metadata).toMatchObject({ labels: { app: "demo" }, ownerReferences: [{ name, uid }] });
    expect((await objects.list("statefulsets")).map(({ metadata }) => metadata.name)).toEqual(["demo"]);
    expect((await stage.client.request("GET", path)).code).toBe(404);
    await manager.stop();
  });

  it("NACOS-605: claims that cannot grow leave the StatefulSet as it is", async () => {
    const storageClass = await createStorage(stage, objects, "demo", 1, false);
    await stage.startManager(NO_CHECK);
    const volume = {
      volumeClaimTemplate: { spec: { storageClassName: storageClass } },
      persistentVolumeSize: "1Gi",
    };
    await objects.nacos("demo", { volume });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({
        reason: "VolumeResizeRefused",
        message: expect.stringContaining("the storage class does not let claims grow"),
      }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
    expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
  });

  it("NACOS-605: a claim that has no volume yet is told from one that can never grow", async () => {
    const storageClassName = await createStorage(stage, objects, "demo", 0);
    await stage.startManager(NO_CHECK);
    const volume = { volumeClaimTemplate: { spec: { storageClassName } }, persistentVolumeSize: "1Gi" };
    await objects.nacos("demo", { volume });
    await eventually(async () =>
      expect(await objects.find("persistentvolumeclaims", "db-demo-0")).toBeDefined(),
    );
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "2Gi" } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({
        reason: "VolumeResizeRefused",
        message: expect.stringContaining("before it is bound"),
      }),
    );
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
  });

  it("NACOS-609: other volumes replace those of a StatefulSet for the generation that allows them", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { volume: { emptyDir: {} } });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", {
      spec: { volume: { emptyDir: null, hostPath: { path: "/data" } } },
    });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeChangeUnsupported" }),
    );
    const generationNow = (await objects.get("nacos", "demo")).metadata.generation;
    await objects.patch("nacos", "demo", {
      metadata: { annotations: { "nacos.io/allow-volume-recreate": String(generationNow) } },
    });
    await eventually(async () => {
      const { metadata: again, spec } = await objects.get("statefulsets", "demo");
      expect(again.uid).not.toBe(metadata.uid);
      expect(spec.template.spec.volumes).toEqual([
        { name: "db", hostPath: expect.objectContaining({ path: "/data" }) },
      ]);
    }, 60_000);
    await running();
  });

  it("NACOS-606 NACOS-609: a StatefulSet that the server would not take back is not deleted", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { volume: { emptyDir: {} } });
    await running();
    const { metadata } = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", {
      spec: {
        volume: { emptyDir: null, hostPath: { path: "/data" } },
        k8sWrapper: { PodSpec: { restartPolicy: "Sometimes" } },
      },
    });
    const now = (await objects.get("nacos", "demo")).metadata.generation;
    await objects.patch("nacos", "demo", {
      metadata: { annotations: { "nacos.io/allow-volume-recreate": String(now) } },
    });
    await eventually(async () => {
      const { message, ...condition } = await ready("SpecValid");
      expect(condition).toMatchObject({ status: "False", reason: "PodSpecRejected" });
      expect(message).toContain("restartPolicy");
    });
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
    expect(await objects.find("controllerrevisions", "demo-sts-recreate")).toBeUndefined();
    await objects.patch("nacos", "demo", {
      spec: { volume: { emptyDir: {}, hostPath: null }, k8sWrapper: null },
    });
    await eventually(async () => expect(await ready("SpecValid")).toMatchObject({ status: "True" }));
    expect((await objects.get("statefulsets", "demo")).metadata.uid).toBe(metadata.uid);
  });

  it("NACOS-608 NACOS-609: refuses volumes that the StatefulSet cannot get, and changes nothing", async () => {
    await stage.startManager(NO_CHECK);
    const volume = { volumeClaimTemplate: { spec: {} }, persistentVolumeSize: "2Gi" };
    await objects.nacos("demo", { volume });
    await eventually(async () => expect(await objects.find("statefulsets", "demo")).toBeDefined());
    const before = await objects.get("statefulsets", "demo");
    await objects.patch("nacos", "demo", { spec: { volume: { persistentVolumeSize: "1Gi" }, image: "x:1" } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeShrinkRefused" }),
    );
    await objects.patch("nacos", "demo", { spec: { volume: { volumeClaimTemplate: null, emptyDir: {} } } });
    await eventually(async () =>
      expect(await ready("Ready")).toMatchObject({ reason: "VolumeChangeUnsupported" }),
    );
    const after = await objects.get("statefulsets", "demo");
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  it.each(peerAdoptions())(
    "nacos A19 NACOS-414 NACOS-506: adopts what the peer made without rolling it: $name",
    async (row) => {
      const { resource, sources, statefulSet, otherChildren } = structuredClone(row);
      const name = resource.metadata.name!;
      const create = async (path: string, object: JsonMap, owner?: string): Promise<Nacos> => {
        const text = JSON.stringify(object).replaceAll('"UID"', JSON.stringify(owner ?? "UID"));
        const body = JSON.parse(
          text.replaceAll('"namespace":"t"', `"namespace":"${stage.namespace}"`),
        ) as JsonMap;
        return stage.client.ok("POST", `${path}/namespaces/${stage.namespace}/${plural(object)}`, body);
      };
      for (const source of sources) await create("/api/v1", source as unknown as JsonMap);
      const { status: _status, ...bare } = resource;
      const created = await create("/apis/nacos.io/v1alpha1", bare as unknown as JsonMap);
      const path = `/apis/nacos.io/v1alpha1/namespaces/${stage.namespace}/nacos/${name}/status`;
      const status = { phase: "Running", healthy: true };
      await stage.client.ok("PATCH", path, { status }, { contentType: "application/merge-patch+json" });
      const owner = created.metadata.uid!;
      await create("/apis/apps/v1", statefulSet as unknown as JsonMap, owner);
      for (const child of otherChildren) {
        if (child.kind === "Pod") continue;
        const job = child.kind === "Job";
        await create(job ? "/apis/batch/v1" : "/api/v1", job ? unsubmitted(child) : child, owner);
      }
      const settled = async () => {
        const live = await objects.get("statefulsets", name);
        expect(live.status?.updateRevision).toBeDefined();
        return live;
      };
      const before = await eventually(settled, 60_000);
      const client = await objects.get("services", `${name}-client`);
      const since = Date.now();
      await stage.startManager(NO_CHECK);
      await eventually(async () => {
        const { metadata } = await objects.get("statefulsets", name);
        expect(metadata.annotations).toMatchObject({ "nacos.io/template-revision": "peer" });
      });
      await quiet(2_000);
      const after = await objects.get("statefulsets", name);
      expect(after.spec).toEqual(before.spec);
      expect(after.status?.updateRevision).toBe(before.status?.updateRevision);
      expect((await objects.get("services", `${name}-client`)).spec).toEqual(client.spec);
      const writes = await stage.writes(since);
      expect(writes.filter((write) => /^(create|delete)/.test(write))).toEqual([]);
    },
  );
});

/** A recorded Job without what the API server had added and accepts from nobody. */
function unsubmitted(job: JsonMap): JsonMap {
  const { selector: _selector, template, ...spec } = job.spec as JsonMap & { template: JsonMap };
  return { ...job, spec: { ...spec, template: { ...template, metadata: {} } } };
}

function plural(object: JsonMap): string {
  const kind = String(object.kind).toLowerCase();
  return kind === "nacos" ? kind : `${kind}s`;
}
