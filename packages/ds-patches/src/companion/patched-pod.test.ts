import type { Pod } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import type { NodePatch } from "../api.ts";
import { compilePatches } from "../desired/patch-set.ts";
import { hasOtherImages, patchedPod } from "./patched-pod.ts";

const TOKEN = "kube-api-access-x1";
const pod = (): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "agent-a", labels: { app: "agent" } },
    spec: {
      priorityClassName: "low",
      priority: 1,
      preemptionPolicy: "Never",
      affinity: { nodeAffinity: { pinned: true } },
      volumes: [{ name: TOKEN }],
      containers: [
        { name: "main", image: "agent:1", volumeMounts: [{ name: TOKEN, mountPath: "/var/run/secrets" }] },
      ],
    },
  }) as unknown as Pod;
const patched = (patch: object, object = pod()): Pod => {
  const patches = [{ selector: {}, patch }] as unknown as NodePatch[];
  const patchSet = compilePatches(patches);
  return patchedPod(object, patchSet.match(1), patchSet.listHash);
};

describe("patches of a pod of OpenKruise", () => {
  it("DSP-906 changes what the patch names, and nothing of the pod's identity and place", () => {
    const result = patched({ metadata: { labels: { tier: "x" } }, spec: { hostNetwork: true } });
    expect(result.metadata).toMatchObject({ name: "agent-a", labels: { app: "agent", tier: "x" } });
    expect(result.spec?.affinity).toEqual({ nodeAffinity: { pinned: true } });
    const tolerations = (result.spec as { tolerations?: { key: string }[] }).tolerations ?? [];
    expect(tolerations.map(({ key }) => key)).toContain("node.kubernetes.io/network-unavailable");
    expect(result.metadata.annotations).toEqual({
      "daemonset.kruise.io/patch-combined-hash": expect.stringMatching(/^[0-9a-f]{16}$/),
      "daemonset.kruise.io/patches-applied": expect.stringMatching(/^[0-9a-f]{16}\/0$/),
    });
  });

  it("DSP-906 DSP-908 without a match, and the second time, it is the same object", () => {
    const none = compilePatches([]);
    const object = pod();
    expect(patchedPod(object, none.match(0), none.listHash)).toBe(object);
    const once = patched({ spec: { hostNetwork: true } });
    expect(patched({ spec: { hostNetwork: true } }, once)).toBe(once);
  });

  it("DSP-909 brings back the token that a patch took away", () => {
    const volumeMounts = [{ $patch: "replace" }, { name: "w", mountPath: "/w" }];
    const result = patched({
      spec: {
        volumes: [{ $patch: "replace" }, { name: "w", emptyDir: {} }],
        containers: [{ name: "main", volumeMounts }],
      },
    });
    const spec = result.spec as { volumes: { name: string }[]; containers: { volumeMounts: object[] }[] };
    expect(spec.volumes.map(({ name }) => name)).toEqual(["w", TOKEN]);
    expect(spec.containers[0]?.volumeMounts).toEqual([
      { name: "w", mountPath: "/w" },
      { name: TOKEN, mountPath: "/var/run/secrets" },
    ]);
  });

  it("DSP-910 another class has its numbers computed anew, the same class keeps them", () => {
    expect(patched({ spec: { priorityClassName: "high" } }).spec).not.toHaveProperty("priority");
    expect(patched({ spec: { priorityClassName: "high" } }).spec).not.toHaveProperty("preemptionPolicy");
    expect(patched({ spec: { hostNetwork: true } }).spec).toMatchObject({ priority: 1 });
  });

  it("DSP-907 a patch that would move the pod cannot be applied", () => {
    expect(() => patched({ spec: { nodeName: "n2" } })).toThrow("nodeName");
  });

  it("DSP-922 only images that a patch gives count", () => {
    const patches = [
      { selector: {}, patch: { spec: { containers: [{ name: "main", image: "agent:gpu" }] } } },
    ] as unknown as NodePatch[];
    const template = { containers: [{ name: "main", image: "agent:gpu" }] };
    expect(hasOtherImages(pod(), template, patches)).toBe(true);
    expect(hasOtherImages(pod(), template, [])).toBe(false);
    expect(hasOtherImages(pod(), { containers: [{ name: "main", image: "agent:1" }] }, patches)).toBe(false);
  });
});
