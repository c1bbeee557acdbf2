import { describe, expect, it } from "vitest";
import { type ManageSettings, type NodePlan, planManagement } from "./manage.ts";
import type { PodFacts } from "./objects.ts";

const RUNS = { shouldRun: true, shouldContinue: true };
const STAYS = { shouldRun: false, shouldContinue: true };
const SETTINGS: ManageSettings = {
  surge: false,
  burst: 250,
  creationPartition: 0,
  minReadyMs: 0,
  now: 100_000,
};
const pod = (name: string, more: Partial<PodFacts> = {}): PodFacts => ({
  name,
  uid: name,
  node: "n1",
  scheduled: true,
  created: 1,
  phase: "Running",
  readySince: 2,
  current: true,
  preparingDelete: false,
  ...more,
});
const node = (
  name: string,
  pods: PodFacts[] = [],
  eligibility: NodePlan["eligibility"] = RUNS,
): NodePlan => ({
  name,
  eligibility,
  pods,
});
const plan = (nodes: NodePlan[], more: Partial<ManageSettings> = {}) => {
  const { create, remove } = planManagement(nodes, { ...SETTINGS, ...more });
  return { create, remove: remove.map(({ pod: { name }, reason }) => `${name} ${reason}`) };
};
const numbered = (count: number, running = 0): NodePlan[] =>
  Array.from({ length: count }, (_, index) => node(`n${index}`, index < running ? [pod(`p${index}`)] : []));

describe("missing and excess pods", () => {
  it("DSP-725 DSP-726 each eligible node gets one pod, a node that may not keep its pods loses all", () => {
    const nodes = [
      node("n1"),
      node("n2", [pod("a")]),
      node("n3", [pod("b"), pod("c")], { shouldRun: false, shouldContinue: false }),
      node("n4", [pod("d")], STAYS),
      node("n5", [], STAYS),
    ];
    expect(plan(nodes)).toEqual({ create: ["n1"], remove: ["b ineligible", "c ineligible"] });
  });

  it("DSP-731 a node whose pod is on its way out gets the next one when it is gone, with surge at once", () => {
    const nodes = [{ ...node("n1"), terminating: true }];
    expect(plan(nodes).create).toEqual([]);
    expect(plan(nodes, { surge: true }).create).toEqual(["n1"]);
  });

  it("DSP-727 DSP-728 pods that have ended are deleted; their node gets a new one in the next pass", () => {
    const nodes = [
      node("n1", [pod("a", { phase: "Failed" })]),
      node("n2", [pod("b", { phase: "Succeeded" })]),
    ];
    expect(plan(nodes)).toEqual({ create: [], remove: ["a failed", "b succeeded"] });
  });

  it("DSP-729 of several pods a scheduled one stays before the others, then the oldest", () => {
    const pods = [
      pod("young", { created: 5 }),
      pod("old", { created: 3 }),
      pod("pending", { scheduled: false }),
    ];
    expect(plan([node("n1", pods)]).remove).toEqual(["young duplicate", "pending duplicate"]);
  });

  it("DSP-730 with surge the stale pod goes once the current one is available, or when it is not ready itself", () => {
    const both = (current: Partial<PodFacts>, stale: Partial<PodFacts>) => [
      node("n1", [pod("new", { created: 9, ...current }), pod("old", { current: false, ...stale })]),
    ];
    const options = { surge: true, minReadyMs: 10_000 };
    expect(plan(both({ readySince: 95_000 }, {}), options).remove).toEqual([]);
    expect(plan(both({ readySince: 90_000 }, {}), options).remove).toEqual(["old replaced"]);
    expect(plan(both({ readySince: undefined }, { readySince: undefined }), options).remove).toEqual([
      "old replaced",
    ]);
  });

  it("DSP-732 a pod that waits for a node that is gone is deleted; one that ran there is the node controller's", () => {
    const nodes: NodePlan[] = [
      { name: "gone", eligibility: undefined, pods: [pod("a", { scheduled: false }), pod("b")] },
    ];
    expect(plan(nodes)).toEqual({ create: [], remove: ["a noNode"] });
  });

  it("DSP-733 the burst limits creates and deletes; a percentage is of the nodes that run now, and at least 1", () => {
    expect(plan(numbered(4), { burst: 2 }).create).toHaveLength(2);
    expect(plan(numbered(4), { burst: "50%" }).create).toHaveLength(2);
    expect(plan(numbered(4), { burst: "10%" }).create).toHaveLength(1);
    expect(plan(numbered(4), { burst: 0 })).toEqual({ create: [], remove: [] });
  });

  it("DSP-736 DSP-737 a partition limits creation only when it is asked to, lowest names first", () => {
    expect(plan(numbered(10), { creationPartition: 10 }).create).toEqual([]);
    expect(plan(numbered(10), { creationPartition: 9 }).create).toEqual(["n0"]);
    expect(plan(numbered(10, 1), { creationPartition: 5 }).create).toEqual(["n1", "n2", "n3", "n4"]);
    expect(plan(numbered(4), { creationPartition: "50%" }).create).toEqual(["n0", "n1"]);
    expect(plan(numbered(4)).create).toHaveLength(4);
  });
});

describe("DSP-738 pods that wait for their hook", () => {
  const waiting = { preparingDelete: true, hooked: true };

  it("stay while it holds them, and go once it lets go", () => {
    expect(plan([node("n1", [pod("a", waiting)])])).toEqual({ create: [], remove: [] });
    expect(plan([node("n1", [pod("a", { preparingDelete: true })])]).remove).toEqual(["a released"]);
    expect(
      plan([node("n1", [pod("a", waiting)], { shouldRun: false, shouldContinue: false })]).remove,
    ).toEqual([]);
  });

  it("are told of their node's end once", () => {
    const gone = { shouldRun: false, shouldContinue: false };
    expect(plan([node("n1", [pod("a", { hooked: true })], gone)]).remove).toEqual(["a ineligible"]);
  });
});

it("DSP-511 a node whose template cannot be made gets no pod", () => {
  const broken = { ...node("n1"), broken: true };
  expect(plan([broken, node("n2")])).toEqual({ create: ["n2"], remove: [] });
});
