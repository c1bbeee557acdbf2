import { type AdmissionContext, webhookConfigurations } from "@quartet/core/webhook";
import { describe, expect, it } from "vitest";
import type { HookContext } from "./context.ts";
import { mutating } from "./mutating.ts";
import { validating } from "./validating.ts";
import { tarsWebhooks } from "./webhooks.ts";

interface Entry {
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly matchPolicy: string;
  readonly sideEffects: string;
  readonly rules: readonly { operations: string[]; apiVersions: string[]; resources: string[] }[];
}

const configurations = webhookConfigurations(
  tarsWebhooks(() => ({}) as HookContext),
  {
    ...{ name: "quartet", target: { url: "https://127.0.0.1:1" }, caBundle: "-" },
    ...{ ownGroups: ["k8s.tars.io"], flags: {}, namespaces: [] },
  },
) as unknown as { kind: string; webhooks: Entry[] }[];
const entriesOf = (type: string) =>
  configurations.filter(({ kind }) => kind.startsWith(type)).flatMap(({ webhooks }) => webhooks);
const rulesOf = (type: string) =>
  entriesOf(type)
    .flatMap(({ rules }) => rules)
    .flatMap(({ resources, operations }) =>
      resources.map((resource) => `${resource} ${[...operations].sort().join(" ")}`),
    )
    .sort();

describe("the registration", () => {
  it("TARS-API-002 names the kinds and operations that are defaulted", () => {
    const kinds = ["taccounts", "tconfigs", "tdeploys", "timages", "tservers", "ttemplates", "ttrees"];
    expect(rulesOf("Mutating")).toEqual(
      [...kinds.map((kind) => `${kind} CREATE UPDATE`), "tservers/scale UPDATE"].sort(),
    );
  });

  it("TARS-API-002 names the kinds and operations that are judged", () => {
    const kept = ["tconfigs", "ttemplates", "ttrees"].map((kind) => `${kind} CREATE DELETE UPDATE`);
    const others = ["taccounts", "tdeploys", "timages", "tservers"].map((kind) => `${kind} CREATE UPDATE`);
    expect(rulesOf("Validating")).toEqual(
      [...kept, ...others, "tframeworkconfigs CREATE", "tservers/scale UPDATE"].sort(),
    );
  });

  it("TARS-API-002 TARS-API-009 refuses what cannot be judged, in both versions", () => {
    const entries = [...entriesOf("Mutating"), ...entriesOf("Validating")];
    for (const { failurePolicy, timeoutSeconds, matchPolicy, rules } of entries) {
      expect([failurePolicy, timeoutSeconds, matchPolicy]).toEqual(["Fail", 10, "Equivalent"]);
      for (const { apiVersions } of rules) expect(apiVersions).toEqual(["v1beta2", "v1beta3"]);
    }
  });

  it("TARS-API-006 says that a request which only tries marks nothing", () => {
    expect(new Set(entriesOf("Validating").map(({ sideEffects }) => sideEffects))).toContain("NoneOnDryRun");
    expect(new Set(entriesOf("Mutating").map(({ sideEffects }) => sideEffects))).toEqual(new Set(["None"]));
  });
});

const object = { apiVersion: "k8s.tars.io/v1beta2", kind: "TPlugin", metadata: { name: "a" } };
function ask(kind: string, operation: string) {
  const warnings: string[] = [];
  const request = { operation, kind: { kind }, namespace: "ns1" };
  const ctx = { request, warn: (text: string) => warnings.push(text) } as unknown as AdmissionContext;
  return { ctx, warnings };
}

it("TARS-API-003 what there are no rules for passes with a warning", async () => {
  const { ctx, warnings } = ask("TPlugin", "CREATE");
  expect(await mutating({} as HookContext)(object, ctx)).toBe(object);
  expect(await validating({} as HookContext)(object, ctx)).toEqual([]);
  expect(warnings).toEqual([
    "quartet has no defaults for TPlugin",
    "quartet has no rules for CREATE of TPlugin",
  ]);
});

it.each(["CREATE", "UPDATE"])("TARS-V-080 a TImage is judged by the schema alone: %s", async (operation) => {
  const { ctx, warnings } = ask("TImage", operation);
  expect(await validating({} as HookContext)(object, ctx)).toEqual([]);
  expect(warnings).toEqual([]);
});
