import { describe, expect, it } from "vitest";
import type { DaemonSetV1Alpha1 } from "./api.gen.ts";
import { fromV1Alpha1, toV1Alpha1 } from "./conversion.ts";
import type { DaemonSet } from "./kinds.ts";

const PATCHES = "daemonset.kruise.io/patches";
const PROGRESSIVE = "daemonset.kruise.io/progressive-create-pod";
const old = (spec: object, annotations?: Record<string, string>, status?: object) =>
  ({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "DaemonSet",
    metadata: { name: "agent", ...(annotations && { annotations }) },
    spec: { selector: {}, template: {}, ...spec },
    ...(status && { status }),
  }) as unknown as DaemonSetV1Alpha1;
const current = (spec: object, annotations?: Record<string, string>, status?: object) =>
  old(spec, annotations, status) as unknown as DaemonSet;
const surging = (more: object = {}) => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { rollingUpdateType: "Surging", ...more } },
});

describe("conversion of v1alpha1", () => {
  it("DSP-213 Surging is Standard with one pod more and none less, unless it says otherwise", () => {
    expect(fromV1Alpha1(old(surging())).spec.updateStrategy?.rollingUpdate).toEqual({
      rollingUpdateType: "Standard",
      maxSurge: 1,
      maxUnavailable: 0,
    });
    expect(fromV1Alpha1(old(surging({ maxSurge: "20%" }))).spec.updateStrategy?.rollingUpdate).toEqual({
      rollingUpdateType: "Standard",
      maxSurge: "20%",
      maxUnavailable: 0,
    });
  });

  it("DSP-213 annotations become fields and stay, the hash of the status gets its name", () => {
    const patches = '[{"selector":{},"patch":{"metadata":{"labels":{"a":null}}}}]';
    const { spec, metadata, status } = fromV1Alpha1(
      old({}, { [PATCHES]: patches, [PROGRESSIVE]: "true" }, { daemonSetHash: "x", numberReady: 1 }),
    );
    expect(spec.scaleStrategy).toEqual({ partitionedScaling: true });
    expect(spec.patches).toEqual(JSON.parse(patches));
    expect(metadata.annotations).toEqual({ [PATCHES]: patches, [PROGRESSIVE]: "true" });
    expect(status).toEqual({ updateRevision: "x", numberReady: 1 });
    expect(fromV1Alpha1(old({})).spec).toEqual({ selector: {}, template: {} });
  });

  it("DSP-214 there and back leaves patches, scaling and unknown fields as they were", () => {
    const spec = {
      future: { a: 1 },
      scaleStrategy: { partitionedScaling: true },
      patches: [{ selector: {}, patch: { spec: { hostNetwork: null } }, priority: -1 }],
    };
    const status = { updateRevision: "x", patchRevision: "patches-y" };
    const there = toV1Alpha1(current(spec, { keep: "1" }, status));
    expect(there.spec).toEqual({ selector: {}, template: {}, future: { a: 1 } });
    expect(there.status).toEqual({ daemonSetHash: "x", patchRevision: "patches-y" });
    const back = fromV1Alpha1(there);
    expect(back.spec).toEqual({ selector: {}, template: {}, ...spec });
    expect(JSON.stringify(back.spec.patches)).toBe(
      JSON.stringify(fromV1Alpha1(toV1Alpha1(back)).spec.patches),
    );
    expect(back.status).toEqual(status);
  });

  it("DSP-215 without its annotation there are no patches, and none that cannot be read", () => {
    const there = toV1Alpha1(current({ patches: [{ selector: {}, patch: {} }] }));
    delete there.metadata.annotations;
    expect(fromV1Alpha1(there).spec.patches).toBeUndefined();
    const broken = fromV1Alpha1(old({}, { [PATCHES]: "{" }));
    expect(broken.spec.patches).toBeUndefined();
    expect(broken.metadata.annotations).toEqual({ [PATCHES]: "{" });
  });

  it("DSP-214 the annotation of scaling follows the field that counts", () => {
    expect(toV1Alpha1(current({}, { [PROGRESSIVE]: "true" })).metadata.annotations).toBeUndefined();
  });
});
