import { describe, expect, it } from "vitest";
import type { Pod } from "../desired/k8s.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { createMemories } from "./memory.ts";
import { measurePods } from "./pod-figures.ts";

const at = (second: number): string => new Date(second * 1000).toISOString();

/** A pod whose containers are ready; with `gate` that was set so many seconds later. */
function podOf(name: string, gate?: number): Pod {
  const condition = (type: string, second: number) => ({
    type,
    status: "True",
    lastTransitionTime: at(second),
  });
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "ns1", uid: name } },
    status: {
      conditions: [
        condition("ContainersReady", 100),
        ...(gate === undefined
          ? []
          : [condition("tars.io/active", 100 + gate), condition("Ready", 100 + gate)]),
      ],
    },
  };
}

function scene() {
  const memory = createMemories().of("ns1/demo-echoserver");
  const shown: unknown[] = [];
  const gates: number[] = [];
  const metrics = {
    holds: (server: object, ...counts: number[]) => shown.push([server, ...counts]),
    gateSet: (seconds: number) => gates.push(seconds),
    forget: () => {},
  };
  const measure = (...pods: Pod[]) => measurePods({ server: echoServer(), pods, memory, metrics });
  return { measure, shown, gates };
}

describe("figures of pods", () => {
  it("TARS-R-100 tell those that are routed to from the others", () => {
    const { measure, shown } = scene();
    measure(podOf("a", 2), podOf("b"), podOf("c", 3));
    measure();
    const server = { namespace: "ns1", name: "demo-echoserver" };
    expect(shown).toEqual([
      [server, 2, 1],
      [server, 0, 0],
    ]);
  });

  it("TARS-R-101 hold the time of each gate once, and not of pods from before", () => {
    const { measure, gates } = scene();
    measure(podOf("old", 2), podOf("new"));
    measure(podOf("old", 2), podOf("new", 7));
    measure(podOf("old", 2), podOf("new", 7));
    expect(gates).toEqual([7]);
  });
});
