/** What pods and nodes of a test cluster do, whoever plays kubelet: kwok, or a program of our own. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TestClient } from "../request.ts";
import { type TestNamespace, testNamespace } from "./namespace.ts";
import { addNode, removeNode } from "./nodes.ts";
import { FAILING_IMAGE_TAG, TEST_ANNOTATIONS } from "./stage.ts";

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    reason?: string;
    podIP?: string;
    startTime?: string;
    conditions?: { type: string; status: string; reason?: string; lastTransitionTime: string }[];
    containerStatuses?: {
      name: string;
      ready: boolean;
      image: string;
      imageID: string;
      restartCount: number;
      state: { running?: object; waiting?: { reason: string }; terminated?: { exitCode: number } };
    }[];
  };
}

interface PodTemplate {
  annotations?: Record<string, string>;
  gates?: string[];
  finalizers?: string[];
}

const GATE = "example.com/online";
const MERGE = { contentType: "application/merge-patch+json" };
const STRATEGIC = { contentType: "application/strategic-merge-patch+json" };
const POLL_MS = 25;
const LIMIT_MS = 20_000;

/** Registers the tests. `connect` gives a client with all rights to a cluster that has at least one node. */
export function defineStageTests(connect: () => TestClient): void {
  let client: TestClient;
  let namespace: TestNamespace;
  beforeEach(async () => {
    client = connect();
    namespace = await testNamespace(client);
  });
  afterEach(() => namespace.empty());

  const pods = (): string => `/api/v1/namespaces/${namespace.name}/pods`;
  const read = (name = "p"): Promise<Pod> => client.ok<Pod>("GET", `${pods()}/${name}`);
  const annotate = (annotations: Record<string, string | null>): Promise<unknown> =>
    client.ok("PATCH", `${pods()}/p`, { metadata: { annotations } }, MERGE);
  const setGate = (status: "True" | "False"): Promise<unknown> =>
    client.ok("PATCH", `${pods()}/p/status`, { status: { conditions: [{ type: GATE, status }] } }, STRATEGIC);

  const createPod = ({ annotations = {}, gates = [], finalizers = [] }: PodTemplate = {}): Promise<Pod> =>
    client.ok<Pod>("POST", pods(), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", annotations, finalizers },
      spec: {
        containers: [
          { name: "main", image: "app:1" },
          { name: "side", image: "log:1" },
        ],
        readinessGates: gates.map((conditionType) => ({ conditionType })),
      },
    });

  /** Polls the pod until the condition holds. */
  const untilPod = async (condition: (pod: Pod) => boolean): Promise<Pod> => {
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const pod = await read();
      if (condition(pod)) return pod;
      if (Date.now() > deadline) throw new Error(`pod: ${JSON.stringify(pod.status)}`);
      await sleep(POLL_MS);
    }
  };
  const untilReady = (): Promise<Pod> => untilPod(isReady);
  const untilGone = async (): Promise<void> => {
    const deadline = Date.now() + LIMIT_MS;
    while ((await client.request("GET", `${pods()}/p`)).code !== 404) {
      if (Date.now() > deadline) throw new Error("the pod is still there");
      await sleep(POLL_MS);
    }
  };

  describe("pods", () => {
    it("run and get ready at once, with an address and container statuses", async () => {
      await createPod();
      const { status } = await untilReady();
      expect(status.phase).toBe("Running");
      expect(status.podIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect(status.startTime).toBeDefined();
      expect(status.containerStatuses).toMatchObject([
        { name: "main", image: "app:1", ready: true, restartCount: 0 },
        { name: "side", image: "log:1", ready: true, restartCount: 0 },
      ]);
    });

    it("CORE-446 leave readiness gates to their owner, and are ready while all are True", async () => {
      await createPod({ gates: [GATE] });
      const pod = await untilPod(({ status }) => status.phase === "Running");
      expect(condition(pod, GATE)).toBeUndefined();
      expect(condition(pod, "ContainersReady")?.status).toBe("True");
      expect(condition(pod, "Ready")).toMatchObject({ status: "False", reason: "ReadinessGatesNotReady" });
      await setGate("True");
      await untilReady();
      await setGate("False");
      await untilPod((after) => condition(after, "Ready")?.status === "False");
      expect(condition(await read(), GATE)?.status).toBe("False");
    });

    it("CORE-446 get ready after quartet.io/test-ready-delay, also when they change meanwhile", async () => {
      await createPod({ annotations: { [TEST_ANNOTATIONS.readyDelay]: "3s" } });
      const started = await untilPod(({ status }) => status.phase === "Running");
      const began = Date.now();
      expect(isReady(started)).toBe(false);
      await sleep(2_500);
      await annotate({ unrelated: "change" });
      expect(isReady(await read())).toBe(false);
      await untilReady();
      const took = Date.now() - began;
      expect(took).toBeGreaterThan(2_800);
      // A delay that began anew with the change would end after 5.5 s.
      expect(took).toBeLessThan(5_450);
    });

    it("are not ready while quartet.io/test-hold is set, and become ready when it is removed", async () => {
      await createPod({ annotations: { [TEST_ANNOTATIONS.hold]: "true" } });
      const held = await untilPod(({ status }) => status.phase === "Running");
      expect(condition(held, "ContainersReady")?.status).toBe("False");
      expect(held.status.containerStatuses![0]).toMatchObject({ ready: false, state: { running: {} } });
      await annotate({ [TEST_ANNOTATIONS.hold]: null });
      await untilReady();
      await annotate({ [TEST_ANNOTATIONS.hold]: "CrashLoopBackOff" });
      const crashing = await untilPod((pod) => !isReady(pod));
      expect(crashing.status.containerStatuses![0]!.state.waiting?.reason).toBe("CrashLoopBackOff");
    });

    it("follow an in-place update: new image, one restart, same pod, and Ready again", async () => {
      await createPod({ gates: [GATE] });
      await setGate("True");
      const before = await untilReady();
      await setGate("False");
      await untilPod((pod) => !isReady(pod));
      const image = { spec: { containers: [{ name: "main", image: "app:2" }] } };
      await client.ok("PATCH", `${pods()}/p`, image, STRATEGIC);
      const updated = await untilPod(({ status }) => status.containerStatuses![0]!.image === "app:2");
      expect(updated.metadata.uid).toBe(before.metadata.uid);
      const [main, side] = updated.status.containerStatuses!;
      expect(main!.imageID).not.toBe(before.status.containerStatuses![0]!.imageID);
      expect(main!.restartCount).toBe(1);
      expect(side!.restartCount).toBe(0);
      await setGate("True");
      await untilReady();
    });

    it("get ready again when somebody else has set Ready to False", async () => {
      await createPod();
      await untilReady();
      const status = { conditions: [{ type: "Ready", status: "False", reason: "StartInPlaceUpdate" }] };
      await client.ok("PATCH", `${pods()}/p/status`, { status }, STRATEGIC);
      await untilReady();
    });

    it("fail for the reason in quartet.io/test-fail", async () => {
      await createPod();
      await untilReady();
      await annotate({ [TEST_ANNOTATIONS.fail]: "Evicted" });
      const failed = await untilPod(({ status }) => status.phase === "Failed");
      expect(failed.status.reason).toBe("Evicted");
      expect(isReady(failed)).toBe(false);
      expect(failed.status.containerStatuses![0]!.state.terminated?.exitCode).toBe(1);
    });

    it("end when they are deleted", async () => {
      await createPod();
      await untilReady();
      await client.ok("DELETE", `${pods()}/p`);
      await untilGone();
    });

    it("end quartet.io/test-delete-delay after their deletion", async () => {
      await createPod({ annotations: { [TEST_ANNOTATIONS.deleteDelay]: "800ms" } });
      await untilReady();
      const began = Date.now();
      await client.ok("DELETE", `${pods()}/p`);
      expect((await read()).metadata.deletionTimestamp).toBeDefined();
      await untilGone();
      expect(Date.now() - began).toBeGreaterThan(700);
    });

    it("CORE-446 stay when they have finalizers, and end when the last one is gone", async () => {
      await createPod({ finalizers: ["example.com/keep"] });
      await untilReady();
      await client.ok("DELETE", `${pods()}/p`);
      await sleep(500);
      const pod = await read();
      expect(pod.metadata.deletionTimestamp).toBeDefined();
      expect(isReady(pod)).toBe(true);
      await client.ok("PATCH", `${pods()}/p`, { metadata: { finalizers: null } }, MERGE);
      await untilGone();
    });
  });

  describe("jobs", () => {
    it("complete after quartet.io/test-run-time", async () => {
      const jobs = `/apis/batch/v1/namespaces/${namespace.name}/jobs`;
      const began = Date.now();
      await client.ok("POST", jobs, {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "j" },
        spec: {
          template: {
            metadata: { annotations: { [TEST_ANNOTATIONS.runTime]: "700ms" } },
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "job:1" }] },
          },
        },
      });
      const deadline = Date.now() + LIMIT_MS;
      for (;;) {
        const { status } = await client.ok<{ status?: { succeeded?: number } }>("GET", `${jobs}/j`);
        if (status?.succeeded === 1) break;
        if (Date.now() > deadline) throw new Error(`job: ${JSON.stringify(status)}`);
        await sleep(POLL_MS);
      }
      expect(Date.now() - began).toBeGreaterThan(650);
    });
  });

  it("pods of an image tagged test-fail fail, those of a Job as often as it allows", async () => {
    const jobs = `/apis/batch/v1/namespaces/${namespace.name}/jobs`;
    const containers = [{ name: "c", image: `job:${FAILING_IMAGE_TAG}` }];
    await client.ok("POST", jobs, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "j" },
      spec: { backoffLimit: 0, template: { spec: { restartPolicy: "Never", containers } } },
    });
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      const { items } = await client.ok<{ items: Pod[] }>("GET", pods());
      const { status } = await client.ok<{ status?: { failed?: number } }>("GET", `${jobs}/j`);
      if (status?.failed === 1) {
        expect(items.map((pod) => [pod.status.phase, pod.status.reason])).toEqual([
          ["Failed", "TestFailImage"],
        ]);
        break;
      }
      if (Date.now() > deadline) throw new Error(`job: ${JSON.stringify(status)}`);
      await sleep(POLL_MS);
    }
  });

  describe("nodes", () => {
    it("are NotReady while quartet.io/test-not-ready is set", async () => {
      const name = `n-${namespace.name}`;
      const path = `/api/v1/nodes/${name}`;
      await addNode(client, name, { taints: [{ key: "example.com/own", effect: "NoSchedule" }] });
      try {
        const annotateNode = (value: string | null): Promise<unknown> =>
          client.ok(
            "PATCH",
            path,
            { metadata: { annotations: { [TEST_ANNOTATIONS.nodeNotReady]: value } } },
            MERGE,
          );
        const untilNode = async (wanted: string): Promise<void> => {
          const deadline = Date.now() + LIMIT_MS;
          for (;;) {
            const node = await client.ok<Pod>("GET", path);
            if (condition(node, "Ready")?.status === wanted) return;
            if (Date.now() > deadline) throw new Error(`node: ${JSON.stringify(node.status)}`);
            await sleep(POLL_MS);
          }
        };
        await annotateNode("true");
        await untilNode("False");
        await annotateNode(null);
        await untilNode("True");
      } finally {
        await removeNode(client, name);
      }
    });
  });
}

function condition(
  { status }: Pick<Pod, "status">,
  type: string,
): { status: string; reason?: string; lastTransitionTime: string } | undefined {
  return status.conditions?.find((candidate) => candidate.type === type);
}

function isReady(pod: Pod): boolean {
  return condition(pod, "Ready")?.status === "True";
}
