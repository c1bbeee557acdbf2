import { describe, expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { specViolations, updateViolations, withDefaults } from "./daemon-set.ts";

const daemonSet = (spec: object = {}): DaemonSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "t" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: { metadata: { labels: { app: "agent" } }, spec: { containers: [] } },
    ...spec,
  },
});
const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });
const text = (spec: object): string =>
  specViolations(daemonSet(spec))
    .map(({ path, message }) => `${path}: ${message}`)
    .join("\n");

describe("admission of DaemonSets", () => {
  it("DSP-201 DSP-202 DSP-203 defaults are those of the peer, and a budget that is set leaves the other alone", () => {
    expect(withDefaults(daemonSet()).spec).toMatchObject({
      burstReplicas: 250,
      revisionHistoryLimit: 10,
      updateStrategy: {
        type: "RollingUpdate",
        rollingUpdate: { rollingUpdateType: "Standard", maxUnavailable: 1, maxSurge: 0 },
      },
    });
    expect(withDefaults(daemonSet(rolling({ maxSurge: 2 }))).spec.updateStrategy?.rollingUpdate).toEqual({
      rollingUpdateType: "Standard",
      maxSurge: 2,
    });
    expect(withDefaults(daemonSet({ updateStrategy: { type: "OnDelete" } })).spec.updateStrategy).toEqual({
      type: "OnDelete",
    });
  });

  it("DSP-204 the template stays as it was submitted", () => {
    expect(withDefaults(daemonSet()).spec.template).toEqual(daemonSet().spec.template);
  });

  it.each([
    ["DSP-302", { selector: {} }, /^spec\.selector: empty selector is invalid for a daemonset/],
    [
      "DSP-303",
      { selector: { matchLabels: { app: "x" } } },
      /^spec\.template\.metadata\.labels: selector does not match template labels/,
    ],
    [
      "DSP-304",
      { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
      /^spec\.selector\.matchExpressions\[0\]\.values/,
    ],
    [
      "DSP-324",
      {
        template: {
          metadata: { labels: { app: "agent" } },
          spec: {
            volumes: [
              { name: "r", gcePersistentDisk: { pdName: "d", readOnly: true } },
              { name: "w", gcePersistentDisk: { pdName: "d" } },
            ],
          },
        },
      },
      /^spec\.template\.spec\.volumes\[1\]\.gcePersistentDisk\.readOnly: must be true[^\n]*$/,
    ],
    [
      "DSP-305",
      { template: { metadata: { labels: { app: "agent" } }, spec: { restartPolicy: "Never" } } },
      /restartPolicy: "Never" is not supported/,
    ],
    [
      "DSP-306",
      { template: { metadata: { labels: { app: "agent" } }, spec: { activeDeadlineSeconds: 5 } } },
      /activeDeadlineSeconds: forbidden/,
    ],
    ["DSP-307", { minReadySeconds: -1 }, /spec\.minReadySeconds: must be non-negative/],
    ["DSP-307", { revisionHistoryLimit: -1 }, /spec\.revisionHistoryLimit: must be non-negative/],
    [
      "DSP-308",
      { updateStrategy: { type: "Foo" } },
      /updateStrategy\.type: "Foo".*RollingUpdate or OnDelete/,
    ],
    [
      "DSP-309",
      rolling({ rollingUpdateType: "Surging" }),
      /rollingUpdateType: "Surging".*Standard or InPlaceIfPossible/,
    ],
    ["DSP-310", rolling({ maxUnavailable: "5" }), /rollingUpdate\.maxUnavailable: "5"/],
    ["DSP-310", { burstReplicas: -1 }, /spec\.burstReplicas: -1/],
    ["DSP-311", rolling({ maxUnavailable: "101%" }), /maxUnavailable: "101%".*100%/],
    [
      "DSP-312",
      rolling({ maxUnavailable: 1, maxSurge: 1 }),
      /maxSurge: may not be set when maxUnavailable is non-zero/,
    ],
    [
      "DSP-313",
      rolling({ maxUnavailable: 0, maxSurge: 0 }),
      /maxUnavailable: cannot be 0 when maxSurge is 0/,
    ],
    [
      "DSP-314",
      rolling({ rollingUpdateType: "InPlaceIfPossible", maxSurge: 1 }),
      /maxSurge: must be 0 for InPlaceIfPossible/,
    ],
    ["DSP-315", { lifecycle: { inPlaceUpdate: {} } }, /lifecycle\.inPlaceUpdate: forbidden/],
    [
      "DSP-317",
      rolling({ selector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      /rollingUpdate\.selector\.matchExpressions/,
    ],
    [
      "DSP-323",
      { template: { metadata: { labels: { app: "agent", "pod-template-generation": "1" } } } },
      /labels\[pod-template-generation\]: forbidden/,
    ],
  ])("%s refuses %j", (_rule, spec, message) => {
    expect(text(spec)).toMatch(message);
  });

  it("DSP-305 DSP-307 accepts what leaves them out, and 0", () => {
    expect(text({ minReadySeconds: 0, revisionHistoryLimit: 0, burstReplicas: "50%" })).toBe("");
  });

  it("DSP-316 the selector cannot be changed, and the message names what can", () => {
    const other = daemonSet({ selector: { matchLabels: { app: "other" } } });
    expect(updateViolations(other, daemonSet())[0]?.message).toMatch(/burstReplicas, template/);
    expect(updateViolations(daemonSet(), daemonSet())).toEqual([]);
  });
});
