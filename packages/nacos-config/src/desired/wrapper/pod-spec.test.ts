import type { Container, JsonMap, PodSpec } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { clusterOf, MERGED, nacos, nacosContainerOf, templateOf } from "../../fixtures.testkit.ts";

/** The pod of a resource with a wrapper. */
function pod(PodSpec: JsonMap, spec: JsonMap = {}): PodSpec {
  return templateOf(nacos({ ...spec, k8sWrapper: { PodSpec } }), MERGED).spec;
}

/** The Nacos container of a resource whose wrapper changes it. */
function container(change: JsonMap, spec: JsonMap = {}): Container {
  return nacosContainerOf(
    templateOf(
      nacos({ ...spec, k8sWrapper: { PodSpec: { containers: [{ name: "demo", ...change }] } } }),
      MERGED,
    ),
  );
}

describe("wrapper", () => {
  it("NACOS-440 replaces scalars and whole objects, and passes on fields that the peer drops", () => {
    const wrapper = {
      schedulerName: "hostpath-scheduler",
      terminationGracePeriodSeconds: 60,
      hostNetwork: true,
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 1 },
      imagePullSecrets: [{ name: "b" }],
      setHostnameAsFQDN: true,
      hostIPC: true,
      os: { name: "linux" },
    };
    expect(pod(wrapper, { imagePullSecrets: [{ name: "a" }] })).toMatchObject(wrapper);
    expect(pod({ priorityClassName: null, dnsPolicy: "" })).toEqual(pod({}));
  });

  it("NACOS-441 joins node selectors, host aliases, DNS settings and spread constraints by their keys", () => {
    const spread = (whenUnsatisfiable: string, maxSkew: number): JsonMap => ({
      topologyKey: "zone",
      whenUnsatisfiable,
      maxSkew,
    });
    const result = pod(
      {
        nodeSelector: { disk: "hdd", zone: "a" },
        hostAliases: [
          { ip: "1.1.1.1", hostnames: ["a"] },
          { ip: "1.1.1.1", hostnames: ["b", "a"] },
        ],
        dnsConfig: { options: [{ name: "ndots", value: "2" }] },
        topologySpreadConstraints: [
          spread("ScheduleAnyway", 1),
          spread("DoNotSchedule", 1),
          spread("ScheduleAnyway", 2),
        ],
      },
      { nodeSelector: { disk: "ssd", arch: "x" } },
    );
    expect(result).toMatchObject({
      nodeSelector: { disk: "hdd", zone: "a", arch: "x" },
      hostAliases: [{ ip: "1.1.1.1", hostnames: ["a", "b"] }],
      dnsConfig: { options: [{ name: "ndots", value: "2" }] },
      topologySpreadConstraints: [spread("ScheduleAnyway", 2), spread("DoNotSchedule", 1)],
    });
  });

  it("NACOS-441 joins the affinity by its kinds, of which the wrapper's win", () => {
    const term = (key: string): JsonMap => ({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key }] }],
      },
    });
    const spread = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const spec = { affinity: { nodeAffinity: term("spec"), podAffinity: spread } };
    const affinity = { nodeAffinity: term("wrapper"), podAntiAffinity: spread, podAffinity: null };
    expect(pod({ affinity }, spec).affinity).toEqual({
      nodeAffinity: term("wrapper"),
      podAffinity: spread,
      podAntiAffinity: spread,
    });
    expect(pod({ affinity: { podAntiAffinity: spread } }).affinity).toEqual({ podAntiAffinity: spread });
  });

  it("NACOS-442 replaces a toleration only by one of the same key, operator, value and effect", () => {
    const toleration = { key: "k", operator: "Equal", value: "v", effect: "NoExecute" };
    const result = pod(
      {
        tolerations: [{ key: "k", value: "v", effect: "NoExecute", tolerationSeconds: 5 }, { key: "other" }],
      },
      { tolerations: [toleration, { ...toleration, effect: "NoSchedule" }] },
    );
    expect(result.tolerations).toEqual([
      { key: "k", value: "v", effect: "NoExecute", tolerationSeconds: 5 },
      { ...toleration, effect: "NoSchedule" },
      { key: "other" },
    ]);
  });

  it("NACOS-443 merges into the Nacos container by name and adds others beside it", () => {
    const result = pod({
      containers: [
        { name: "alog", image: "busybox:1" },
        { name: "demo", workingDir: "/w" },
      ],
      initContainers: [{ name: "first", image: "busybox:1" }],
    });
    expect(result.containers.map(({ name }) => name)).toEqual(["demo", "alog"]);
    expect(nacosContainerOf({ metadata: {}, spec: result })).toMatchObject({
      workingDir: "/w",
      image: "nacos/nacos-server:v2.4.3",
    });
    expect(result.initContainers).toEqual([{ name: "first", image: "busybox:1" }]);
  });

  it("NACOS-444 merges probes, security context and lists field by field, each resource map as a whole", () => {
    const result = container(
      {
        imagePullPolicy: "Always",
        resources: { limits: { cpu: "3" } },
        ports: [
          { name: "client", containerPort: 9999 },
          { name: "extra", containerPort: 1234 },
        ],
        livenessProbe: { periodSeconds: 7 },
        readinessProbe: { httpGet: { port: 1 } },
        securityContext: { runAsUser: 1000 },
        volumeMounts: [{ name: "x", mountPath: "/x" }],
      },
      {
        resources: { requests: { cpu: "100m" }, limits: { cpu: 2, memory: "2Gi" } },
        livenessProbe: { tcpSocket: { port: 1 }, failureThreshold: 9 },
        readinessProbe: { tcpSocket: { port: 1 }, failureThreshold: 9 },
      },
    );
    expect(result).toMatchObject({
      imagePullPolicy: "Always",
      livenessProbe: { tcpSocket: { port: 1 }, failureThreshold: 9, periodSeconds: 7 },
      securityContext: { runAsUser: 1000 },
    });
    expect(result.resources).toEqual({ requests: { cpu: "100m" }, limits: { cpu: "3" } });
    expect(result.readinessProbe).toEqual({ httpGet: { port: 1 }, failureThreshold: 9 });
    expect(result.ports?.map(({ containerPort }) => containerPort)).toEqual([9999, 7848, 9848, 9849, 1234]);
    expect(result.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      "/home/nacos/conf/application.properties",
      "/x",
    ]);
  });

  it("NACOS-402 NACOS-444 merges ports by name, and leaves out its own of which the wrapper has the number", () => {
    const image = "nacos/nacos-server:v3.0.1";
    const wrapped = (...ports: JsonMap[]): unknown => container({ ports }, { image }).ports;
    const [client, rpc, grpc, members, web] = wrapped() as JsonMap[];
    expect(wrapped({ name: "client", hostPort: 18848 })).toEqual([
      { ...client, hostPort: 18848 },
      ...[rpc, grpc, members, web],
    ]);
    const raft = { name: "raft-rpc", containerPort: 9849 };
    const http = { name: "http", containerPort: 8080 };
    expect(wrapped(raft, http)).toEqual([client, rpc, grpc, raft, http]);
  });

  it("NACOS-445 replaces command and arguments", () => {
    const change = { name: "demo", command: ["/bin/sh", "-c", "-c"], args: ["x"] };
    const resource = clusterOf({ k8sWrapper: { PodSpec: { containers: [change] } } });
    expect(nacosContainerOf(templateOf(resource))).toMatchObject({
      command: change.command,
      args: change.args,
    });
  });

  it("NACOS-446 merges volumes of one kind, items by key, and replaces those of another", () => {
    const items = [{ key: "application.properties", path: "application.properties" }];
    const merged = pod({
      volumes: [{ name: "config", configMap: { defaultMode: 256, items: [{ key: "more", path: "m" }] } }],
    });
    expect(merged.volumes).toEqual([
      {
        name: "config",
        configMap: { name: "demo-final", defaultMode: 256, items: [...items, { key: "more", path: "m" }] },
      },
    ]);
    const replaced = pod({
      volumes: [
        { name: "config", emptyDir: {} },
        { name: "new", emptyDir: {} },
      ],
    });
    expect(replaced.volumes).toEqual([
      { name: "config", emptyDir: {} },
      { name: "new", emptyDir: {} },
    ]);
    expect(pod({ volumes: [{ name: "config" }] })).toEqual(pod({}));
  });

  it("NACOS-447 lets the wrapper's mount of application.properties take the place of the operator's", () => {
    const mount = { name: "mine", mountPath: "/home/nacos/conf/application.properties/", subPath: "a" };
    const template = templateOf(
      nacos({ k8sWrapper: { PodSpec: { containers: [{ name: "demo", volumeMounts: [mount] }] } } }),
      MERGED,
    );
    expect(nacosContainerOf(template).volumeMounts).toEqual([mount]);
    expect(template.metadata.annotations).toEqual({ "nacos.io/config-digest": "c9294469fec85948" });
  });

  it("NACOS-448 has no default probe beside the wrapper's", () => {
    const result = container({ readinessProbe: { exec: { command: ["true"] } } });
    expect(result.readinessProbe).toEqual({ exec: { command: ["true"] } });
    expect(result.livenessProbe).toMatchObject({ tcpSocket: { port: 8848 } });
  });

  it("NACOS-113 NACOS-114 reads podSpec like PodSpec and ignores a nested spec", () => {
    const wrapped = (k8sWrapper: JsonMap): PodSpec => templateOf(nacos({ k8sWrapper })).spec;
    expect(wrapped({ podSpec: { hostNetwork: true } })).toEqual(wrapped({ PodSpec: { hostNetwork: true } }));
    expect(wrapped({ PodSpec: { spec: { hostNetwork: true } } })).toEqual(wrapped({}));
  });
});
