import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { advice } from "./advice.ts";

const MAX_SURGE = "spec.updateStrategy.rollingUpdate.maxSurge";
const OWNER = { mode: "owner", patchesEnabled: true } as const;
const daemonSet = (rollingUpdate: object, spec: object = {}, patches: object[] = []): DaemonSet =>
  ({
    metadata: { name: "agent", annotations: { "daemonset.kruise.io/patches": JSON.stringify(patches) } },
    spec: {
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
      template: { spec: { containers: [{ name: "main", image: "a:1" }], ...spec } },
      patches,
    },
  }) as unknown as DaemonSet;
const patch = (spec: object): object => ({ selector: {}, patch: { spec } });
const hostPort = { containers: [{ name: "main", ports: [{ containerPort: 80, hostPort: 80 }] }] };

it("DSP-318 a surge with a port of the node is warned of, be it the template's or a patch's", () => {
  const surge = { maxSurge: 1 };
  const warned = [expect.stringContaining(MAX_SURGE)];
  expect(advice(daemonSet(surge, { hostNetwork: true }), OWNER)).toEqual(warned);
  expect(advice(daemonSet(surge, {}, [patch({ hostNetwork: true })]), OWNER)).toEqual(warned);
  expect(advice(daemonSet(surge, {}, [patch(hostPort)]), OWNER)).toEqual(warned);
  expect(advice(daemonSet(surge), OWNER)).toEqual([]);
  expect(advice(daemonSet({ maxSurge: "0%" }, { hostNetwork: true }), OWNER)).toEqual([]);
});

it("DSP-368 beside OpenKruise tolerations and images of patches are warned of, for it never sees them", () => {
  const companion = { mode: "companion", patchesEnabled: true } as const;
  const patches = [
    patch({ tolerations: [{ operator: "Exists" }] }),
    patch({ containers: [{ name: "main", image: "a:gpu" }] }),
  ];
  const of = (rollingUpdateType: string, who: Parameters<typeof advice>[1]): string[] =>
    advice(daemonSet({ rollingUpdateType }, {}, patches), who);
  expect(of("InPlaceIfPossible", companion)).toEqual([
    expect.stringMatching(/\[0\]\.patch\.spec\.tolerations/),
    expect.stringMatching(/\[1\]\.patch\.spec: an in-place update/),
  ]);
  expect(of("Standard", companion)).toEqual([expect.stringMatching(/tolerations/)]);
  expect(of("InPlaceIfPossible", OWNER)).toEqual([]);
});
