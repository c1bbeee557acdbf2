import { type KubeObject, type Manager, mergeDiff } from "@quartet/core";
import { expect, it } from "vitest";
import { webhooks } from "./webhooks.ts";

const hooks = webhooks(() => undefined);
/** `type path: failure policy`, of those that are registered with a value of the flag. */
const registered = (mode: string): string[] =>
  hooks
    .filter(({ when }) => ((when?.is ?? []) as readonly unknown[]).includes(mode))
    .map(({ type, path, failurePolicy }) => `${type} ${path}: ${failurePolicy}`);
const validator = hooks.find(({ path }) => path === "/validate-daemonset-patches")!;

it("DSP-1021 DSP-1022 an owner completes and judges DaemonSets, and none passes unseen", () => {
  expect(registered("owner")).toEqual([
    "mutating /mutate-apps-kruise-io-daemonset: Fail",
    "validating /validate-daemonset-patches: Fail",
  ]);
});

it("DSP-1021 DSP-1023 a companion judges patches and changes pods, and stands in nobody's way", () => {
  expect(registered("companion")).toEqual([
    "validating /validate-daemonset-patches: Ignore",
    "mutating /mutate-daemonset-pod-patches: Ignore",
  ]);
});

it("DSP-1024 auto has those of both, and off has none", () => {
  expect(registered("auto")).toEqual([
    "mutating /mutate-apps-kruise-io-daemonset: Ignore",
    "validating /validate-daemonset-patches: Ignore",
    "mutating /mutate-daemonset-pod-patches: Ignore",
  ]);
  expect(registered("off")).toEqual([]);
});

it("DSP-1021 DSP-333 has the name of the KEP, and no side effects", () => {
  expect(validator).toMatchObject({
    name: "daemonset-patches.kruise.io",
    operations: ["CREATE", "UPDATE"],
    kind: { group: "apps.kruise.io", plural: "daemonsets" },
  });
  for (const { sideEffects = "None" } of hooks) expect(sideEffects).toBe("None");
});

it("DSP-901 DSP-1026 pods of the manager itself, or of a plain Deployment, are asked about by no hook", () => {
  const onPods = hooks.filter(({ kind }) => kind?.plural === "pods");
  expect(onPods).toHaveLength(1);
  const selector = { matchExpressions: [{ key: "controller-revision-hash", operator: "Exists" }] };
  expect(onPods[0]).toMatchObject({
    objectSelector: selector,
    failurePolicy: "Ignore",
    operations: ["CREATE"],
  });
});

it("DSP-322 of one that is being deleted nothing is refused: finalizers can be taken off", async () => {
  const judge = validator.handler({} as Manager, undefined as never) as (
    object: object,
    ctx: object,
  ) => Promise<unknown>;
  const broken = {
    metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" },
    spec: { selector: {} },
  };
  expect(await judge(broken, {})).toEqual([]);
});

it.each(["create", "update"])(
  "DSP-205 a %s: what is missing is added, what stands there stays, known or not",
  async (verb) => {
    const registered = webhooks(() => ({ mode: { current: () => "owner" } }) as never);
    const { handler } = registered.find(({ path }) => path === "/mutate-apps-kruise-io-daemonset")!;
    const complete = handler({} as Manager, undefined as never) as (
      object: KubeObject,
      ctx: object,
    ) => Promise<KubeObject>;
    const patches = [{ futureItem: [{}], patch: { spec: { futurePodField: null } }, selector: {} }];
    const object = {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "DaemonSet",
      metadata: { name: "a", namespace: "n", futureMeta: 1 },
      spec: {
        futureField: { a: null },
        patches,
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: { futurePodField: [], containers: [{ name: "main", image: "i", futureField: 7 }] },
        },
      },
    };
    const old = verb === "update" ? structuredClone(object) : undefined;
    const next = await complete(structuredClone(object), { old, request: {} });
    expect(mergeDiff(object, next)).toEqual({
      metadata: { annotations: { "daemonset.kruise.io/patches": JSON.stringify(patches) } },
      spec: {
        burstReplicas: 250,
        revisionHistoryLimit: 10,
        updateStrategy: {
          rollingUpdate: { maxSurge: 0, maxUnavailable: 1, rollingUpdateType: "Standard" },
          type: "RollingUpdate",
        },
      },
    });
  },
);
