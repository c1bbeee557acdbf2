/** A resource at rest costs no write, whatever form its values have: the API server gives many back in another form. */

import type { JsonMap } from "@quartet/core/kinds";
import type { TestManager } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

const pod = (PodSpec: JsonMap): JsonMap => ({ k8sWrapper: { PodSpec } });
const nacos = (name: string, container: JsonMap): JsonMap => pod({ containers: [{ name, ...container }] });
const volume = (source: JsonMap): JsonMap => pod({ volumes: [{ name: "more", ...source }] });
const sidecar = (more: JsonMap): JsonMap => ({ name: "side", image: "example/side:1", ...more });

/** Specs by the name of the resource. */
const SPECS: Readonly<Record<string, JsonMap>> = {
  quantities: {
    resources: {
      limits: { cpu: "2000m", memory: "1024Mi", "ephemeral-storage": "0.5Gi" },
      requests: { cpu: 1, memory: "1e9" },
    },
  },
  "pod-resources": pod({ resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }),
  overhead: pod({ overhead: { cpu: "1000m" } }),
  "empty-resources": { resources: { limits: {}, requests: {} } },
  "env-forms": {
    env: [
      { name: "EMPTY", value: "" },
      { name: "NONE" },
      { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
      { name: "MEM", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1024Ki" } } },
      { name: "MILLI", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1000m" } } },
      { name: "MAP", valueFrom: { configMapKeyRef: { name: "a", key: "b", optional: false } } },
      { name: "TWICE", value: "1" },
      { name: "TWICE", value: "2" },
    ],
  },
  "probe-zeros": {
    livenessProbe: {
      tcpSocket: { port: 8848 },
      initialDelaySeconds: 0,
      timeoutSeconds: 0,
      periodSeconds: 0,
      successThreshold: 0,
      failureThreshold: 0,
    },
    readinessProbe: { httpGet: { port: "client", path: "", scheme: "" } },
  },
  "probe-grpc": nacos("probe-grpc", {
    startupProbe: { grpc: { port: 9848 }, terminationGracePeriodSeconds: 5 },
    lifecycle: { preStop: { httpGet: { port: 8848 } }, postStart: { sleep: { seconds: 0 } } },
  }),
  "probe-exec": nacos("probe-exec", { livenessProbe: { exec: { command: ["true"] } } }),
  ports: nacos("ports", {
    ports: [
      { name: "http", containerPort: 8848 },
      { name: "dns", containerPort: 53, protocol: "UDP" },
      { name: "dns-tcp", containerPort: 53, protocol: "" },
      { containerPort: 9999, hostPort: 0 },
    ],
  }),
  "host-network": pod({ hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet", hostPID: false }),
  "sidecar-env-twice": pod({
    containers: [
      sidecar({
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
        ports: [
          { name: "one", containerPort: 1 },
          { name: "two", containerPort: 1 },
        ],
      }),
    ],
  }),
  "sidecar-latest": pod({ containers: [sidecar({ image: "example/side" })] }),
  "sidecar-digest": pod({
    containers: [sidecar({ image: `example/side:latest@sha256:${"a".repeat(64)}` })],
    initContainers: [sidecar({ name: "init", image: `example:5000/side@sha256:${"a".repeat(64)}` })],
  }),
  "init-sidecar": pod({ initContainers: [sidecar({ restartPolicy: "Always", securityContext: {} })] }),
  account: pod({ serviceAccountName: "runner" }),
  "old-account": pod({ serviceAccount: "runner" }),
  "both-accounts": pod({ serviceAccount: "runner", serviceAccountName: "runner" }),
  zeros: pod({
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    shareProcessNamespace: false,
    hostIPC: false,
    hostUsers: true,
    setHostnameAsFQDN: false,
    priority: 0,
  }),
  nulls: pod({
    nodeSelector: null,
    affinity: null,
    tolerations: null,
    containers: [{ name: "nulls", lifecycle: null, env: null, command: null }, sidecar({ args: null })],
    securityContext: { runAsUser: null, sysctls: [] },
    volumes: [{ name: "more", configMap: { name: "a", items: null } }],
  }),
  empties: {
    affinity: {},
    tolerations: [],
    nodeSelector: {},
    imagePullSecrets: [],
    env: [],
    ...pod({
      affinity: { nodeAffinity: {}, podAntiAffinity: {} },
      securityContext: {},
      dnsConfig: {},
      hostAliases: [],
      containers: [{ name: "empties", securityContext: { capabilities: {} }, args: [] }],
    }),
  },
  tolerations: {
    tolerations: [
      { key: "a" },
      { operator: "Exists" },
      { key: "b", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 },
    ],
    ...pod({ tolerations: [{ key: "a", value: "", operator: "Equal", effect: "" }] }),
  },
  affinity: {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists", values: [] }] } },
        ],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: "kubernetes.io/hostname",
            labelSelector: { matchLabels: { app: "x" } },
            namespaces: [],
          },
        ],
      },
    },
  },
  "host-aliases": pod({
    hostAliases: [
      { ip: "10.0.0.1", hostnames: ["a"] },
      { ip: "10.0.0.1", hostnames: ["b"] },
    ],
    dnsConfig: { options: [{ name: "ndots", value: "2" }, { name: "edns0" }] },
  }),
  spread: pod({
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" },
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} },
    ],
  }),
  "volume-none": volume({}),
  "volume-map": volume({ configMap: { name: "a" } }),
  "volume-secret": volume({ secret: { secretName: "a", optional: false, items: [{ key: "a", path: "b" }] } }),
  "volume-empty": volume({ emptyDir: { sizeLimit: "1024Mi", medium: "" } }),
  "volume-host": volume({ hostPath: { path: "/tmp" } }),
  "volume-claim": volume({ persistentVolumeClaim: { claimName: "a", readOnly: false } }),
  "volume-downward": volume({
    downwardAPI: {
      items: [
        { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
        { path: "cpu", resourceFieldRef: { containerName: "volume-downward", resource: "limits.cpu" } },
      ],
    },
  }),
  "volume-projected": volume({
    projected: {
      sources: [
        { serviceAccountToken: { path: "token" } },
        { configMap: { name: "a" } },
        { secret: { name: "a" } },
        { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      ],
    },
  }),
  "volume-ephemeral": volume({
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
      },
    },
  }),
  "volume-csi": volume({ csi: { driver: "example.com" } }),
  "volume-image": volume({ image: { reference: "example/files:1" } }),
  "volume-image-latest": volume({ image: { reference: "example/files" } }),
  "volume-old": volume({ iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:a", lun: 0 } }),
  "volume-rbd": volume({ rbd: { monitors: ["10.0.0.1"], image: "a" } }),
  "volume-azure": volume({ azureDisk: { diskName: "a", diskURI: "https://example.com/a" } }),
  "volume-certificate": volume({
    projected: {
      sources: [
        { podCertificate: { signerName: "example.com/a", keyType: "ED25519", credentialBundlePath: "a" } },
        { clusterTrustBundle: { path: "b", name: "a" } },
      ],
    },
  }),
  "file-env": pod({
    containers: [
      sidecar({
        env: [{ name: "A", valueFrom: { fileKeyRef: { volumeName: "more", path: "env", key: "A" } } }],
      }),
    ],
    volumes: [{ name: "more", emptyDir: {} }],
  }),
  "volume-scale-io": volume({
    scaleIO: { gateway: "https://example.com", system: "a", secretRef: { name: "a" }, volumeName: "a" },
  }),
  claims: {
    volume: {
      persistentVolumeSize: "1024Mi",
      volumeClaimTemplate: { metadata: { labels: {} }, spec: { resources: {}, storageClassName: "none" } },
    },
  },
  "claims-plain": {
    volume: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "0.5Gi" } } } } },
  },
  "data-empty": { volume: { emptyDir: { sizeLimit: "1000M" } } },
  "data-host": { volume: { hostPath: { path: "/tmp/data" } } },
  service: {
    clientService: { type: "NodePort", annotations: {}, publishNotReadyAddresses: false, ipFamilies: [] },
  },
  "service-families": { clientService: { ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" } },
  "service-balancer": {
    clientService: {
      type: "LoadBalancer",
      loadBalancerClass: "example.com/lb",
      publishNotReadyAddresses: true,
    },
  },
  legacy: { config: "a=1\n" },
  auth: {
    certification: { enabled: true, token_expire_seconds: "" },
    function_mode: "all",
    mysqlInitImage: "",
  },
};

/** Passes over each of the resources that a process has made. */
const passes = (manager: TestManager): Map<string, number> =>
  new Map(Object.keys(SPECS).map((name) => [name, manager.reconciles(name)]));

async function nextPasses(manager: TestManager, before: ReadonlyMap<string, number>): Promise<void> {
  await eventually(async () => {
    for (const [name, count] of passes(manager)) expect(count, name).toBeGreaterThan(before.get(name) ?? 0);
  }, 120_000);
}

const events = async (reason: string): Promise<string[]> =>
  (await objects.list("events")).filter((event) => event.reason === reason).map(({ note }) => note);

describe("at rest", () => {
  it("NACOS-204 NACOS-211 NACOS-407 NACOS-506: no form of any value makes a second pass or a restarted manager write", async () => {
    const manager = await stage.startManager(NO_CHECK);
    for (const [name, spec] of Object.entries(SPECS)) await objects.nacos(name, { replicas: 0, ...spec });
    for (const name of Object.keys(SPECS)) {
      await eventually(async () => {
        const { status } = await objects.get("nacos", name);
        expect(status?.operatorConditions, name).toContainEqual(
          expect.objectContaining({ type: "Progressing", reason: "ScaledToZero" }),
        );
        expect((await objects.find("statefulsets", name))?.status?.observedGeneration, name).toBe(1);
      }, 60_000);
    }
    const started = passes(manager);
    await mark("1");
    await nextPasses(manager, started);

    const rested = passes(manager);
    const since = Date.now();
    await mark("2");
    await nextPasses(manager, rested);
    await manager.stop();
    await nextPasses(await stage.startManager(NO_CHECK), new Map());
    expect(await stage.writes(since)).toEqual([]);
    expect(await events("StatefulSetDriftRepaired")).toEqual([]);
  }, 400_000);

  it("NACOS-450 NACOS-410: a field that the server drops is named, is taken for nobody's edit, and costs no more writes", async () => {
    const manager = await stage.startManager(NO_CHECK);
    await objects.nacos("demo", { ...nacos("demo", { noField: 1 }) });
    await eventually(async () =>
      expect(await events("PodFieldIgnored")).toEqual([expect.stringContaining("containers.demo.noField")]),
    );
    await eventually(async () => expect((await objects.get("nacos", "demo")).status?.phase).toBe("Running"));
    await eventually(async () => {
      expect((await objects.get("statefulsets", "demo")).status?.availableReplicas).toBe(1);
    }, 60_000);
    const since = Date.now();
    const before = manager.reconciles("demo");
    await objects.patch("nacos", "demo", { metadata: { annotations: { "nacos.io/mark": "1" } } });
    await eventually(async () => expect(manager.reconciles("demo")).toBeGreaterThan(before));
    expect((await stage.writes(since)).filter((write) => write.includes("statefulsets"))).toEqual([]);
    expect((await objects.get("statefulsets", "demo")).metadata.generation).toBe(1);
    expect(await events("StatefulSetDriftRepaired")).toEqual([]);
  });
});

/** Queues all resources without a change that means anything. */
async function mark(value: string): Promise<void> {
  for (const name of Object.keys(SPECS)) {
    await objects.patch("nacos", name, { metadata: { annotations: { "nacos.io/mark": value } } });
  }
}
