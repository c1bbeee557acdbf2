import type { Manager } from "@quartet/core";
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
