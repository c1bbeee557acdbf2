/** A15 and A16: CRDs that come and go, and a manager that is at home in one namespace only. */
import { installCrds, testNamespace } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { createEchoModule, FINALIZER } from "../echo/echo.ts";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { echoCrd, openStage, type Stage, type StageManager } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

const crdPath = (group: string): string =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/echoes.${group}`;

/** Whether the version v1 of an Echo's CRD is served. */
const serve = (group: string, served: boolean): Promise<unknown> =>
  stage.client.ok(
    "PATCH",
    crdPath(group),
    [{ op: "replace", path: "/spec/versions/0/served", value: served }],
    {
      contentType: "application/json-patch+json",
    },
  );

const stateOf = (manager: StageManager, name: string): string | undefined =>
  manager.manager.controllers().find((controller) => controller.name === name)?.state;

it("core A15 CORE-236 CORE-173 a controller waits for its CRD, runs when it comes, and cleans nothing up when it goes", async () => {
  const group = `${stage.namespace}.example.com`;
  const late = createEchoModule({ group, name: "late", cleanupUrl: stage.endpoint.url });
  const manager = await stage.start({ modules: [createEchoModule(), late], args: ["--controllers=*"] });
  await manager.ready;
  await eventually(() => expect(stateOf(manager, "late")).toBe("WaitingForCRD"));
  expect((await fetch(`${manager.urls.health}/readyz`)).status).toBe(200);
  await echoes.create("a", { text: "the others work" });
  await echoes.ready("a");

  const lateEchoes = echoesOf(stage, group);
  try {
    await installCrds(stage.client, [echoCrd(group)]);
    await lateEchoes.create("b", { text: "late", finalize: true });
    await eventually(() => expect(stateOf(manager, "late")).toBe("Running"), 15_000);
    await lateEchoes.ready("b");
    // Out of sight is not deleted: the object with its finalizer outlives a version that is not served for a while.
    await serve(group, false);
    await eventually(() => expect(stateOf(manager, "late")).toBe("WaitingForCRD"), 30_000);
    expect((await fetch(`${manager.urls.health}/readyz`)).status).toBe(200);
    await serve(group, true);
    await eventually(() => expect(stateOf(manager, "late")).toBe("Running"), 30_000);
    await eventually(async () =>
      expect(await lateEchoes.get("b")).toMatchObject({ metadata: { finalizers: [FINALIZER] } }),
    );
    await lateEchoes.merge("b", { spec: { text: "seen again" } });
    await lateEchoes.ready("b");
    expect(stage.endpoint.calls).toEqual([]);
    // The server deletes the objects of a CRD before it, one by one: a finalizer would ask for its cleanup rightly.
    await lateEchoes.merge("b", { spec: { finalize: false }, metadata: { finalizers: null } });
  } finally {
    await stage.client.ok("DELETE", crdPath(group));
  }
  await eventually(() => expect(stateOf(manager, "late")).toBe("WaitingForCRD"), 30_000);
  expect(stage.endpoint.calls).toEqual([]);
  await echoes.create("c", { text: "still at work" });
  await echoes.ready("c");
}, 120_000);

it("core A16 CORE-395 a manager of one namespace leaves others alone and asks for nothing cluster-wide", async () => {
  const other = await testNamespace(stage.client);
  const elsewhere = echoesOf({ client: stage.client, namespace: other.name });
  await elsewhere.create("a", { text: "not mine" });
  await stage.start();
  await echoes.create("a", { text: "mine" });
  await echoes.ready("a");
  await elsewhere.merge("a", { spec: { text: "still not mine" } });
  await echoes.merge("a", { spec: { text: "mine again" } });
  await echoes.ready("a");
  expect((await elsewhere.get("a"))?.status).toBeUndefined();
  expect(await elsewhere.out("a")).toBeUndefined();
  const reads = (await stage.requests()).filter(({ verb }) => verb === "list" || verb === "watch");
  expect(reads.length).toBeGreaterThanOrEqual(2);
  expect(new Set(reads.map(({ namespace }) => namespace))).toEqual(new Set([stage.namespace]));
  await other.empty();
});

it("core A16 CORE-397 CORE-398 a missing right ends the start with code 3 and is named as a rule", async () => {
  const module = createEchoModule();
  await stage.grant([module]);
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${stage.namespace}/roles/${stage.namespace}-manager`;
  interface Role {
    rules: { resources: string[]; verbs: string[] }[];
  }
  const role = await stage.client.ok<Role>("GET", path);
  const rules = role.rules.map((rule) =>
    rule.resources.includes("configmaps")
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== "list") }
      : rule,
  );
  await stage.client.ok("PUT", path, { ...role, rules });
  // The server learns of the smaller role by a watch of its own.
  await eventually(async () => expect(await stage.run([module], "--check")).toMatchObject({ code: 3 }));
  const { code, stderr } = await stage.run([module], "run");
  expect(code).toBe(3);
  const missing = parse(stderr.slice(stderr.indexOf("\n- apiGroups") + 1)) as object;
  expect(missing).toEqual([{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
});
