import { describe, expect, it } from "vitest";
import type { ControllerState } from "../controller/types.ts";
import { LEASE } from "../kinds/index.ts";
import { cacheCheck, controllerCheck, leaderCheck } from "./checks.ts";
import { joinHooks, overlayHooks } from "./client-hooks.ts";

describe("leader check", () => {
  it("CORE-281 fails for a leader that has not renewed for its Lease's duration and 20 s", () => {
    let age: number | undefined;
    const check = leaderCheck(() => age, 15_000);
    expect(check()).toBeUndefined();
    age = 35_000;
    expect(check()).toBeUndefined();
    age = 35_001;
    expect(check()).toMatch(/has not renewed its lease for 35001 ms/);
  });
});

describe("checks of controllers", () => {
  const controller = {
    name: "echo",
    state: "Starting" as ControllerState,
    problem: undefined as string | undefined,
  };

  it("CORE-282 caches are not ready while a controller fills them for the first time", () => {
    const check = cacheCheck(() => [controller]);
    const ready = (["Starting", "Syncing", "WaitingForCRD", "Running", "Paused", "Failed"] as const).map(
      (state) => {
        controller.state = state;
        return check() === undefined;
      },
    );
    expect(ready).toEqual([false, false, true, true, true, true]);
  });

  it("CORE-238 CORE-282 a controller that cannot work is told at its own path, and takes nothing out of its Service", () => {
    const check = controllerCheck(controller);
    controller.state = "Running";
    controller.problem = "a list fails for the moment";
    expect(check()).toBeUndefined();
    controller.state = "Failed";
    expect(check()).toBe("a list fails for the moment");
    expect(check.advisory).toBe(true);
  });
});

describe("hooks of the client", () => {
  const info = { kind: LEASE, key: { namespace: "n", name: "x" }, dryRun: false };
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "x" } };

  it("CORE-185 lays written objects and deletions over the cache, but no dry run", () => {
    const seen: unknown[] = [];
    const hooks = overlayHooks({ overlay: (_kind, _key, written) => void seen.push(written) });
    const ending = { ...object, metadata: { name: "x", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    hooks.afterWrite!({ ...info, verb: "update" }, object);
    hooks.afterWrite!({ ...info, verb: "delete" }, ending);
    hooks.afterWrite!({ ...info, verb: "delete" }, undefined);
    hooks.afterWrite!({ ...info, verb: "update", dryRun: true }, object);
    hooks.afterWrite!({ ...info, verb: "deletecollection" }, undefined);
    hooks.afterWrite!({ ...info, verb: "create", subresource: "eviction" }, undefined);
    expect(seen).toEqual([object, ending, "deleted"]);
  });

  it("CORE-185 hides an object whose delete is answered with it as it was, and tells its UID", () => {
    const seen: unknown[] = [];
    const hooks = overlayHooks({ overlay: (_kind, _key, written, uid) => void seen.push([written, uid]) });
    hooks.afterWrite!({ ...info, verb: "delete" }, object, "u1");
    hooks.afterWrite!({ ...info, verb: "delete" }, undefined, "u2");
    expect(seen).toEqual([
      ["deleted", "u1"],
      ["deleted", "u2"],
    ]);
  });

  it("CORE-185 lays a created object over the cache under the name that the server made up", () => {
    const seen: unknown[] = [];
    const hooks = overlayHooks({ overlay: (_kind, key) => void seen.push(key) });
    const made = { ...object, metadata: { name: "x-7f9", namespace: "n" } };
    hooks.afterWrite!({ ...info, key: { namespace: "n", name: "" }, verb: "create" }, made);
    expect(seen).toEqual([{ namespace: "n", name: "x-7f9" }]);
  });

  it("run in order; the first that throws keeps the write back", () => {
    const seen: string[] = [];
    const hooks = joinHooks(
      { beforeWrite: () => void seen.push("a"), afterWrite: () => void seen.push("after") },
      {
        beforeWrite: () => {
          throw new Error("no");
        },
      },
    );
    expect(() => hooks.beforeWrite!({ ...info, verb: "update" })).toThrow("no");
    hooks.afterWrite!({ ...info, verb: "update" }, object);
    expect(seen).toEqual(["a", "after"]);
  });
});
