/** What workload controllers do, those of the mini-kubelet and the real ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestNamespace, testNamespace } from "../control-plane/namespace.ts";
import { TEST_ANNOTATIONS } from "../control-plane/stage.ts";
import type { TestClient } from "../request.ts";
import { isReady, type Pod } from "./objects.ts";

interface Workload {
  metadata: { name: string; generation: number };
  status?: Record<string, unknown> & { updateRevision?: string; currentRevision?: string };
}

const MERGE = { contentType: "application/merge-patch+json" };
const POLL_MS = 20;
const LIMIT_MS = 20_000;

/** Registers the tests. `connect` gives a client with all rights to a cluster that has at least one node. */
export function defineWorkloadTests(connect: () => TestClient): void {
  let client: TestClient;
  let namespace: TestNamespace;
  beforeEach(async () => {
    client = connect();
    namespace = await testNamespace(client);
  });
  afterEach(() => namespace.empty());

  const apps = (plural: string, name = ""): string =>
    `/apis/apps/v1/namespaces/${namespace.name}/${plural}${name === "" ? "" : `/${name}`}`;
  const podList = async (): Promise<Pod[]> =>
    (await client.ok<{ items: Pod[] }>("GET", `/api/v1/namespaces/${namespace.name}/pods`)).items;
  const until = async <T>(check: () => Promise<T | undefined>): Promise<T> => {
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const found = await check();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`pods: ${JSON.stringify((await podList()).map(summary))}`);
      await sleep(POLL_MS);
    }
  };
  const summary = (pod: Pod): string =>
    `${pod.metadata.name} ${pod.spec.containers[0]!.image} ${isReady(pod)}`;
  const names = (pods: Pod[]): string[] => pods.map(({ metadata }) => metadata.name).sort();
  /** Until exactly so many pods are ready, all with an image. */
  const untilReady = (count: number, image = "app:1"): Promise<Pod[]> =>
    until(async () => {
      const pods = await podList();
      const fine = pods.every(
        (pod) => isReady(pod) && pod.spec.containers[0]!.image === image && !pod.metadata.deletionTimestamp,
      );
      return pods.length === count && fine ? pods : undefined;
    });
  const workload = (plural: string): Promise<Workload> => client.ok<Workload>("GET", apps(plural, "w"));
  const untilStatus = (plural: string, wanted: Record<string, unknown>): Promise<Workload> =>
    until(async () => {
      const found = await workload(plural);
      const fits = Object.entries(wanted).every(([key, value]) => found.status?.[key] === value);
      return fits ? found : undefined;
    });
  const template = (annotations: Record<string, string> = {}): object => ({
    metadata: { labels: { app: "w" }, annotations },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "app:1" }] },
  });
  const create = (plural: string, kind: string, spec: object): Promise<unknown> =>
    client.ok("POST", apps(plural), {
      apiVersion: "apps/v1",
      kind,
      metadata: { name: "w" },
      spec: { selector: { matchLabels: { app: "w" } }, template: template(), ...spec },
    });
  const patch = (plural: string, spec: object): Promise<unknown> =>
    client.ok("PATCH", apps(plural, "w"), { spec }, MERGE);
  const setImage = (plural: string, image: string): Promise<unknown> =>
    patch(plural, { template: { spec: { containers: [{ name: "c", image }] } } });

  it("a StatefulSet in order starts each pod when the one before is ready", async () => {
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 3,
      template: template({ [TEST_ANNOTATIONS.readyDelay]: "400ms" }),
    });
    for (const ordinal of [1, 2]) {
      const pods = await until(async () => {
        const found = await podList();
        return found.some(({ metadata }) => metadata.name === `w-${ordinal}`) ? found : undefined;
      });
      const before = pods.find(({ metadata }) => metadata.name === `w-${ordinal - 1}`)!;
      expect(isReady(before)).toBe(true);
    }
    const pods = await untilReady(3);
    expect(pods[0]!.spec).toMatchObject({ hostname: "w-0", subdomain: "w" });
    expect(pods[0]!.metadata.labels).toMatchObject({
      app: "w",
      "statefulset.kubernetes.io/pod-name": "w-0",
      "apps.kubernetes.io/pod-index": "0",
    });
    await untilStatus("statefulsets", {
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      updatedReplicas: 3,
    });
  });

  it("a parallel StatefulSet starts all pods at once", async () => {
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 3,
      podManagementPolicy: "Parallel",
      template: template({ [TEST_ANNOTATIONS.hold]: "true" }),
    });
    await until(async () => ((await podList()).length === 3 ? true : undefined));
  });

  it("a StatefulSet makes claims of its templates and keeps them", async () => {
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 1,
      volumeClaimTemplates: [claim],
    });
    const path = `/api/v1/namespaces/${namespace.name}/persistentvolumeclaims/data-w-0`;
    const made = await until(async () => {
      const answer = await client.request<Pod>("GET", path);
      return answer.code === 200 ? answer.body : undefined;
    });
    expect(made.metadata.labels).toEqual({ app: "w" });
    const pod = await until(async () => (await podList())[0]);
    expect(pod.spec.volumes).toContainEqual({
      name: "data",
      persistentVolumeClaim: { claimName: "data-w-0" },
    });
    await patch("statefulsets", { replicas: 0 });
    await until(async () => ((await podList()).length === 0 ? true : undefined));
    await client.ok("GET", path);
  });

  it("a StatefulSet scales down from the highest ordinal", async () => {
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 3 });
    await untilReady(3);
    await patch("statefulsets", { replicas: 1 });
    const left = await until(async () => {
      const pods = await podList();
      return pods.length === 1 ? pods : undefined;
    });
    expect(names(left)).toEqual(["w-0"]);
  });

  it("a StatefulSet rolls from the highest ordinal down, one pod at a time", async () => {
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 3,
      podManagementPolicy: "Parallel",
    });
    await untilReady(3);
    const { status } = await untilStatus("statefulsets", { updatedReplicas: 3, readyReplicas: 3 });
    const path = `/api/v1/namespaces/${namespace.name}/pods`;
    const { metadata } = await client.ok<Pod>("GET", path);
    await setImage("statefulsets", "app:2");
    await untilReady(3, "app:2");
    // what happened meanwhile, from the very first event on
    const abort = new AbortController();
    const ready = new Set(["w-0", "w-1", "w-2"]);
    const order: string[] = [];
    let fewest = 3;
    const events = client.stream<{ type: string; object: Pod }>(
      `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`,
      abort.signal,
    );
    for await (const { type, object } of events) {
      const { name } = object.metadata;
      if (type === "DELETED") order.push(name);
      if (type !== "DELETED" && isReady(object)) ready.add(name);
      else ready.delete(name);
      fewest = Math.min(fewest, ready.size);
      if (order.length === 3 && ready.size === 3) break;
    }
    abort.abort();
    expect(order).toEqual(["w-2", "w-1", "w-0"]);
    expect(fewest).toBe(2);
    const after = await untilStatus("statefulsets", {
      updatedReplicas: 3,
      currentReplicas: 3,
      readyReplicas: 3,
    });
    expect(after.status?.updateRevision).not.toBe(status?.updateRevision);
    expect(after.status?.currentRevision).toBe(after.status?.updateRevision);
  });

  it("a parallel StatefulSet replaces old pods that are not yet available at once, and is done when the new ones are ready", async () => {
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 3,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      minReadySeconds: 300,
    });
    await untilReady(3);
    await setImage("statefulsets", "app:2");
    await untilReady(3, "app:2");
    const { status } = await untilStatus("statefulsets", { updatedReplicas: 3, currentReplicas: 3 });
    expect(status?.currentRevision).toBe(status?.updateRevision);
    expect(status?.availableReplicas ?? 0).toBe(0);
  });

  it("a StatefulSet's partition keeps lower ordinals at the old revision", async () => {
    await create("statefulsets", "StatefulSet", {
      serviceName: "w",
      replicas: 3,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } },
    });
    await untilReady(3);
    await setImage("statefulsets", "app:2");
    const pods = await until(async () => {
      const found = await podList();
      const top = found.find(({ metadata }) => metadata.name === "w-2");
      return top !== undefined && summary(top) === "w-2 app:2 true" ? found : undefined;
    });
    expect(pods.map(summary).sort()).toEqual(["w-0 app:1 true", "w-1 app:1 true", "w-2 app:2 true"]);
    const { status } = await untilStatus("statefulsets", { updatedReplicas: 1 });
    expect(status?.currentRevision).not.toBe(status?.updateRevision);
  });

  it("a StatefulSet replaces a pod that was deleted or has failed", async () => {
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 1 });
    const [first] = await untilReady(1);
    await client.ok("DELETE", `/api/v1/namespaces/${namespace.name}/pods/w-0`);
    const second = await until(async () =>
      (await podList()).find((pod) => pod.metadata.uid !== first!.metadata.uid && isReady(pod)),
    );
    const annotations = { [TEST_ANNOTATIONS.fail]: "Evicted" };
    await client.ok(
      "PATCH",
      `/api/v1/namespaces/${namespace.name}/pods/w-0`,
      { metadata: { annotations } },
      MERGE,
    );
    await until(async () =>
      (await podList()).find((pod) => pod.metadata.uid !== second.metadata.uid && isReady(pod)),
    );
  });

  it("a new StatefulSet takes over the pods that an old one left", async () => {
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 2 });
    const before = await untilReady(2);
    await client.ok("DELETE", apps("statefulsets", "w"), { propagationPolicy: "Orphan" });
    await until(async () =>
      (await client.request("GET", apps("statefulsets", "w"))).code === 404 ? true : undefined,
    );
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 2 });
    await untilStatus("statefulsets", { replicas: 2, readyReplicas: 2, updatedReplicas: 2 });
    const uids = (pods: Pod[]): string[] => pods.map(({ metadata }) => metadata.uid).sort();
    expect(uids(await podList())).toEqual(uids(before));
  });

  it("deleting a StatefulSet removes its pods", async () => {
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 2 });
    await untilReady(2);
    await client.ok("DELETE", apps("statefulsets", "w"));
    await until(async () => ((await podList()).length === 0 ? true : undefined));
  });

  it("a StatefulSet's minReadySeconds delay availability", async () => {
    await create("statefulsets", "StatefulSet", { serviceName: "w", replicas: 1, minReadySeconds: 2 });
    await untilStatus("statefulsets", { readyReplicas: 1 });
    expect((await workload("statefulsets")).status?.availableReplicas ?? 0).toBe(0);
    await untilStatus("statefulsets", { availableReplicas: 1 });
  });

  it("a Deployment rolls its pods and reports Available", async () => {
    await create("deployments", "Deployment", { replicas: 2 });
    await untilReady(2);
    await untilStatus("deployments", { readyReplicas: 2, availableReplicas: 2 });
    await setImage("deployments", "app:2");
    await untilReady(2, "app:2");
    const { status } = await untilStatus("deployments", {
      updatedReplicas: 2,
      availableReplicas: 2,
      replicas: 2,
    });
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Available", status: "True" }));
  });

  it("a DaemonSet has a pod on each node", async () => {
    await create("daemonsets", "DaemonSet", {});
    const nodes = (await client.ok<{ items: Pod[] }>("GET", "/api/v1/nodes")).items.length;
    const { status } = await until(async () => {
      const found = await workload("daemonsets");
      return found.status?.numberReady === found.status?.desiredNumberScheduled &&
        found.status?.numberReady !== 0
        ? found
        : undefined;
    });
    expect(status?.desiredNumberScheduled).toBeLessThanOrEqual(nodes);
    expect((await podList()).every((pod) => pod.spec.nodeName !== undefined)).toBe(true);
  });
}
