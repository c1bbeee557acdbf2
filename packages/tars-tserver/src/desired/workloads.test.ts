import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TServer } from "../api.gen.ts";
import { echoServer, webServer } from "../fixtures.testkit.ts";
import { modelOf } from "./model.ts";
import type { TemplateInput } from "./template.ts";
import { desiredDaemonSet, desiredService, desiredStatefulSet } from "./workloads.ts";

const INPUT: TemplateInput = { nodeImage: undefined, portStyle: "seed" };
const release = {
  id: "v1",
  image: "r.example/echo:v1",
  secret: "s1",
  nodeImage: "r.example/node:v1",
  nodeSecret: "s2",
  time: "2024-01-01T00:00:00Z",
};

const golden = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../test/golden/${name}.json`, import.meta.url), "utf8"));

/** Whole StatefulSets and DaemonSets: one file for each feature. */
const FEATURES: readonly (readonly [string, string, TServer])[] = [
  [
    "TARS-MAP-001 TARS-MAP-030 TARS-MAP-035 TARS-MAP-036 TARS-MAP-042 TARS-MAP-043 TARS-MAP-067",
    "unreleased",
    echoServer(),
  ],
  ["TARS-MAP-031 TARS-MAP-033 TARS-MAP-037 TARS-MAP-044", "released", echoServer({ release })],
  ["TARS-MAP-013 TARS-MAP-032 TARS-MAP-050 TARS-MAP-066", "normal", webServer({ replicas: 1 })],
  [
    "TARS-MAP-053 TARS-MAP-064 TARS-MAP-021",
    "host-ports",
    echoServer({
      k8s: { abilityAffinity: "None", notStacked: true, hostPorts: [{ nameRef: "firstobj", port: 3323 }] },
    }),
  ],
  [
    "TARS-MAP-040 TARS-MAP-041 TARS-MAP-054",
    "host-network",
    echoServer({
      k8s: {
        abilityAffinity: "None",
        hostNetwork: true,
        hostIPC: true,
        serviceAccount: "sa",
        hostPorts: [{ nameRef: "FirstObj", port: 3323 }],
      },
    }),
  ],
  [
    "TARS-MAP-060 TARS-MAP-062 TARS-MAP-065",
    "affinity",
    echoServer({
      k8s: {
        abilityAffinity: "AppOrServerPreferred",
        nodeSelector: [
          { key: "kubernetes.io/hostname", operator: "Exists" },
          { key: "MyLabel", operator: "In", values: ["v1", "v2"] },
        ],
      },
    }),
  ],
  [
    "TARS-MAP-024 TARS-MAP-070 TARS-MAP-071 TARS-MAP-072 TARS-MAP-067",
    "mounts",
    echoServer({
      k8s: {
        abilityAffinity: "None",
        mounts: [
          { name: "m0", mountPath: "/m0", source: { emptyDir: {} } },
          { name: "m1", mountPath: "/m1", source: { hostPath: { path: "/p", type: "Directory" } } },
          { name: "m2", mountPath: "/m2", source: { configMap: { name: "c" } }, readOnly: true },
          { name: "m3", mountPath: "/m3", source: { persistentVolumeClaim: { claimName: "p" } } },
          {
            name: "m4",
            mountPath: "/m4",
            source: {
              persistentVolumeClaimTemplate: {
                metadata: { labels: { tier: "db" }, annotations: { note: "keep" } },
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1G" } } },
              },
            },
          },
          { name: "m5", mountPath: "/m5", source: { tLocalVolume: { uid: "1", gid: "2", mode: "700" } } },
        ],
      },
    }),
  ],
  [
    "TARS-MAP-023 TARS-MAP-035 TARS-MAP-038 TARS-MAP-022",
    "settings",
    echoServer({
      k8s: {
        abilityAffinity: "ServerRequired",
        env: [
          { name: "A", value: "1" },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        ],
        envFrom: [{ configMapRef: { name: "c", optional: true }, prefix: "P_" }],
        resources: { requests: { cpu: "100m" }, limits: { cpu: "120m" } },
        imagePullPolicy: "IfNotPresent",
        launcherType: "foreground",
        podManagementPolicy: "OrderedReady",
        updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 0 } },
      },
    }),
  ],
];

describe("StatefulSet", () => {
  it.each(FEATURES)("%s %s", (_rules, name, server) => {
    expect(desiredStatefulSet(server, INPUT)).toEqual(golden(name));
  });

  it("TARS-MAP-033 TARS-MAP-044 without an image or a secret of its own a server gets the framework's", () => {
    const nodeImage = { image: "r.example/node:fw", secret: "fw" };
    const of = (given?: object): unknown[] => {
      const server = echoServer(given && ({ release: { ...release, ...given } } as object));
      const { spec } = desiredStatefulSet(server, { ...INPUT, nodeImage }).spec.template;
      const secrets = spec.imagePullSecrets as { name: string }[] | undefined;
      return [spec.initContainers?.[0]?.image, secrets?.map(({ name }) => name)];
    };
    expect(of()).toEqual(["r.example/node:fw", undefined]);
    expect(of({})).toEqual(["r.example/node:v1", ["s1", "s2"]]);
    expect(of({ nodeSecret: "" })).toEqual(["r.example/node:v1", ["s1", "fw"]]);
    expect(of({ nodeImage: "", nodeSecret: undefined })).toEqual(["r.example/node:fw", ["s1", "fw"]]);
  });

  it("TARS-MAP-051 TARS-MAP-052 TARS-MAP-055 names of ports that Kubernetes does not take are replaced, the order stays", () => {
    const servants = [
      { name: "AVeryLongServantName", port: 10000 },
      { name: "B", port: 10001 },
      { name: "AnotherLongServantName", port: 10002 },
    ];
    const server = echoServer({
      tars: { template: "tt.cpp", servants },
      k8s: { abilityAffinity: "None", hostPorts: [{ nameRef: "averylongservantname", port: 80 }] },
    });
    const ports = (portStyle: "seed" | "peer") =>
      desiredStatefulSet(server, { ...INPUT, portStyle }).spec.template.spec.containers[0]?.ports;
    expect(ports("seed")?.map(({ name }) => name)).toEqual(["p80-10000", "b", "p10002"]);
    expect(ports("peer")).toEqual([
      { name: "p80-10000", containerPort: 10000, protocol: "TCP", hostPort: 80 },
    ]);
  });

  it("TARS-MAP-039 TARS-MAP-045 TARS-CV-002 what v1beta2 carries comes into the template", () => {
    const append = { command: ["/run"], args: null, readinessGates: ["a", "tars.io/active"] };
    const annotations = { "tars.io/Conversion.1b21b3": JSON.stringify({ append, drop: {} }) };
    const server = echoServer({ k8s: { readinessGate: "tars.io/active" } }, { annotations });
    const { spec } = desiredStatefulSet(server, INPUT).spec.template;
    expect(spec.containers[0]).toMatchObject({ command: ["/run"] });
    expect(spec.containers[0]).not.toHaveProperty("args");
    expect(spec.readinessGates).toEqual([{ conditionType: "tars.io/active" }, { conditionType: "a" }]);
  });
});

describe("DaemonSet", () => {
  it("TARS-MAP-080 TARS-MAP-081 TARS-MAP-082 TARS-MAP-048 has the nodes of the namespace, no claims, and no node before its release", () => {
    const mounts = [{ name: "m5", mountPath: "/m5", source: { tLocalVolume: {} } }];
    const server = echoServer({
      k8s: { daemonSet: true, abilityAffinity: "AppRequired", notStacked: true, mounts },
    });
    expect(desiredDaemonSet(server, INPUT)).toEqual(golden("daemonset"));
  });

  it("TARS-MAP-083 replaces at least one pod at a time", () => {
    const of = (updateStrategy: NonNullable<TServer["spec"]["k8s"]>["updateStrategy"]) =>
      desiredDaemonSet(echoServer({ k8s: { daemonSet: true, updateStrategy: updateStrategy! } }), INPUT).spec
        .updateStrategy;
    expect(of({ type: "RollingUpdate", rollingUpdate: { partition: 0 } })).toEqual({
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: 1 },
    });
    expect(of({ type: "RollingUpdate", rollingUpdate: { partition: 4 } })).toMatchObject({
      rollingUpdate: { maxUnavailable: 4 },
    });
    expect(of({ type: "OnDelete", rollingUpdate: { partition: 1 } })).toEqual({ type: "OnDelete" });
  });
});

describe("Service", () => {
  it("TARS-MAP-010 TARS-MAP-011 TARS-MAP-012 is headless, with the ports of the server", () => {
    expect(desiredService(modelOf(echoServer()))).toEqual(golden("service"));
  });

  it("TARS-MAP-014 has no list of ports when there are none", () => {
    const server = webServer();
    server.spec.normal = { ports: [] };
    expect(desiredService(modelOf(server)).spec).not.toHaveProperty("ports");
  });
});

describe("the claim delay-bind", () => {
  const claimNames = (k8s: object, hostBindClaim: boolean): unknown[] => {
    const input = { nodeImage: undefined, portStyle: "seed", hostBindClaim } as const;
    const { volumeClaimTemplates = [] } = desiredStatefulSet(echoServer({ k8s }), input).spec;
    return volumeClaimTemplates.map(({ metadata }) => metadata.name);
  };

  it.each([{ hostIPC: true }, { hostNetwork: true }, { hostPorts: [{ nameRef: "FirstObj", port: 1 }] }])(
    "TARS-MAP-071 D9 is there on request for pods that are bound to a node: %j",
    (k8s) => {
      expect(claimNames(k8s, false)).toEqual([]);
      expect(claimNames(k8s, true)).toEqual(["delay-bind"]);
      expect(claimNames({}, true)).toEqual([]);
    },
  );
});
