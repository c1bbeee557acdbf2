/** Scenarios of the workload: StatefulSet, Services, health, refusals, repairs. */
import type { JsonMap } from "@quartet/core/kinds";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Nacos } from "../src/api.gen.ts";
import {
  conditionOf,
  createBase,
  eventually,
  IMAGE,
  inPhase,
  nodesOf,
  type Objects,
  objectsOf,
  quiet,
} from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

const CREDENTIALS = { name: "serverIdentity", value: "security" };

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const running = (name?: string): Promise<Nacos> => inPhase(objects, "Running", name);
const ready = async (type: string, name = "demo") => conditionOf(await objects.get("nacos", name), type);
const generation = async (name = "demo"): Promise<number> =>
  (await objects.get("statefulsets", name)).metadata.generation ?? 0;
const container = async (name = "demo") =>
  (await objects.get("statefulsets", name)).spec.template.spec.containers.find((item) => item.name === name)!;
const envOf = async (name = "demo"): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(((await container(name)).env ?? []).map(({ name: key, value }) => [key, value]));

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

  it("NACOS-106: zero nodes are no failure", async () => {
    await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { type: "cluster", replicas: 3 });
    await running();
    await objects.patch("nacos", "demo", { spec: { replicas: 0 } });
    const resource = await inPhase(objects, "Creating");
    expect(conditionOf(resource, "Progressing")).toMatchObject({ reason: "ScaledToZero" });
    await eventually(async () => expect(await objects.list("pods")).toEqual([]), 60_000);
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
});
