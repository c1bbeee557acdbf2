/** TServer: admission and children, with the webhooks really called (acceptance S-01 to S-11). */
import type { Ground } from "@quartet/tars-tserver/testkit";
import type { Json } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GROUND_MS, openTarsGround } from "./support/ground.ts";
import { APPS, ECHO, echoSpec, type LiveObject, openScene, type Scene } from "./support/scene.ts";

let ground: Ground;
let scene: Scene;
let number = 0;
beforeAll(async () => {
  ground = await openTarsGround();
}, GROUND_MS);
afterAll(() => ground.close(), GROUND_MS);
beforeEach(async () => {
  scene = await openScene(await ground.openPlace(number++));
});
afterEach(() => scene.close());

const createEcho = (k8s: Json = {}, more: Json = {}, metadata: Json = {}) =>
  scene.create("TServer", ECHO, { metadata, spec: echoSpec(k8s, more) });
const statefulSet = (): Promise<LiveObject> => scene.get("StatefulSet", ECHO, APPS);
const podSpec = async (): Promise<LiveObject> => (await statefulSet()).spec.template.spec;
const release = {
  id: "v1",
  image: "r.example/echo:v1",
  secret: "s1",
  nodeImage: "r.example/node:v1",
  nodeSecret: "s2",
};

it("TARS-S-01 TARS-R-001 TARS-R-003 TARS-MAP-015 TARS-MAP-093 a new server has all its children, and its Service follows each edit", async () => {
  expect((await createEcho()).code).toBe(201);
  const { metadata, spec } = await scene.get("TServer", ECHO);
  expect(metadata.labels).toEqual({
    "tars.io/ServerApp": "Demo",
    "tars.io/ServerName": "EchoServer",
    "tars.io/SubType": "tars",
    "tars.io/Template": "tt.cpp",
  });
  expect(spec).toMatchObject({ important: 3, k8s: { readinessGate: "tars.io/active", replicas: 0 } });
  await eventually(async () => {
    const { apps } = await scene.get("TTree", "tars-tree");
    expect(apps).toMatchObject([{ name: "Demo", businessRef: "", mark: "AddByController" }]);
  });
  const ports = async () => {
    const service = await scene.get("Service", ECHO, "v1");
    expect(service.spec.clusterIP).toBe("None");
    return service.spec.ports.map(({ name, port, protocol }: LiveObject) => `${name} ${port} ${protocol}`);
  };
  await eventually(async () => expect(await ports()).toEqual(["firstobj 10000 TCP", "secondobj 10001 UDP"]));
  const { uid } = (await scene.get("Service", ECHO, "v1")).metadata;
  await eventually(async () => {
    expect((await statefulSet()).spec.replicas).toBe(0);
    const pod = await podSpec();
    expect(pod.initContainers.map(({ name }: LiveObject) => name)).toEqual(["tarsnode"]);
    expect(pod.containers[0].image).toBe(" ");
    const endpoint = await scene.get("TEndpoint", ECHO);
    expect(endpoint.spec.tars.servants[0]).toEqual({
      ...{ name: "FirstObj", port: 10000, thread: 3, capacity: 10000, connection: 10000 },
      ...{ isTars: true, isTcp: true, timeout: 60000 },
    });
    expect(endpoint.spec.tars.profile).toBe("");
    expect(endpoint.status.pods).toEqual([]);
    const { app, server, pods } = await scene.get("TExitedRecord", ECHO);
    expect({ app, server, pods }).toEqual({ app: "Demo", server: "EchoServer", pods: [] });
  });
  const servants = (...names: [string, number][]) =>
    scene.patch("TServer", ECHO, {
      spec: { tars: { servants: names.map(([name, port]) => ({ name, port })) } },
    });
  await servants(["ThirdObj", 10002], ["FirstObj", 10000], ["SecondObj", 10001]);
  await eventually(async () =>
    expect(await ports()).toEqual(["thirdobj 10002 TCP", "firstobj 10000 TCP", "secondobj 10001 TCP"]),
  );
  await servants(["ThirdObj", 10002], ["FourthObj", 10004], ["SecondObj", 10001]);
  await eventually(async () => expect((await ports())[1]).toBe("fourthobj 10004 TCP"));
  await servants(["ThirdObj", 10002], ["SecondObj", 10001]);
  await eventually(async () => expect(await ports()).toEqual(["thirdobj 10002 TCP", "secondobj 10001 TCP"]));
  expect((await scene.get("Service", ECHO, "v1")).metadata.uid).toBe(uid);
});

it("TARS-S-02 TARS-M-015 TARS-M-017 TARS-R-091 TARS-MAP-044 a release needs an image of tarsnode, runs, and can be taken back", async () => {
  await createEcho();
  const bare = { spec: { release: { id: "v0", image: "r.example/echo:v0" } } };
  const refused = await scene.patch("TServer", ECHO, bare);
  expect(refused).toMatchObject({
    code: 400,
    message: expect.stringContaining("no default node image has been set"),
  });
  expect(refused.message).toContain("denied the request:");
  const framework = {
    nodeImage: { image: "r.example/node:fw" },
    imageRegistry: { registry: "r.example/tars" },
  };
  expect((await scene.create("TFrameworkConfig", "tars-framework", framework)).code).toBe(201);
  const nodeImage = async () => (await podSpec()).initContainers[0].image;
  await eventually(async () => expect(await nodeImage()).toBe("r.example/node:fw"));
  await eventually(async () => expect((await scene.patch("TServer", ECHO, bare)).code).toBe(200));
  expect((await scene.get("TServer", ECHO)).spec.release.nodeImage).toBe("r.example/node:fw");
  await scene.patch("TServer", ECHO, { spec: { release, k8s: { replicas: 3 } } });
  const { spec, metadata } = await scene.get("TServer", ECHO);
  expect(spec.release.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(metadata.labels["tars.io/ServerID"]).toBe("v1");
  await eventually(async () => {
    const { template, replicas } = (await statefulSet()).spec;
    expect(replicas).toBe(3);
    expect(template.metadata.labels["tars.io/ServerID"]).toBe("v1");
    expect(template.spec.containers[0].image).toBe("r.example/echo:v1");
    expect(template.spec.initContainers[0].image).toBe("r.example/node:v1");
    expect(template.spec.imagePullSecrets).toEqual([{ name: "s1" }, { name: "s2" }]);
  });
  await scene.patch("TFrameworkConfig", "tars-framework", { nodeImage: { image: "r.example/node:new" } });
  await scene.patch("TServer", ECHO, { spec: { k8s: { replicas: 4 } } });
  await eventually(async () => expect((await statefulSet()).spec.replicas).toBe(4));
  expect(await nodeImage()).toBe("r.example/node:v1");
  await scene.patch("TServer", ECHO, { spec: { release: null } });
  await eventually(async () => {
    const { template, replicas } = (await statefulSet()).spec;
    expect(replicas).toBe(0);
    expect(template.spec.containers[0].image).toBe(" ");
    expect(template.spec.initContainers[0].image).toBe("r.example/node:new");
    expect(template.metadata.labels).not.toHaveProperty(["tars.io/ServerID"]);
  });
  expect((await scene.get("TServer", ECHO)).metadata.labels).not.toHaveProperty(["tars.io/ServerID"]);
});

const port = (name: string, number: number) => ({ name, port: number });
const tars = (servants: Json[], ports?: Json[]): Json => ({
  tars: { template: "tt.cpp", servants, ...(ports && { ports }) },
});
const mount = (name: string, source: Json): Json => ({ name, mountPath: `/${name}`, source });
const CLAIM = {
  persistentVolumeClaimTemplate: {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1G" } } },
  },
};

it.each<[string, string, string, Json, Json]>([
  ["TARS-V-003", "unexpected resource name", "demo-other", {}, {}],
  ["TARS-V-017", "not exist", ECHO, {}, { tars: { template: "xx", servants: [] } }],
  ["TARS-V-013", "19385", ECHO, {}, tars([port("FirstObj", 19385)])],
  ["TARS-V-010", "duplicate servant name", ECHO, {}, tars([port("FirstObj", 1), port("firstObj", 2)])],
  ["TARS-V-011", "duplicate port value", ECHO, {}, tars([port("A", 3000), port("B", 3000)])],
  ["TARS-V-014", "firstobj", ECHO, {}, tars([port("FirstObj", 1)], [port("firstobj", 2)])],
  ["TARS-V-020", "nope not exist", ECHO, { hostPorts: [{ nameRef: "nope", port: 1 }] }, {}],
  [
    "TARS-V-021",
    "duplicate port value 99",
    ECHO,
    {
      hostPorts: [
        { nameRef: "FirstObj", port: 99 },
        { nameRef: "SecondObj", port: 99 },
      ],
    },
    {},
  ],
  [
    "TARS-V-022",
    "duplicate .mounts.name",
    ECHO,
    { mounts: [mount("m1", { emptyDir: {} }), mount("m1", { emptyDir: {} })] },
    {},
  ],
  ["TARS-V-023", "daemonSet", ECHO, { daemonSet: true, mounts: [mount("m1", { tLocalVolume: {} })] }, {}],
  ["TARS-V-023", "daemonSet", ECHO, { daemonSet: true, mounts: [mount("m1", CLAIM)] }, {}],
  ["TARS-V-012", "NodeObj", ECHO, {}, tars([port("NodeObj", 3000)])],
])("TARS-S-03 %s a server is refused: %s (%s %j %j)", async (_rule, content, name, k8s, more) => {
  const refused = await scene.create("TServer", name, { spec: echoSpec(k8s, more) });
  expect(refused).toMatchObject({ code: 400, message: expect.stringContaining(content) });
  expect(refused.message).toContain("denied the request:");
  expect(await scene.find("TServer", name)).toBeUndefined();
});

it("TARS-S-03 TARS-V-012 TARS-V-013 the reserved name and port are free for normal servers", async () => {
  const spec = echoSpec({}, { subType: "normal", normal: { ports: [port("nodeobj", 19385)] } });
  delete spec.tars;
  expect((await scene.create("TServer", ECHO, { spec })).code).toBe(201);
});

it("TARS-S-04 TARS-V-001 TARS-V-002 TARS-M-004 what a server is stays as it is, its template may change", async () => {
  await createEcho();
  const refused = async (spec: Json) => (await scene.patch("TServer", ECHO, { spec })).code;
  for (const spec of [{ app: "Other" }, { server: "Other" }, { subType: "normal" }]) {
    expect(await refused(spec)).toBe(400);
  }
  for (const spec of [{ k8s: null }, { tars: null }]) expect([400, 422]).toContain(await refused(spec));
  expect(await refused({ subType: "normal", tars: null, normal: { ports: [] } })).toBe(400);
  expect(await refused({ tars: { template: "missing" } })).toBe(400);
  await scene.create("TTemplate", "tt.other", { spec: { content: "", parent: "tt.cpp" } });
  expect(await refused({ tars: { template: "tt.other" } })).toBe(200);
  expect((await scene.get("TServer", ECHO)).metadata.labels["tars.io/Template"]).toBe("tt.other");
});

it("TARS-S-05 TARS-MAP-060 TARS-MAP-061 TARS-MAP-062 affinity follows the server", async () => {
  await createEcho();
  const { namespace } = scene;
  const node = { key: `tars.io/node.${namespace}`, operator: "Exists" };
  const app = { key: `tars.io/ability.${namespace}.Demo`, operator: "Exists" };
  const server = { key: `tars.io/ability.${namespace}.Demo-EchoServer`, operator: "Exists" };
  const becomes = (...expressions: Json[]) =>
    eventually(async () => {
      const { nodeAffinity } = (await podSpec()).affinity;
      const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = nodeAffinity;
      expect(required).toEqual({ nodeSelectorTerms: [{ matchExpressions: expressions }] });
      return preferred;
    });
  const set = (k8s: Json) => scene.patch("TServer", ECHO, { spec: { k8s } });
  expect(await becomes(node)).toEqual({});
  await set({ abilityAffinity: "AppRequired" });
  expect(await becomes(node, app)).toEqual({});
  await set({ abilityAffinity: "ServerRequired" });
  expect(await becomes(node, server)).toEqual({});
  await set({ abilityAffinity: "AppOrServerPreferred" });
  expect(await becomes(node)).toEqual({
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 60, preference: { matchExpressions: [server] } },
      { weight: 30, preference: { matchExpressions: [app] } },
    ],
  });
  const own = [
    { key: "kubernetes.io/hostname", operator: "Exists" },
    { key: "MyLabel", operator: "In", values: ["v1", "v2"] },
  ];
  await set({ nodeSelector: own });
  await becomes(...own, node);
});

it("TARS-S-06 TARS-M-009 TARS-MAP-053 TARS-MAP-064 ports of the node keep the pods apart", async () => {
  await createEcho({ hostPorts: [{ nameRef: "FirstObj", port: 3323 }] });
  expect((await scene.get("TServer", ECHO)).spec.k8s.notStacked).toBe(true);
  await eventually(async () => {
    const { spec } = await statefulSet();
    const { affinity, containers } = spec.template.spec;
    expect(affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey).toBe(
      "kubernetes.io/hostname",
    );
    expect(containers[0].ports).toEqual([
      { name: "firstobj", containerPort: 10000, protocol: "TCP", hostPort: 3323 },
      { name: "secondobj", containerPort: 10001, protocol: "UDP" },
    ]);
    expect(spec.volumeClaimTemplates).toBeUndefined();
  });
  await scene.patch("TServer", ECHO, { spec: { k8s: { hostNetwork: true } } });
  await eventually(async () => {
    const { dnsPolicy, containers } = await podSpec();
    expect(dnsPolicy).toBe("ClusterFirstWithHostNet");
    expect(containers[0].ports[0].hostPort).not.toBe(3323);
  });
});

it("TARS-S-07 TARS-R-031 TARS-R-032 TARS-R-033 a claim template goes, the StatefulSet is made anew, claims of users stay", async () => {
  const { persistentVolumeClaimTemplate: template } = CLAIM;
  const own = {
    persistentVolumeClaimTemplate: {
      ...template,
      metadata: { labels: { tier: "db" }, annotations: { a: "b" } },
    },
  };
  const mounts = [
    mount("m0", { emptyDir: {} }),
    mount("m1", { hostPath: { path: "/p", type: "" } }),
    mount("m2", { configMap: { name: "c" } }),
    mount("m3", { persistentVolumeClaim: { claimName: "p" } }),
    mount("m4", own),
    mount("m5", { tLocalVolume: {} }),
  ];
  await createEcho({ mounts });
  const claims = async (): Promise<string[]> =>
    ((await statefulSet()).spec.volumeClaimTemplates ?? []).map(({ metadata }: LiveObject) => metadata.name);
  await eventually(async () => {
    const { volumes, containers } = await podSpec();
    expect(volumes.map(({ name }: LiveObject) => name)).toEqual([
      ...["m0", "m1", "m2", "m3", "host-timezone", "tarsnode-work-dir"],
    ]);
    expect(containers[0].volumeMounts).toHaveLength(8);
    expect(await claims()).toEqual(["m4", "m5"]);
  });
  const labels = { "tars.io/ServerApp": "Demo", "tars.io/ServerName": "EchoServer", tier: "db" };
  await scene.create(
    "PersistentVolumeClaim",
    `m4-${ECHO}-0`,
    { metadata: { labels }, spec: template.spec },
    "v1",
  );
  const { uid } = (await statefulSet()).metadata;
  await scene.patch("TServer", ECHO, {
    spec: { k8s: { mounts: mounts.filter(({ name }) => name !== "m4") } },
  });
  await eventually(async () => {
    expect((await statefulSet()).metadata.uid).not.toBe(uid);
    expect(await claims()).toEqual(["m5"]);
  }, 60_000);
  expect(
    (await scene.get("PersistentVolumeClaim", `m4-${ECHO}-0`, "v1")).metadata.deletionTimestamp,
  ).toBeUndefined();
  await eventually(async () => {
    const events = await scene.list("Event", "v1");
    expect(events.map(({ reason }) => reason)).toContain("StatefulSetRecreated");
  });
});

it("TARS-S-08 TARS-R-006 TARS-MAP-081 D10 there is one kind of workload, and a Service only beside the StatefulSet", async () => {
  await createEcho();
  await eventually(() => statefulSet());
  await scene.patch("TServer", ECHO, { spec: { k8s: { daemonSet: true } } });
  await eventually(async () => {
    const { spec } = (await scene.get("DaemonSet", ECHO, APPS)).spec.template;
    expect(spec.readinessGates).toEqual([{ conditionType: "tars.io/active" }]);
    expect(Object.keys(spec.affinity)).toEqual(["nodeAffinity"]);
    expect(await scene.find("StatefulSet", ECHO, APPS)).toBeUndefined();
    expect(await scene.find("Service", ECHO, "v1")).toBeUndefined();
  });
  await scene.patch("TServer", ECHO, { spec: { k8s: { daemonSet: false } } });
  await eventually(async () => {
    expect(await scene.find("DaemonSet", ECHO, APPS)).toBeUndefined();
    expect(await scene.find("StatefulSet", ECHO, APPS)).toBeDefined();
    expect(await scene.find("Service", ECHO, "v1")).toBeDefined();
  });
});

it("TARS-R-002 TARS-MAP-040 a service account alone comes into the pods, and goes", async () => {
  await createEcho();
  await eventually(statefulSet);
  for (const account of ["sa", null]) {
    await scene.patch("TServer", ECHO, { spec: { k8s: { serviceAccount: account } } });
    await eventually(async () => expect((await podSpec()).serviceAccountName ?? null).toBe(account));
  }
});

it("TARS-S-09 TARS-MAP-022 TARS-MAP-023 TARS-MAP-038 settings come into the pods, the policy of the pods stays", async () => {
  await createEcho({
    env: [
      { name: "A", value: "1" },
      { name: "B", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
      { name: "C", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ],
    envFrom: [{ configMapRef: { name: "c" } }, { secretRef: { name: "s" } }],
    resources: { requests: { cpu: "100m" }, limits: { cpu: "120m" } },
    serviceAccount: "sa",
    imagePullPolicy: "IfNotPresent",
    updateStrategy: { type: "OnDelete" },
    launcherType: "foreground",
  });
  await eventually(async () => {
    const { updateStrategy } = (await statefulSet()).spec;
    expect(updateStrategy).toEqual({ type: "OnDelete" });
    const { containers, initContainers, serviceAccountName } = await podSpec();
    const [main] = containers;
    expect(serviceAccountName).toBe("sa");
    expect(main.env[1].valueFrom.configMapKeyRef).toEqual({ name: "c", key: "k", optional: true });
    expect(main.envFrom).toEqual([
      { configMapRef: { name: "c", optional: true } },
      { secretRef: { name: "s", optional: true } },
    ]);
    expect(main.resources).toEqual({ requests: { cpu: "100m" }, limits: { cpu: "120m" } });
    expect(main.imagePullPolicy).toBe("IfNotPresent");
    expect(initContainers[0].env.at(-1)).toEqual({ name: "LauncherType", value: "foreground" });
  });
  await scene.patch("TServer", ECHO, { spec: { k8s: { podManagementPolicy: "OrderedReady" } } });
  await eventually(async () => {
    const events = await scene.list("Event", "v1");
    expect(events.map(({ reason }) => reason)).toContain("ImmutableField");
  });
  expect((await statefulSet()).spec.podManagementPolicy).toBe("Parallel");
});

it("TARS-S-10 TARS-M-010 TARS-M-011 TARS-M-012 TARS-R-044 replicas stay within the bounds, by scale as well", async () => {
  const annotations = { "tars.io/MinReplicas": "2", "tars.io/MaxReplicas": "4" };
  await createEcho({}, { release }, { annotations });
  const path = `${await scene.place.pathOf({ apiVersion: "k8s.tars.io/v1beta2", kind: "TServer" }, ECHO)}/scale`;
  const scale = async (replicas: number) => {
    await scene.place.client.ok(
      "PATCH",
      path,
      { spec: { replicas } },
      { contentType: "application/merge-patch+json" },
    );
    return (await scene.get("TServer", ECHO)).spec.k8s.replicas;
  };
  expect(await scale(9)).toBe(4);
  await eventually(async () => {
    const { status } = await scene.place.client.ok<LiveObject>("GET", path);
    const selector = "tars.io/ServerApp=Demo,tars.io/ServerName=EchoServer";
    expect(status).toEqual({ replicas: 4, selector });
  });
  expect(await scale(1)).toBe(2);
  const annotate = (min: string, max: string) =>
    scene.patch("TServer", ECHO, {
      metadata: { annotations: { "tars.io/MinReplicas": min, "tars.io/MaxReplicas": max } },
    });
  expect(await annotate("x", "4")).toMatchObject({
    code: 400,
    message: expect.stringContaining("unexpected annotation format"),
  });
  expect(await annotate("5", "4")).toMatchObject({
    code: 400,
    message: expect.stringContaining("unexpected annotation value"),
  });
});

it("TARS-S-11 TARS-M-005 TARS-M-006 TARS-CV-002 the gate of the registry stays, and v1beta3 loses no other gate", async () => {
  await createEcho();
  const gates = async () =>
    ((await podSpec()).readinessGates ?? []).map(({ conditionType }: LiveObject) => conditionType);
  await scene.patch("TServer", ECHO, { spec: { k8s: { readinessGate: null } } });
  expect((await scene.get("TServer", ECHO)).spec.k8s.readinessGate).toBe("tars.io/active");
  await scene.patch("TServer", ECHO, { spec: { k8s: { readinessGate: "foo" } } });
  await eventually(async () => expect(await gates()).toEqual(["tars.io/active"]));
  const v3 = "k8s.tars.io/v1beta3";
  expect(
    (
      await scene.patch(
        "TServer",
        ECHO,
        { spec: { k8s: { readinessGates: ["a", "b"], command: ["/run"] } } },
        v3,
      )
    ).code,
  ).toBe(200);
  await eventually(async () => expect(await gates()).toEqual(["tars.io/active", "a", "b"]));
  expect((await podSpec()).containers[0].command).toEqual(["/run"]);
  expect((await scene.get("TServer", ECHO)).spec.k8s.readinessGate).toBe("tars.io/active");
  const stored = await scene.get("TServer", ECHO, v3);
  expect(stored.spec.k8s).toMatchObject({ readinessGates: ["tars.io/active", "a", "b"], command: ["/run"] });
});

it("TARS-R-020 TARS-R-011 a child that somebody edits or deletes is put right", async () => {
  await createEcho();
  await eventually(() => statefulSet());
  await scene.patch(
    "StatefulSet",
    ECHO,
    { spec: { replicas: 5, template: { spec: { dnsPolicy: "Default" } } } },
    APPS,
  );
  await eventually(async () => {
    const { replicas, template } = (await statefulSet()).spec;
    expect([replicas, template.spec.dnsPolicy]).toEqual([0, "ClusterFirst"]);
  });
  const { uid } = (await scene.get("Service", ECHO, "v1")).metadata;
  await scene.delete("Service", ECHO, "v1");
  await eventually(async () => expect((await scene.get("Service", ECHO, "v1")).metadata.uid).not.toBe(uid));
});

it("TARS-R-008 TARS-S-19 TARS-R-005 somebody else's Service is left alone and told of, the rest of the server comes and goes", async () => {
  const foreign = { ports: [{ name: "x", port: 1 }], selector: { a: "b" } };
  await scene.create("Service", ECHO, { metadata: { labels: { mine: "1" } }, spec: foreign }, "v1");
  const before = await scene.get("Service", ECHO, "v1");
  await createEcho();
  await eventually(() => statefulSet());
  await eventually(async () => {
    const events = await scene.list("Event", "v1");
    expect(events.map(({ reason }) => reason)).toContain("OutControl");
  });
  await scene.delete("TServer", ECHO);
  await eventually(async () => expect(await scene.find("StatefulSet", ECHO, APPS)).toBeUndefined());
  const { resourceVersion } = (await scene.get("Service", ECHO, "v1")).metadata;
  expect(resourceVersion).toBe(before.metadata.resourceVersion);
});
