import { createMetrics, type Kind, type Manager, type Runnable } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { dsPatchesModule } from "./index.ts";

/** What the module asks a manager for. */
function asked(mode: string) {
  const sources: { kind: string; optional: boolean }[] = [];
  const indexes: string[] = [];
  const options: object[] = [];
  const runnables: Runnable[] = [];
  const source = (kind: Kind, ...rest: readonly unknown[]) => {
    const optional = rest.some((more) => (more as { optional?: boolean }).optional === true);
    sources.push({ kind: kind.kind, optional });
  };
  const builder = {
    withOptions: (given: object) => {
      options.push(given);
      return builder;
    },
    ...{ for: source, owns: source, watches: source, watchesRaw: () => {} },
    index: (kind: Kind, name: string) => void indexes.push(`${kind.kind} ${name}`),
    complete: () => ({ name: "controller" }),
  };
  const silent = { named: () => silent, info: () => {}, warn: () => {} };
  const manager = {
    ...{ sources: {}, clock: fakeClock(), log: silent, metrics: createMetrics(), features: {} },
    controller: () => builder,
    add: (runnable: Runnable) => void runnables.push(runnable),
  };
  dsPatchesModule.build(manager as unknown as Manager, {
    "daemonset-mode": mode,
    "kruise-namespace": "kruise-system",
    "patch-drift-settle": 0,
  });
  return { sources, indexes, options, runnables };
}

it("DSP-701 no pass begins before DaemonSets, pods, nodes and revisions are all there", () => {
  const { sources } = asked("owner");
  expect(sources.every(({ optional }) => !optional)).toBe(true);
  const kinds = [...new Set(sources.map(({ kind }) => kind))];
  expect(kinds.sort()).toEqual(["ControllerRevision", "DaemonSet", "Node", "Pod"]);
});

it("DSP-119 every replica knows the mode, which its webhooks answer by; pods are the leader's alone", () => {
  const { runnables } = asked("auto");
  expect(runnables.map(({ name, needLeaderElection = true }) => [name, needLeaderElection])).toEqual([
    ["daemonset-mode", false],
    ["controller", true],
  ]);
});

it("DSP-1046 pods and revisions that nobody controls stand in an index", () => {
  expect(asked("owner").indexes).toEqual(["ControllerRevision orphans", "Pod orphans"]);
});

it("DSP-714 DSP-1050 three DaemonSets at a time, at no rate of the controller's own", () => {
  expect(asked("owner").options).toEqual([{ maxConcurrentReconciles: 3 }]);
});
