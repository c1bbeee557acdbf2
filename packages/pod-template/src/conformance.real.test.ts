/** The comparison beside a real API server: what it calls a difference is one in what the server stores, and only that. */
import { BUILT_IN, type Shape, type TypeName } from "@quartet/strategic-merge";
import { attachControlPlane, type TestClient, testClient, testNamespace } from "@quartet/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { templateDifference } from "./compare.ts";
import { isMap, type JsonMap } from "./json.ts";
import { isPointer } from "./pointers.ts";

/** A template that uses most of what a pod can have, so that the fields of many types can be set and left out. */
const RICH: JsonMap = {
  metadata: { labels: { app: "a" } },
  spec: {
    securityContext: {
      seccompProfile: { type: "RuntimeDefault" },
      sysctls: [{ name: "kernel.shm_rmid_forced", value: "1" }],
    },
    dnsConfig: { options: [{ name: "ndots" }] },
    tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute" }],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "z",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { a: "b" } },
      },
    ],
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "z", labelSelector: { matchLabels: { a: "b" } } },
        ],
      },
    },
    readinessGates: [{ conditionType: "x.io/y" }],
    hostAliases: [{ ip: "1.2.3.4", hostnames: ["h"] }],
    volumes: [
      { name: "config", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
      { name: "secret", secret: { secretName: "s", items: [{ key: "k", path: "p" }] } },
      { name: "down", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.name" } }] } },
      { name: "host", hostPath: { path: "/x" } },
      { name: "empty", emptyDir: {} },
      { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      { name: "nfs", nfs: { server: "s", path: "/x" } },
      { name: "csi", csi: { driver: "d.io" } },
      {
        name: "projected",
        projected: {
          sources: [
            { serviceAccountToken: { path: "t", audience: "a" } },
            { configMap: { name: "c" } },
            { secret: { name: "s" } },
          ],
        },
      },
      {
        name: "ephemeral",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
    ],
    initContainers: [{ name: "i", image: "i:1" }],
    containers: [
      {
        name: "c",
        image: "i:1",
        securityContext: { capabilities: { add: ["NET_ADMIN"] } },
        ports: [{ containerPort: 80 }],
        env: [
          { name: "A", value: "1" },
          { name: "B", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
          { name: "C", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
          { name: "D", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "E", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        ],
        envFrom: [{ configMapRef: { name: "c" } }, { secretRef: { name: "s" } }],
        resources: { limits: { cpu: "1", memory: "1Gi" } },
        volumeMounts: [{ name: "empty", mountPath: "/e" }],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { tcpSocket: { port: 80 } },
        startupProbe: { grpc: { port: 80 } },
        lifecycle: { preStop: { httpGet: { port: 80 } } },
      },
    ],
  },
};

interface Step {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly pointer: boolean;
}

/** Every scalar field below a value, with its zero. */
function zeros(type: TypeName, value: JsonMap, path: readonly (string | number)[] = []): Step[] {
  return [...(BUILT_IN.types.get(type) ?? [])].flatMap(([member, { shape }]): Step[] => {
    const at = [...path, member];
    const inside = value[member];
    if (shape.kind === "map") return isMap(inside) ? zeros(shape.type, inside, at) : [];
    if (shape.kind === "list" && shape.items.kind === "map" && Array.isArray(inside)) {
      const { type: items } = shape.items;
      return inside.flatMap((item, index) => zeros(items, item as JsonMap, [...at, index]));
    }
    const zero = zeroOf(shape);
    return zero === undefined || inside !== undefined
      ? []
      : [{ path: at, value: zero, pointer: isPointer(type, member) }];
  });
}

function zeroOf(shape: Shape): unknown {
  if (shape.kind !== "scalar") return undefined;
  return { string: "", integer: 0, number: 0, boolean: false, quantity: "0", intOrString: 0, any: undefined }[
    shape.scalar
  ];
}

function withValue(template: JsonMap, { path, value }: Step): JsonMap {
  const copy = structuredClone(template);
  let at: JsonMap = copy;
  for (const step of path.slice(0, -1)) at = at[step] as JsonMap;
  at[String(path.at(-1))] = value;
  return copy;
}

describe("a real API server", () => {
  let client: TestClient;
  let namespace: string;
  let empty: () => Promise<void>;
  beforeAll(async () => {
    client = testClient(await attachControlPlane(inject("controlPlane")).kubeconfig());
    ({ name: namespace, empty } = await testNamespace(client));
  });
  afterAll(async () => {
    await empty();
    client.close();
  });

  /** The template as the server would store it; `undefined` when it is refused. */
  async function stored(template: JsonMap): Promise<JsonMap | undefined> {
    const path = `/api/v1/namespaces/${namespace}/podtemplates?dryRun=All`;
    const body = { apiVersion: "v1", kind: "PodTemplate", metadata: { generateName: "t-" }, template };
    const answer = await client.request<{ template: JsonMap }>("POST", path, body);
    return answer.code === 201 ? answer.body.template : undefined;
  }

  /** Whether the server has the field switched off: it drops any value of it, which no comparison can know. */
  async function isDropped(step: Step, plain: JsonMap): Promise<boolean> {
    if (!step.pointer) return false;
    const value = { string: "x", number: 7, boolean: true }[typeof step.value as "string"];
    const after = await stored(withValue(RICH, { ...step, value }));
    return after !== undefined && JSON.stringify(after) === JSON.stringify(plain);
  }

  it("CORE-323 CORE-324 false, 0 and empty text, set and taken away again in each field, are a change exactly where the server stores one", async () => {
    const plain = await stored(RICH);
    expect(plain).toBeDefined();
    expect(templateDifference(RICH, plain!)).toBeUndefined();
    const wrong: string[] = [];
    const counts = { pointers: 0, others: 0, refused: 0, dropped: 0 };
    for (const step of zeros("PodTemplateSpec", RICH)) {
      const wanted = withValue(RICH, step);
      const after = await stored(wanted);
      if (after === undefined) {
        counts.refused += 1;
        continue;
      }
      counts[step.pointer ? "pointers" : "others"] += 1;
      if (await isDropped(step, plain!)) {
        counts.dropped += 1;
        continue;
      }
      const changes = JSON.stringify(after) !== JSON.stringify(plain);
      const there = templateDifference(wanted, plain!) !== undefined;
      const back = templateDifference(RICH, after) !== undefined;
      const settles = templateDifference(wanted, after) === undefined;
      const name = step.path.join(".");
      if (there !== changes || back !== changes || !settles) {
        wrong.push(`${name}: stored ${changes}, there ${there}, back ${back}, settles ${settles}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(counts.pointers).toBeGreaterThan(30);
    expect(counts.others).toBeGreaterThan(30);
    expect(counts.dropped).toBeLessThan(20);
  });
});
