import { describe, expect, it } from "vitest";
import { type Evidence, KRUISE_CONFIGURATION, signalsOf } from "./signals.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const NOTHING: Evidence = {
  configuration: undefined,
  lease: undefined,
  leaseStillMs: undefined,
  crd: undefined,
};
const configuration = (clientConfig: object) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: KRUISE_CONFIGURATION },
  webhooks: [
    { name: "a", clientConfig: { url: "https://x/other" } },
    { name: "b", clientConfig },
  ],
});
const lease = (renewedMsAgo: number, spec: object = {}) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "kruise-system", name: "kruise-manager" },
  spec: { holderIdentity: "k-1", renewTime: new Date(NOW - renewedMsAgo).toISOString(), ...spec },
});
const crd = (labels?: Record<string, string>) =>
  ({ metadata: { name: "daemonsets.apps.kruise.io", ...(labels && { labels }) } }) as never;
const ids = (evidence: Partial<Evidence>) => signalsOf({ ...NOTHING, ...evidence }, NOW).map(({ id }) => id);

describe("signs of an OpenKruise", () => {
  it("DSP-103 an empty cluster has none", () => {
    expect(ids({})).toEqual([]);
  });

  it("DSP-103 S1 is the webhook for DaemonSets, by Service or URL; its other webhooks are none", () => {
    const path = "/mutate-apps-kruise-io-daemonset";
    expect(ids({ configuration: configuration({ service: { namespace: "k", name: "w", path } }) })).toEqual([
      "webhook",
    ]);
    expect(
      ids({ configuration: configuration({ url: `https://127.0.0.1:9443${path}?timeout=1s` }) }),
    ).toEqual(["webhook"]);
    expect(ids({ configuration: configuration({ url: "no url" }) })).toEqual([]);
  });

  it.each([
    ["renewed 59 s ago", lease(59_000), undefined, true],
    ["renewed 61 s ago", lease(61_000), undefined, false],
    ["renewed 61 s ago by its own clock, and seen to change 1 s ago", lease(61_000), 1_000, true],
    ["renewed 61 s ago, of 30 s", lease(61_000, { leaseDurationSeconds: 30 }), undefined, true],
    ["given back", lease(0, { holderIdentity: "" }), 0, false],
    ["without a time", lease(0, { renewTime: undefined }), undefined, false],
  ])("DSP-103 S2 is a Lease that is held: %s", (_case, held, leaseStillMs, expected) => {
    expect(ids({ lease: held, leaseStillMs })).toEqual(expected ? ["lease"] : []);
  });

  it("DSP-103 S3 is a definition without our label", () => {
    expect(ids({ crd: crd() })).toEqual(["crd"]);
    expect(ids({ crd: crd({ "app.kubernetes.io/managed-by": "Helm" }) })).toEqual(["crd"]);
    expect(
      ids({
        crd: crd({ "app.kubernetes.io/part-of": "quartet", "app.kubernetes.io/managed-by": "Helm" }),
      }),
    ).toEqual([]);
  });
});
