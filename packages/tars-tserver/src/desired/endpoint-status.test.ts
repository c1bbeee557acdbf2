import { expect, it } from "vitest";
import { isRouted, podStates } from "./endpoint-status.ts";
import type { Pod } from "./k8s.ts";

const pod = (name: string, conditions: object[] = [], metadata: object = {}): Pod =>
  ({
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name, uid: `u-${name}`, creationTimestamp: "2024-01-01T00:00:00Z", ...metadata },
    status: { podIP: "10.0.0.1", hostIP: "10.1.0.1", conditions },
  }) as Pod;
const ready = { type: "Ready", status: "True" };

it("TARS-R-070 TARS-R-071 there is an entry for each pod, by name, with what is known of it", () => {
  const labels = { "tars.io/ServerID": "v1" };
  const containerStatuses = [
    {
      name: "main",
      image: "a:1",
      ready: true,
      restartCount: 2,
      state: { running: { startedAt: "t", odd: 1 } },
      odd: 1,
    },
  ];
  const b = pod("b", [ready], { labels });
  Object.assign(b.status!, { containerStatuses });
  expect(podStates([b, pod("a")]).map(({ name }) => name)).toEqual(["a", "b"]);
  expect(podStates([b])).toEqual([
    {
      ...{ uid: "u-b", name: "b", podIP: "10.0.0.1", hostIP: "10.1.0.1", startTime: "2024-01-01T00:00:00Z" },
      ...{ id: "v1", settingState: "Active", presentState: "Active", presentMessage: "" },
      containerStatuses: [
        { name: "main", image: "a:1", ready: true, restartCount: 2, state: { running: { startedAt: "t" } } },
      ],
    },
  ]);
  expect(podStates([])).toEqual([]);
});

it("TARS-RG-007 TARS-R-072 only pods that are active in both states and stay are routed to", () => {
  const gate = (reason: string) => [{ type: "tars.io/active", status: "False", reason }];
  const states = podStates([
    pod("a", [ready]),
    pod("b", gate("Active/Activating/7")),
    pod("c", gate("Inactive/Active/7")),
    pod("d", [ready], { deletionTimestamp: "2024-01-01T00:01:00Z" }),
    pod("e", gate("Active/Active/7")),
  ]);
  expect(states.map(isRouted)).toEqual([true, false, false, false, true]);
});
