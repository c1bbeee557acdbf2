import type { ReconcileContext } from "@quartet/core";
import { expect, it } from "vitest";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import { createDeployReconcile } from "./deploy.ts";

const KEY = { namespace: "ns1", name: "other" };

/** An approved request for the echo server; `refuse` sees each write and may throw. */
function scene({ isThere = false, refuse = (_write: string): void => {} } = {}) {
  const writes: string[] = [];
  const told: string[] = [];
  const write = (what: string) => {
    writes.push(what);
    refuse(what);
  };
  const { apiVersion, metadata, spec } = echoServer();
  const deploy = {
    ...{ apiVersion, kind: "TDeploy", metadata: { ...metadata, ...KEY }, apply: spec },
    approve: { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" },
  };
  const ctx = {
    signal: new AbortController().signal,
    cache: { get: async () => deploy },
    events: { record: (_: object, { reason }: { reason: string }) => told.push(reason) },
    client: {
      create: async () => write("create TServer"),
      patch: async () => write("patch TDeploy"),
    },
  } as unknown as ReconcileContext;
  const lookups = { server: () => (isThere ? echoServer() : undefined) };
  const reconcile = createDeployReconcile(async () => lookups as never);
  return { writes, told, pass: async () => void (await reconcile(KEY, ctx)) };
}

it("TARS-R-060 TARS-R-012 a request that cannot be closed is not deployed again in each try", async () => {
  const { writes, told, pass } = scene({
    refuse(what) {
      if (what === "patch TDeploy") throw apiRefusal(403, "Forbidden", "no right");
    },
  });
  await expect(pass()).rejects.toThrow("no right");
  await expect(pass()).rejects.toThrow("no right");
  expect(writes).toEqual(["create TServer", "patch TDeploy", "patch TDeploy"]);
  expect(told).toEqual(["Deployed"]);
});

it("TARS-R-062 a server that is known to be there is not asked for, and is told of", async () => {
  const { writes, told, pass } = scene({ isThere: true });
  await pass();
  expect(writes).toEqual(["patch TDeploy"]);
  expect(told).toEqual(["AlreadyExists"]);
});

it("TARS-R-062 a server that is there without being known is left as it is", async () => {
  const { writes, told, pass } = scene({
    refuse(what) {
      if (what === "create TServer") throw apiRefusal(409, "AlreadyExists", "it exists");
    },
  });
  await pass();
  expect(writes).toEqual(["create TServer", "patch TDeploy"]);
  expect(told).toEqual(["AlreadyExists"]);
});

it("TARS-R-066 a refused server is told of and asked for again, and the request stays open", async () => {
  const { writes, told, pass } = scene({
    refuse(what) {
      if (what === "create TServer") throw apiRefusal(403, "Forbidden", "no right");
    },
  });
  await expect(pass()).rejects.toThrow("no right");
  await expect(pass()).rejects.toThrow("no right");
  expect(writes).toEqual(["create TServer", "create TServer"]);
  expect(told).toEqual(["DeployFailed", "DeployFailed"]);
});
