import { describe, expect, it } from "vitest";
import {
  type Cluster,
  evaluate,
  type Health,
  type NodeAnswer,
  quorumFailure,
  unverified,
} from "./evaluate.ts";
import type { Member } from "./member-list.ts";
import { type NodeFacts, nodesOf, quorumOf } from "./node-facts.ts";

const node = (ordinal: number, more: Partial<NodeFacts> = {}): NodeFacts => ({
  ordinal,
  podName: `x-${ordinal}`,
  podIP: `10.0.0.${ordinal}`,
  hostIP: "192.168.0.1",
  nodeName: "node-0",
  ready: true,
  ...more,
});
const cluster = (replicas: number, more: Partial<Cluster> = {}): Cluster => ({
  name: "x",
  type: "cluster",
  replicas,
  nodes: Array.from({ length: replicas }, (_, ordinal) => node(ordinal)),
  ...more,
});
const GROUP = "naming_persistent_service_v2";
const member = (ordinal: number, leader = "x-0:7848", more: Partial<Member> = {}): Member => ({
  address: `x-${ordinal}.x-headless.t.svc.cluster.local:8848`,
  state: "UP",
  version: "2.4.3",
  leaders: leader === "" ? {} : { [GROUP]: leader },
  ...more,
});
const list = (members: readonly Member[]): NodeAnswer => ({ state: "members", members });
/** The same answer from every node. */
const everybody = (of: Cluster, answer: NodeAnswer): Map<string, NodeAnswer> =>
  new Map(of.nodes.filter(({ ready }) => ready).map(({ podName }) => [podName, answer]));
const judge = (of: Cluster, members: readonly Member[]): Health => evaluate(of, everybody(of, list(members)));
const entries = (health: Health): string[] => health.nodes.map((n) => `${n.podName} ${n.type} ${n.status}`);
const three = [0, 1, 2].map((at) => member(at));

describe("pods", () => {
  const pod = (name: string, more: object = {}, owner = "uid-x") => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "StatefulSet", name: "x", uid: owner, controller: true },
      ],
      ...more,
    },
    status: {
      podIP: "10.0.0.1",
      conditions: [
        { type: "PodReadyToStartContainers", status: "True" },
        { type: "Initialized", status: "True" },
        { type: "ContainersReady", status: "True" },
        { type: "PodScheduled", status: "True" },
        { type: "Ready", status: "True" },
      ],
    },
  });
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "x", uid: "uid-x" } };
  const read = (...pods: unknown[]): NodeFacts[] =>
    nodesOf(owner as Parameters<typeof nodesOf>[0], pods as Parameters<typeof nodesOf>[1]);

  it("NACOS-901 are ready by their Ready condition, wherever it stands among how many", () => {
    expect(read(pod("x-0"))[0]?.ready).toBe(true);
    const conditions = [
      { type: "Ready", status: "False" },
      { type: "ContainersReady", status: "True" },
    ];
    expect(read({ ...pod("x-0"), status: { conditions } })[0]?.ready).toBe(false);
    expect(read({ ...pod("x-0"), status: {} })[0]?.ready).toBe(false);
  });

  it("NACOS-901 do not count while they go or belong to another StatefulSet, and come by ordinal", () => {
    const found = read(
      pod("x-10"),
      pod("x-2"),
      pod("x-1", { deletionTimestamp: "now" }),
      pod("x-0", {}, "uid-y"),
    );
    expect(found.map(({ podName }) => podName)).toEqual(["x-2", "x-10"]);
  });
});

describe("health check", () => {
  it("NACOS-902 needs more than half of the pods", () => {
    expect([1, 2, 3, 4, 5].map(quorumOf)).toEqual([1, 2, 2, 3, 3]);
    const nodes = [node(0), node(1, { ready: false })];
    expect(quorumFailure(cluster(3, { nodes }))).toMatchObject({
      state: "failed",
      code: -1,
      message: "ready pods too few: 1 ready, 2 needed",
    });
    expect(quorumFailure(cluster(3, { nodes: [node(0), node(2)] }))).toBeUndefined();
  });

  it("NACOS-910 NACOS-911 passes with one entry for each node, in the order of ordinals, one of them leader", () => {
    const health = judge(cluster(3), three);
    expect(entries(health)).toEqual(["x-0 leader true", "x-1 follower true", "x-2 follower true"]);
    expect(health.nodes[0]).toEqual({
      type: "leader",
      status: "true",
      podName: "x-0",
      instance: "10.0.0.0",
      hostIP: "192.168.0.1",
      nodeName: "node-0",
    });
    expect(health).toMatchObject({ state: "passed", version: "2.4.3" });
    expect(health).not.toHaveProperty("unverified");
  });

  it("NACOS-911 has an entry for a pod that is missing while the members are complete", () => {
    const health = judge(cluster(3, { nodes: [node(0), node(2)] }), three);
    expect(entries(health)).toEqual(["x-0 leader true", "x-1 follower true", "x-2 follower true"]);
  });

  it("NACOS-910 finds the leader by pod name, DNS name or an address of its own, never by the beginning of a name", () => {
    const leaderOf = (leader: string, of = cluster(11)): string | undefined =>
      judge(
        of,
        of.nodes.map(({ ordinal }) => member(ordinal, leader)),
      ).nodes.find(({ type }) => type === "leader")?.podName;
    expect(leaderOf("x-1:7848")).toBe("x-1");
    expect(leaderOf("x-10.x-headless.t.svc.cluster.local:7848")).toBe("x-10");
    expect(leaderOf("10.0.0.4:7848")).toBe("x-4");
    expect(leaderOf("[fd00::5]:7848", cluster(1, { nodes: [node(0, { podIP: "fd00::5" })] }))).toBe("x-0");
    const sharing = cluster(2, { nodes: [node(0, { podIP: "127.0.0.1" }), node(1, { podIP: "127.0.0.1" })] });
    expect(leaderOf("127.0.0.1:7848", sharing)).toBeUndefined();
  });

  it("NACOS-910 takes nodes without Raft for what they are", () => {
    const alone = judge(cluster(1, { type: "standalone" }), [member(0, "")]);
    expect(entries(alone)).toEqual(["x-0 leader true"]);
    expect(alone).not.toHaveProperty("unverified");
    const without = judge(
      cluster(3),
      [0, 1, 2].map((at) => member(at, "")),
    );
    expect(entries(without)).toEqual(["x-0 follower true", "x-1 follower true", "x-2 follower true"]);
    expect(without).toMatchObject({ state: "passed", unverified: { reason: "NoLeaderInfo" } });
  });

  it("NACOS-907 asks the most telling group that knows a leader", () => {
    const mixed = three.map((m, at) => ({
      ...m,
      leaders: at === 0 ? { nacos_config: "x-2:7848", [GROUP]: "x-1:7848" } : {},
    }));
    expect(entries(judge(cluster(3), mixed))[1]).toBe("x-1 leader true");
    const config = three.map((m) => ({ ...m, leaders: { nacos_config: "x-2:7848" } }));
    expect(entries(judge(cluster(3), config))[2]).toBe("x-2 leader true");
  });

  it.each<[what: string, answers: readonly NodeAnswer[], message: string]>([
    [
      "an unreachable node",
      [
        list(three),
        { state: "failed", reason: "Unreachable", message: "the node cannot be reached" },
        list(three),
      ],
      "x-1: the node cannot be reached",
    ],
    [
      "a member too few",
      [list(three), list(three), list(three.slice(1))],
      "x-2: server num is not equal: got 2, want 3",
    ],
    [
      "a member that is down",
      Array(3).fill(list([...three.slice(1), member(0, "x-0:7848", { state: "DOWN" })])),
      "x-0: node is not up: x-0.x-headless.t.svc.cluster.local:8848 is DOWN",
    ],
    [
      "two leaders",
      [list(three), list(three), list([0, 1, 2].map((at) => member(at, "x-2:7848")))],
      "leader not equal: x-0:7848, x-2:7848",
    ],
    [
      "a single refusal",
      [list(three), { state: "unauthorized", status: 403 }, list(three)],
      "x-1: HTTP status 403",
    ],
  ])("NACOS-908 fails with code 401 for %s", (_what, answers, message) => {
    const health = evaluate(cluster(3), new Map(answers.map((answer, at) => [`x-${at}`, answer])));
    expect(health).toMatchObject({ state: "failed", code: 401, message });
    expect(health.nodes.some(({ status, reason }) => status === "false" && reason)).toBe(true);
  });

  it("NACOS-909 passes unverified when every node of a wholly ready cluster asks for a login", () => {
    const refused: NodeAnswer = { state: "unauthorized", status: 403 };
    const health = evaluate(cluster(3), everybody(cluster(3), refused));
    expect(health).toMatchObject({ state: "passed", unverified: { reason: "AuthRequired" } });
    expect(entries(health)).toEqual(["x-0 unknown true", "x-1 unknown true", "x-2 unknown true"]);
    const partly = cluster(3, { nodes: [node(0), node(1), node(2, { ready: false })] });
    expect(evaluate(partly, everybody(partly, refused)).state).toBe("failed");
  });

  it("NACOS-912 reports the version of the lowest ordinal, and how many nodes run which", () => {
    const mixed = [
      member(2, "x-0:7848", { version: "2.5.0" }),
      member(1),
      member(0, "x-0:7848", { version: "2.3.0" }),
    ];
    const health = judge(cluster(3), mixed);
    expect(health).toMatchObject({ state: "passed", version: "2.3.0" });
    expect(health.state === "passed" && [...health.versions].sort()).toEqual([
      ["2.3.0", 1],
      ["2.4.3", 1],
      ["2.5.0", 1],
    ]);
  });

  it("passes without asking when it is told not to ask", () => {
    const health = unverified(cluster(2), "CheckSkipped", "not asked");
    expect(entries(health)).toEqual(["x-0 unknown true", "x-1 unknown true"]);
  });
});
