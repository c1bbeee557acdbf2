import { describe, expect, it } from "vitest";
import type { AdmissionCall } from "../admission-context.ts";
import type { WriteInfo } from "../client/types.ts";
import type { RunContext } from "../controller/rejections.ts";
import { allow, type Right } from "../module/rights.ts";
import { defineKind, type Kind } from "../object.ts";
import { writeBounds } from "./write-bounds.ts";

const kindOf = (group: string, plural: string, namespaced = true): Kind =>
  defineKind({ group, version: "v1", kind: plural, plural, namespaced });
const echoes = kindOf("test.quartet.io", "echoes");
const worlds = kindOf("test.quartet.io", "worlds", false);
const secrets = kindOf("", "secrets");
const roles = kindOf("rbac.authorization.k8s.io", "clusterroles", false);

const runOf = (key: string, kind: Kind | undefined = echoes): RunContext =>
  ({ controller: "echo", key, kind }) as RunContext;
/** Whether a write is sent; `where` is `namespace/name`. */
function sends(
  run: RunContext | undefined,
  [verb, kind, where]: [WriteInfo["verb"], Kind, string],
  rights: Right[] = [],
  subresource?: string,
  call?: AdmissionCall,
): boolean {
  const [namespace = "", name = ""] = where.split("/");
  const info = { verb, kind, key: { namespace, name }, dryRun: false, ...(subresource && { subresource }) };
  try {
    writeBounds(rights, { home: "ops" }, { run: () => run, admission: () => call }).beforeWrite?.(info);
    return true;
  } catch (error) {
    expect(String(error)).toContain("WriteOutOfBoundsError");
    return false;
  }
}

describe("writes of a reconcile", () => {
  it("CORE-244 go to the namespace of the reconciled object, and to no other", () => {
    expect(sends(runOf("a/x"), ["create", secrets, "a/any"])).toBe(true);
    expect(sends(runOf("a/x"), ["apply", secrets, "kube-system/any"])).toBe(false);
    expect(sends(runOf("a/x"), ["deletecollection", secrets, "b/"])).toBe(false);
    expect(sends(runOf("a/x"), ["create", roles, "/admin"])).toBe(false);
  });

  it("CORE-244 of a cluster-scoped object go to that object, and without a declared right into no namespace", () => {
    const run = runOf("w", worlds);
    expect(sends(run, ["patch", worlds, "/w"])).toBe(true);
    expect(sends(run, ["patch", worlds, "/other"])).toBe(false);
    expect(sends(run, ["create", secrets, "a/any"])).toBe(false);
    expect(sends(runOf("w", echoes), ["patch", worlds, "/w"])).toBe(false);
  });

  it("CORE-244 go elsewhere by a right that says so: its verbs, resources, names and namespaces, and no others", () => {
    const right = allow(secrets, ["patch", "delete"], { names: ["shared"] });
    const rights = [{ ...right, elsewhere: ["ops"] }];
    const run = runOf("a/x");
    expect(sends(run, ["apply", secrets, "ops/shared"], rights)).toBe(true);
    expect(sends(run, ["delete", secrets, "ops/shared"], rights)).toBe(true);
    expect(sends(run, ["create", secrets, "ops/shared"], rights)).toBe(false);
    expect(sends(run, ["patch", secrets, "ops/other"], rights)).toBe(false);
    expect(sends(run, ["patch", secrets, "b/shared"], rights)).toBe(false);
    expect(sends(run, ["patch", secrets, "ops/shared"], rights, "status")).toBe(false);
    expect(sends(run, ["patch", secrets, "b/shared"], [{ ...right, elsewhere: "any" }])).toBe(true);
    expect(sends(run, ["patch", secrets, "ops/shared"], [right])).toBe(false);
  });

  it("CORE-244 a right may take the namespaces from the module's flags", () => {
    const rights = [allow(secrets, ["create"], { elsewhere: ({ home }) => [String(home)] })];
    expect(sends(runOf("w", worlds), ["create", secrets, "ops/x"], rights)).toBe(true);
    expect(sends(runOf("w", worlds), ["create", secrets, "a/x"], rights)).toBe(false);
  });

  it("CORE-244 a right with names lets no object of another name be made, nor one whose name the server makes up", () => {
    const rights = [{ ...allow(secrets, ["create"], { names: ["shared"] }), elsewhere: "any" as const }];
    expect(sends(runOf("a/x"), ["create", secrets, "b/shared"], rights)).toBe(true);
    expect(sends(runOf("a/x"), ["create", secrets, "b/other"], rights)).toBe(false);
    expect(sends(runOf("a/x"), ["create", secrets, "b/"], rights)).toBe(false);
  });
});

describe("writes outside of reconciles", () => {
  const call: AdmissionCall = { mayWrite: true, namespace: "a" };

  it("CORE-244 of a webhook's handler go to the namespace of its request", () => {
    expect(sends(undefined, ["patch", secrets, "a/x"], [], undefined, call)).toBe(true);
    expect(sends(undefined, ["patch", secrets, "b/x"], [], undefined, call)).toBe(false);
    expect(sends(undefined, ["patch", worlds, "/w"], [], undefined, { ...call, namespace: "" })).toBe(false);
  });

  it("CORE-244 of event handlers, sources and runnables go where a right says so, and nowhere else", () => {
    const rights = [allow(secrets, ["create"], { elsewhere: ["ops"] })];
    expect(sends(undefined, ["create", secrets, "ops/x"], rights)).toBe(true);
    expect(sends(undefined, ["create", secrets, "kube-system/x"], rights)).toBe(false);
    expect(sends(undefined, ["create", secrets, "a/x"])).toBe(false);
  });
});
