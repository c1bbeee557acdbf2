import type { DeepReadonly } from "@quartet/core";
import { describe, expect, it } from "vitest";
import type { TServer } from "../api.gen.ts";
import { echoServer, webServer } from "../fixtures.testkit.ts";
import type { StatefulSet } from "./k8s.ts";
import { modelOf } from "./model.ts";
import { containerPorts } from "./ports.ts";
import { type Step, syncService, syncStatefulSet } from "./sync.ts";
import type { TemplateInput } from "./template.ts";
import { desiredService, desiredStatefulSet } from "./workloads.ts";

const INPUT: TemplateInput = { nodeImage: undefined, portStyle: "seed" };

function sync(server: TServer, live: DeepReadonly<StatefulSet>): Step<StatefulSet> {
  const model = modelOf(server);
  const ports = [containerPorts(model, "seed"), containerPorts(model, "peer")];
  return syncStatefulSet(desiredStatefulSet(server, INPUT), live, { ports });
}
/** A StatefulSet as the server stores it, with what it fills in. */
function stored(server: TServer): StatefulSet {
  const live = desiredStatefulSet(server, INPUT);
  const { spec } = live.spec.template;
  Object.assign(spec, {
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    Object.assign(container, {
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    });
    container.resources ??= {};
  }
  live.spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 0, maxUnavailable: 1 } };
  live.spec.revisionHistoryLimit = 1;
  return live;
}
const updated = (step: Step<StatefulSet>): StatefulSet => {
  if (step.action !== "update") throw new Error(`the step is ${step.action}`);
  return step.object;
};

describe("StatefulSet", () => {
  it("TARS-R-021 TARS-MAP-023 D25 what the server fills in is no difference", () => {
    const server = webServer({ resources: { limits: { cpu: "1000m" } } });
    const live = stored(server);
    live.spec.template.spec.containers[0]!.resources = { limits: { cpu: "1" } };
    expect(sync(server, live)).toEqual({ action: "none" });
  });

  it.each<NonNullable<TServer["spec"]["k8s"]>>([
    { abilityAffinity: "AppRequired" },
    { env: [{ name: "A", value: "1" }] },
    { envFrom: [{ configMapRef: { name: "c" } }] },
    { hostIPC: true },
    { hostNetwork: true },
    { hostPorts: [{ nameRef: "http", port: 80 }] },
    { hostPorts: [{ nameRef: "http", port: 8080 }] },
    { imagePullPolicy: "Never" },
    { mounts: [{ name: "m", mountPath: "/m", source: { emptyDir: {} } }] },
    { nodeSelector: [{ key: "a", operator: "Exists" }] },
    { notStacked: true },
    { readinessGate: "mine" },
    { resources: { limits: { cpu: "1" } } },
    { serviceAccount: "sa" },
    { updateStrategy: { type: "OnDelete" } },
  ])("TARS-R-002 one setting alone makes an update, and so does taking it back: %j", (setting) => {
    const [bare, set] = [
      webServer({ abilityAffinity: "None" }),
      webServer({ abilityAffinity: "None", ...setting }),
    ];
    const stand = updated(sync(set, stored(bare)));
    expect(sync(set, stand)).toEqual({ action: "none" });
    const back = updated(sync(bare, stand));
    expect(sync(bare, back)).toEqual({ action: "none" });
  });

  it("TARS-X-001 TARS-MAP-058 names of ports in the peer's style stay until something else changes", () => {
    const server = echoServer({
      k8s: { abilityAffinity: "None", hostPorts: [{ nameRef: "FirstObj", port: 80 }] },
    });
    const live = stored(server);
    live.spec.template.spec.containers[0]!.ports = containerPorts(modelOf(server), "peer");
    expect(sync(server, live)).toEqual({ action: "none" });
    server.spec.k8s!.imagePullPolicy = "Never";
    const { ports } = updated(sync(server, live)).spec.template.spec.containers[0]!;
    expect(ports?.map(({ name }) => name)).toEqual(["firstobj", "secondobj"]);
  });

  it("TARS-X-001 TARS-MAP-055 the order of ports that the peer has thrown dice for stays", () => {
    const ports = ["a", "b", "c", "d"].map((name, n) => ({ name, port: 8080 + n }));
    const server = webServer();
    server.spec.normal = { ports };
    const live = stored(server);
    live.spec.template.spec.containers[0]!.ports!.reverse();
    expect(sync(server, live)).toEqual({ action: "none" });
  });

  it("TARS-MAP-057 a port of the node goes, also one of the container's own number", () => {
    const server = webServer({ hostPorts: [{ nameRef: "http", port: 8080 }] });
    const live = stored(server);
    delete server.spec.k8s!.hostPorts;
    server.spec.k8s!.notStacked = true;
    const { ports } = updated(sync(server, live)).spec.template.spec.containers[0]!;
    expect(ports).toEqual([{ name: "http", containerPort: 8080, protocol: "TCP" }]);
  });

  it("TARS-MAP-054 a port of the node that an older server fills in is no difference", () => {
    const server = webServer({ hostNetwork: true });
    const live = stored(server);
    live.spec.template.spec.containers[0]!.ports![0]!.hostPort = 8080;
    expect(sync(server, live)).toEqual({ action: "none" });
  });

  it("TARS-MAP-046 TARS-MAP-047 TARS-MAP-002 what others have put there stays, with its volumes", () => {
    const server = webServer();
    const live = stored(server);
    const { spec, metadata } = live.spec.template;
    const side = { name: "side", image: "s", volumeMounts: [{ name: "own", mountPath: "/own" }] };
    spec.containers.unshift(side);
    spec.initContainers = [{ name: "warm", image: "w" }];
    spec.volumes = [
      ...(spec.volumes as object[]),
      { name: "own", emptyDir: {} },
      { name: "unused", emptyDir: {} },
    ];
    spec.containers[1]!.livenessProbe = { tcpSocket: { port: 1 } };
    metadata.annotations = { note: "keep" };
    live.metadata.labels = { ...live.metadata.labels, mine: "1" };
    server.spec.k8s!.imagePullPolicy = "Never";
    const next = updated(sync(server, live));
    const pod = next.spec.template.spec;
    expect(pod.containers.map(({ name }) => name)).toEqual(["side", "demo-echoserver"]);
    expect(pod.containers[1]).toMatchObject({
      imagePullPolicy: "Never",
      livenessProbe: { tcpSocket: { port: 1 } },
    });
    expect(pod.initContainers).toEqual([{ name: "warm", image: "w" }]);
    expect((pod.volumes as { name: string }[]).map(({ name }) => name)).toEqual(["host-timezone", "own"]);
    expect(next.spec.template.metadata.annotations).toEqual({ note: "keep" });
    expect(next.metadata.labels).toMatchObject({ mine: "1" });
    expect(sync(server, next)).toEqual({ action: "none" });
  });

  it("TARS-R-030 TARS-R-031 TARS-MAP-073 other claim templates need a new StatefulSet, pods stay unless one is added", () => {
    const claim = (name: string) => ({ name, mountPath: `/${name}`, source: { tLocalVolume: {} } });
    const of = (...names: string[]): TServer =>
      echoServer({ k8s: { abilityAffinity: "None", mounts: names.map(claim) } });
    expect(sync(of("a", "b"), stored(of("a")))).toMatchObject({
      ...{ action: "recreate", propagation: "Background", because: "claim templates added b" },
    });
    expect(sync(of("a"), stored(of("a", "b")))).toMatchObject({
      ...{ action: "recreate", propagation: "Orphan", because: "claim templates removed b" },
    });
    const adopted = stored(of("a"));
    adopted.spec.volumeClaimTemplates![0]!.metadata.ownerReferences![0]!.apiVersion = "k8s.tars.io/v1beta3";
    Object.assign(adopted.spec.volumeClaimTemplates![0]!, { status: { phase: "Pending" } });
    expect(sync(of("a"), adopted)).toEqual({ action: "none" });
  });

  it("D9 the peer's claim for pods bound to a node stays", () => {
    const server = echoServer({ k8s: { abilityAffinity: "None", hostNetwork: true } });
    const live = stored(server);
    live.spec.volumeClaimTemplates = [{ metadata: { name: "delay-bind" }, spec: {} }];
    expect(sync(server, live)).toEqual({ action: "none" });
  });
});

describe("Service", () => {
  it("TARS-MAP-015 is repaired in place, and made anew when it has an address", () => {
    const wanted = desiredService(modelOf(webServer()));
    const live = { ...wanted, spec: { ...wanted.spec, selector: { a: "b" }, clusterIPs: ["None"] } };
    expect(syncService(wanted, live)).toMatchObject({
      action: "update",
      object: { spec: { ...wanted.spec, clusterIPs: ["None"] } },
    });
    expect(syncService(wanted, { ...live, spec: wanted.spec })).toEqual({ action: "none" });
    expect(syncService(wanted, { ...live, spec: { ...live.spec, clusterIP: "10.0.0.1" } }).action).toBe(
      "recreate",
    );
  });
});
