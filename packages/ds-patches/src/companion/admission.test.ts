import { ApiError } from "@quartet/core";
import type { Pod } from "@quartet/core/kinds";
import { expect, it } from "vitest";
import { type PodAdmission, podWebhook } from "./admission.ts";
import { createPatchesOf } from "./patches.ts";

const daemonSet = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: {
    name: "agent",
    namespace: "t",
    uid: "u",
    annotations: {
      "daemonset.kruise.io/patches": JSON.stringify([
        { selector: { matchLabels: { size: "large" } }, patch: { spec: { hostNetwork: true } } },
      ]),
    },
  },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: { metadata: { labels: { app: "agent" } }, spec: { containers: [{ name: "m", image: "i" }] } },
  },
};
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { size: "large" } } };
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "agent-x",
    ownerReferences: [
      { apiVersion: "apps.kruise.io/v1beta1", kind: "DaemonSet", name: "agent", uid: "u", controller: true },
    ],
  },
  spec: { nodeName: "n1", containers: [{ name: "m", image: "i" }] },
} as unknown as Pod;

const NOT_FOUND = new ApiError({
  ...{ code: 404, reason: "NotFound", message: "not found", details: { causes: [] } },
  ...{ retryAfterSeconds: undefined, continueToken: undefined, method: "GET", path: "/" },
});

/** Has the pod admitted where cache and server hold these objects. */
async function admit(cached: readonly object[], live: readonly object[]) {
  const failures: string[] = [];
  const reads: string[] = [];
  const admission: PodAdmission = {
    isCompanion: () => true,
    patchesOf: createPatchesOf(true),
    applied: () => {},
    duration: () => {},
    monotonic: () => 0,
    failed: (_daemonSet, reason) => void failures.push(reason),
  };
  const from = (objects: readonly object[], kind: { kind: string }) =>
    objects.find((object) => (object as { kind: string }).kind === kind.kind);
  const ctx = {
    request: { namespace: "t" },
    cache: { get: async (kind: { kind: string }) => from(cached, kind) },
    client: {
      async get(kind: { kind: string }) {
        reads.push(kind.kind);
        const found = from(live, kind);
        if (found === undefined) throw NOT_FOUND;
        return found;
      },
    },
    warn: () => {},
  };
  const hook = podWebhook({ flag: "daemonset-mode", is: ["companion"] }, () => admission);
  const mutate = hook.handler(undefined as never, undefined as never) as unknown as (
    object: Pod,
    context: typeof ctx,
  ) => Promise<Pod>;
  return { result: await mutate(pod, ctx), failures, reads };
}

it("DSP-904 DSP-1048 admission asks the server for nothing; what the cache does not have yet is read from the server, once", async () => {
  const known = await admit([daemonSet, node], []);
  expect(known.reads).toEqual([]);
  const { result, failures, reads } = await admit([], [daemonSet, node]);
  expect(reads).toEqual(["DaemonSet", "Node"]);
  expect(failures).toEqual([]);
  expect(result).toEqual(known.result);
  expect(result.spec).toMatchObject({ hostNetwork: true });
});

it("DSP-902 a DaemonSet that was made anew under its name is read from the server while the cache has the old one", async () => {
  const old = { ...daemonSet, metadata: { ...daemonSet.metadata, uid: "before" } };
  const { result, reads } = await admit([old, node], [daemonSet]);
  expect(reads).toEqual(["DaemonSet"]);
  expect(result.spec).toMatchObject({ hostNetwork: true });
  expect(await admit([old, node], [old])).toMatchObject({ result: pod, reads: ["DaemonSet"] });
});

it("DSP-904 DSP-902 a pod whose node or DaemonSet is nowhere stays as it is, and the node is counted", async () => {
  expect(await admit([daemonSet], [])).toEqual({
    result: pod,
    failures: ["node_not_found"],
    reads: ["Node"],
  });
  expect(await admit([], [])).toEqual({ result: pod, failures: [], reads: ["DaemonSet"] });
});
