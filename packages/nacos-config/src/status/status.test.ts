import { describe, expect, it } from "vitest";
import { clusterOf, nacos } from "../fixtures.testkit.ts";
import type { Health } from "../health/evaluate.ts";
import { recordEvent, type StatusEvent } from "./events.ts";
import type { Memory, Outcome, WorkloadReport } from "./outcome.ts";
import { type NacosStatus, nextStatus } from "./status.ts";

const CREATED = Date.parse("2026-01-01T00:00:00Z");
const SECOND = 1000;
const passed: Health = { state: "passed", nodes: [], versions: new Map() };
const down: Health = {
  state: "failed",
  code: 401,
  reason: "NodeNotUp",
  message: "node is not up: x",
  nodes: [],
};
const few: Health = {
  state: "failed",
  code: -1,
  reason: "TooFewReady",
  message: "ready pods too few: 1 ready, 2 needed",
  nodes: [],
};
const workload = (more: Partial<WorkloadReport> = {}): WorkloadReport => ({
  replicas: 3,
  readyPods: 3,
  selector: "app=demo",
  updatedReplicas: 3,
  revision: "1",
  unreported: false,
  rolling: false,
  scaling: false,
  ...more,
});
const memory = (more: Partial<Memory> = {}): Memory => ({ nacosFailures: 0, ...more });
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  now: CREATED,
  replicas: 3,
  standalone: false,
  violations: [],
  config: { mode: "none", message: "", mounted: { mode: "none" } },
  workload: workload(),
  failures: [],
  reports: [],
  stepStatus: {},
  paused: false,
  recreating: false,
  memory: memory(),
  ...more,
});
const standing = (phase: string, more: Partial<NacosStatus> = {}) => ({
  ...clusterOf({}, { creationTimestamp: new Date(CREATED).toISOString() }),
  status: { phase, healthy: phase === "Running", ...more } as NacosStatus,
});
const after = (phase: string, more: Partial<Outcome>, seconds = 0): NacosStatus =>
  nextStatus(standing(phase), outcome({ now: CREATED + seconds * SECOND, ...more }));
const condition = (status: NacosStatus, type: string) =>
  status.operatorConditions?.find((entry) => entry.type === type);

describe("phase", () => {
  it("NACOS-465 NACOS-466 NACOS-914 says what a change waits for, what a partition keeps, and from where nodes are scaled", () => {
    const progressing = (more: Partial<Outcome>) =>
      condition(after("Running", { health: passed, ...more }), "Progressing");
    expect(progressing({ awaited: 2 })).toMatchObject({
      status: "True",
      reason: "WaitingForAvailability",
      message: expect.stringContaining("2 pods that are ready"),
    });
    expect(progressing({ workload: workload({ partition: 1, updatedReplicas: 2 }) })).toMatchObject({
      status: "False",
      reason: "Partitioned",
      message: expect.stringContaining("2/3"),
    });
    expect(
      progressing({ workload: workload({ scaling: true }), memory: memory({ scaledFrom: 3 }) }),
    ).toMatchObject({
      reason: "Scaling",
      message: "3/3 nodes are ready, from 3",
    });
  });

  it("NACOS-913 NACOS-915 turns Running when the check passes, from every phase, and healthy says the same", () => {
    for (const phase of ["Creating", "Failed", "Running"]) {
      expect(after(phase, { health: passed })).toMatchObject({ phase: "Running", healthy: true });
    }
    expect(after("Creating", { health: few })).toMatchObject({ phase: "Creating", healthy: false });
  });

  it("NACOS-913 turns Failed when it has not come up 180 s after creation or the last change of the spec", () => {
    expect(after("Creating", { health: few }, 180).phase).toBe("Creating");
    expect(after("Creating", { health: few }, 181).phase).toBe("Failed");
    const changed = memory({ specChangedAt: CREATED + 100 * SECOND });
    expect(after("Creating", { health: few, memory: changed }, 280).phase).toBe("Creating");
    expect(after("Creating", { health: few, memory: changed }, 281).phase).toBe("Failed");
    expect(after("Failed", { health: few }, 10).phase).toBe("Failed");
  });

  it("NACOS-913 turns a running one Failed at once without quorum, and at the third failed check of Nacos", () => {
    expect(after("Running", { health: few, workload: workload({ readyPods: 1 }) }).phase).toBe("Failed");
    const failures = (nacosFailures: number): string | undefined =>
      after("Running", { health: down, memory: memory({ nacosFailures }) }).phase;
    expect([1, 2, 3].map(failures)).toEqual(["Running", "Running", "Failed"]);
  });

  it("NACOS-472 stays Running in a rollout while the quorum holds, whatever members say", () => {
    const rolling = { health: down, memory: memory({ nacosFailures: 9, rolloutSince: CREATED }) };
    expect(after("Running", { ...rolling, workload: workload({ rolling: true, readyPods: 2 }) }).phase).toBe(
      "Running",
    );
    expect(
      after("Running", { ...rolling, health: few, workload: workload({ rolling: true, readyPods: 1 }) })
        .phase,
    ).toBe("Failed");
  });

  it("NACOS-473 is Creating while the only pod is replaced, and Failed after 180 s of it", () => {
    const rolling = {
      standalone: true,
      replicas: 1,
      health: few,
      workload: workload({ rolling: true, readyPods: 0 }),
      memory: memory({ rolloutSince: CREATED + 1000 * SECOND }),
    };
    expect(after("Running", rolling, 1000)).toMatchObject({ phase: "Creating", healthy: false });
    expect(after("Creating", rolling, 1180).phase).toBe("Creating");
    expect(after("Creating", rolling, 1181).phase).toBe("Failed");
  });

  it("NACOS-474 is Failed when a rollout takes longer than 600 s and 120 s for each node, naming the pod", () => {
    const rolling = {
      health: passed,
      workload: workload({ rolling: true, stuckPod: "demo-2" }),
      memory: memory({ rolloutSince: CREATED }),
    };
    expect(after("Running", rolling, 960).phase).toBe("Running");
    const status = after("Running", rolling, 961);
    expect(status.phase).toBe("Failed");
    expect(status.event?.at(-1)).toMatchObject({
      code: 401,
      message: expect.stringMatching(/rollout stalled.*demo-2/),
    });
  });

  it("NACOS-914 stays Running while the number of nodes changes and the quorum of the smaller number holds", () => {
    const scaling = (readyPods: number) => ({
      replicas: 5,
      health: few,
      workload: workload({ scaling: true, readyPods }),
      memory: memory({ scaledFrom: 3 }),
    });
    const status = after("Running", scaling(2));
    expect(status.phase).toBe("Running");
    expect(condition(status, "Progressing")).toMatchObject({ status: "True", reason: "Scaling" });
    expect(after("Running", scaling(1)).phase).toBe("Failed");
  });

  it("NACOS-103 is Failed at once for an unknown type, and tells field and value", () => {
    const violations = [{ path: "spec.type", reason: "TypeUnknown", message: '"x" is neither' }];
    const { workload: _none, ...rest } = outcome({ violations });
    const status = nextStatus(standing("Creating"), rest);
    expect(status.phase).toBe("Failed");
    expect(status.event?.at(-1)).toMatchObject({ code: 301, message: 'spec.type: "x" is neither' });
  });

  it("NACOS-106 is Creating and never Failed with zero nodes", () => {
    for (const phase of ["Running", "Failed", "Creating"]) {
      const status = after(phase, { replicas: 0, workload: workload({ readyPods: 0 }) }, 9999);
      expect(status.phase).toBe("Creating");
      expect(condition(status, "Progressing")).toMatchObject({ status: "False", reason: "ScaledToZero" });
    }
  });

  it("NACOS-111 follows the nodes while the spec is invalid", () => {
    const violations = [{ path: "spec.image", reason: "ImageMissing", message: "is needed" }];
    const status = after("Running", { violations, health: passed });
    expect(status.phase).toBe("Running");
    expect(condition(status, "SpecValid")).toMatchObject({ status: "False", reason: "ImageMissing" });
    expect(after("Creating", { violations, health: passed }).phase).toBe("Running");
  });

  it("NACOS-606 keeps the phase while the StatefulSet is made anew around its pods", () => {
    const { workload: _none, ...rest } = outcome({ recreating: true, now: CREATED + 9999 * SECOND });
    const status = nextStatus(standing("Running"), rest);
    expect(status.phase).toBe("Running");
    expect(condition(status, "Progressing")).toMatchObject({ status: "True", reason: "Recreating" });
  });

  it("NACOS-315 NACOS-317 waits in Creating for a missing source, and stays Running when one is lost", () => {
    const config = {
      ...outcome().config,
      mode: "merged" as const,
      problem: { reason: "SourceNotFound", message: "uc" },
    };
    const { workload: _none, ...waiting } = outcome({ config, now: CREATED + 9999 * SECOND });
    const status = nextStatus(standing("Creating"), waiting);
    expect(status.phase).toBe("Creating");
    expect(condition(status, "ConfigReady")).toMatchObject({ status: "False", reason: "SourceNotFound" });
    expect(status.event?.at(-1)).toMatchObject({ code: 301 });
    expect(after("Running", { config, health: passed }).phase).toBe("Running");
  });
});

describe("status", () => {
  it("NACOS-919 NACOS-916 is the same again when a pass finds the same", () => {
    const first = after("Creating", { health: passed });
    const resource = { ...standing("Running"), status: first };
    expect(nextStatus(resource, outcome({ health: passed, now: CREATED + 999 * SECOND }))).toEqual(first);
  });

  it("NACOS-917 carries the fingerprint of the spec alone", () => {
    const digest = (labels: Record<string, string>, spec: object): string | undefined =>
      nextStatus({ ...standing("Running"), ...clusterOf(spec as never, { labels }) }, outcome())
        .versionDigest;
    expect(digest({ a: "1" }, {})).toBe(digest({}, {}));
    expect(digest({}, { replicas: 4 })).not.toBe(digest({}, {}));
  });

  it("NACOS-314 NACOS-342 tells what is mounted, and clears it", () => {
    const mounted = { mode: "merged", digest: "d", name: "f", kind: "Secret" } as const;
    const merged = after("Running", { config: { mode: "merged", message: "m", mounted } });
    expect(merged).toMatchObject({
      configDigest: "d",
      finalConfigName: "f",
      finalConfigKind: "Secret",
      configMode: "merged",
    });
    const resource = { ...standing("Running"), status: merged };
    expect(nextStatus(resource, outcome())).toMatchObject({
      configDigest: "",
      finalConfigName: "",
      configMode: "none",
    });
  });

  it("NACOS-471 counts updated nodes in a rollout and says when it is complete", () => {
    const rolling = after("Running", {
      health: passed,
      workload: workload({ rolling: true, updatedReplicas: 1 }),
    });
    expect(condition(rolling, "Progressing")).toMatchObject({
      status: "True",
      reason: "RollingUpdate",
      message: "1/3",
    });
    const done = after("Running", { health: passed });
    expect(condition(done, "Progressing")).toMatchObject({
      status: "False",
      reason: "RolloutComplete",
      message: "3/3",
    });
  });

  it("NACOS-471 is not complete while the StatefulSet controller has said nothing of pods that are ready", () => {
    const early = workload({ replicas: 0, updatedReplicas: 0, unreported: true });
    const status = after("Creating", { health: passed, workload: early });
    expect(status.phase).toBe("Running");
    expect(condition(status, "Progressing")).toMatchObject({
      status: "True",
      reason: "Creating",
      message: "3/3 nodes are ready",
    });
  });

  it("NACOS-909 NACOS-910 says that the nodes were not looked into", () => {
    const health: Health = { ...passed, unverified: { reason: "AuthRequired", message: "login" } };
    expect(condition(after("Creating", { health }), "NodesVerified")).toMatchObject({
      status: "Unknown",
      reason: "AuthRequired",
    });
    expect(condition(after("Creating", { health: passed }), "NodesVerified")).toMatchObject({
      status: "True",
    });
    expect(condition(after("Creating", { health: down }), "NodesVerified")).toMatchObject({
      status: "False",
      reason: "NodeNotUp",
    });
  });

  it("NACOS-912 lists counts of versions while they differ", () => {
    const versions = new Map([
      ["2.5.0", 1],
      ["2.4.3", 2],
    ]);
    const status = after("Running", { health: { ...passed, versions, version: "2.4.3" } });
    expect(condition(status, "Progressing")?.message).toBe("3/3; versions: 2.4.3 on 2, 2.5.0 on 1");
    expect(status.version).toBe("2.4.3");
    expect(nextStatus({ ...standing("Running"), status }, outcome({ health: few })).version).toBe("2.4.3");
  });

  it("NACOS-207 NACOS-413 tells a failed step in the Ready condition and the event list", () => {
    const failures = [
      { code: -1, reason: "ResourceConflict", message: "StatefulSet demo exists and is unmanaged" },
    ];
    const status = after("Running", { failures, health: passed });
    expect(condition(status, "Ready")).toMatchObject({ status: "False", reason: "ResourceConflict" });
    expect(status.event?.at(-1)).toMatchObject({ code: -1, status: false });
  });

  it("NACOS-723 a database that fails has its own condition, and is the headline only when the nodes are well", () => {
    const failures = [
      { code: 404, reason: "Timeout", message: "timeout", condition: "DatabaseReady" as const },
    ];
    const well = after("Running", { failures, health: passed });
    expect(well).toMatchObject({ phase: "Running", healthy: true });
    expect(condition(well, "DatabaseReady")).toMatchObject({ status: "False", reason: "Timeout" });
    expect(condition(well, "Ready")?.status).toBe("True");
    expect(well.event?.at(-1)).toMatchObject({ code: 404, message: "Timeout: timeout" });
    expect(after("Running", { failures, health: down }).event?.at(-1)?.code).toBe(401);
  });

  it("keeps the time of a condition until its status changes", () => {
    const first = after("Creating", { health: few });
    const second = nextStatus(
      { ...standing("Creating"), status: first },
      outcome({ health: down, now: CREATED + 60 * SECOND }),
    );
    expect(condition(second, "Ready")?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
    const third = nextStatus(
      { ...standing("Creating"), status: second },
      outcome({ health: passed, now: CREATED + 90 * SECOND }),
    );
    expect(condition(third, "Ready")).toMatchObject({
      status: "True",
      lastTransitionTime: "2026-01-01T00:01:30Z",
    });
  });

  it("has nothing to say about a resource that is not there yet", () => {
    expect(nextStatus(nacos(), outcome({ health: passed })).observedGeneration).toBe(1);
  });
});

describe("event list", () => {
  const now = (seconds: number): string => `2026-01-01T00:00:0${seconds}Z`;

  it("NACOS-916 changes the last entry for the same code and appends another code", () => {
    const first = recordEvent([], 301, "a", now(0));
    expect(first).toEqual([
      { status: false, code: 301, message: "a", firstAppearTime: now(0), lastTransitionTime: now(0) },
    ]);
    expect(recordEvent(first, 301, "a", now(1))).toEqual(first);
    expect(recordEvent(first, 301, "b", now(2))).toEqual([
      { ...first[0], message: "b", lastTransitionTime: now(2) },
    ]);
    expect(recordEvent(first, 200, "", now(3)).map(({ code, status }) => [code, status])).toEqual([
      [301, false],
      [200, true],
    ]);
  });

  it("NACOS-916 corrects the peer's first entry of a success", () => {
    const peers: StatusEvent[] = [{ status: false, code: 200, message: "" }];
    expect(recordEvent(peers, 200, "", now(1))[0]?.status).toBe(true);
  });

  it("NACOS-916 keeps the newest ten", () => {
    let events: StatusEvent[] = [];
    for (let at = 0; at < 15; at += 1) events = recordEvent(events, at % 2 === 0 ? 200 : -1, `${at}`, now(1));
    expect(events.map(({ message }) => message)).toEqual(
      Array.from({ length: 10 }, (_, at) => String(at + 5)),
    );
  });
});
