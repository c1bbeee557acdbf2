import { expect, it, vi } from "vitest";
import type { Cache } from "../cache/types.ts";
import { overlayHooks } from "../manager/client-hooks.ts";
import { createFence } from "../manager/fence.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { rawWrite } from "./raw.ts";
import { answer, CONFIG_MAP, object, serve } from "./testkit.testkit.ts";
import type { WriteInfo } from "./types.ts";

const MAPS = "/api/v1/namespaces/ns/configmaps";

it.each([
  ["POST", MAPS, "create configmaps ns/"],
  ["PUT", `${MAPS}/a`, "update configmaps ns/a"],
  ["PUT", `${MAPS}/a%2Fb?dryRun=All`, "update configmaps ns/a/b (dry run)"],
  ["DELETE", `${MAPS}/a`, "delete configmaps ns/a"],
  ["DELETE", MAPS, "deletecollection configmaps ns/"],
  ["PATCH", "/apis/apps/v1/namespaces/ns/deployments/a/scale", "patch deployments.apps/scale ns/a"],
  ["POST", "/api/v1/namespaces/ns/pods/a/proxy/x", "create pods/proxy/x ns/a"],
  ["PUT", "/api/v1/nodes/n1/status", "update nodes/status /n1"],
  ["DELETE", "/api/v1/namespaces/ns", "delete namespaces /ns"],
  ["PUT", "/api/v1/namespaces/ns/finalize", "update namespaces/finalize /ns"],
  ["POST", "/logs", "create /logs /"],
])("%s %s is the write: %s", (method, path, expected) => {
  const { verb, kind, key, subresource, dryRun } = rawWrite(method, path);
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  expect(`${verb} ${what} ${key.namespace}/${key.name}${dryRun ? " (dry run)" : ""}`).toBe(expected);
});

it("CORE-257 a raw write is not sent by a manager that no longer leads; reads and reviews are", async () => {
  const fence = createFence({ clock: fakeClock(), renewDeadlineMs: 10_000 });
  const { server, client } = await serve((_request, response) => answer(response, 200, {}), {
    hooks: fence.hooks,
  });
  await expect(client.raw("POST", MAPS, {})).rejects.toThrow("create of configmaps not sent");
  await expect(client.raw("DELETE", `${MAPS}/a`)).rejects.toThrow("not sent");
  expect(server.requests).toEqual([]);
  await client.raw("GET", `${MAPS}/a`);
  await client.raw("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {});
  expect(server.requests).toHaveLength(2);
});

it("CORE-185 what a raw write stored is laid over the cache; the answer of a subresource is not", async () => {
  const overlay = vi.fn<Cache["overlay"]>();
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a", namespace: "ns" } };
  const { client } = await serve(
    (request, response) => {
      const stored = object(CONFIG_MAP, "a", { resourceVersion: "2" });
      const gone = { kind: "Status", apiVersion: "v1", status: "Success", details: { uid: "u1" } };
      if (request.method === "DELETE") answer(response, 200, gone);
      else answer(response, 200, request.path.endsWith("/scale") ? scale : stored);
    },
    { hooks: overlayHooks({ overlay }) },
  );
  await client.raw("PUT", `${MAPS}/a`, object(CONFIG_MAP, "a"));
  await client.raw("POST", `${MAPS}?dryRun=All`, object(CONFIG_MAP, "a"));
  await client.raw("DELETE", `${MAPS}/a`);
  await client.raw("PUT", "/apis/apps/v1/namespaces/ns/deployments/a/scale", scale);
  const kinds = overlay.mock.calls.map(([{ plural, kind }, key, written, uid]) => [
    plural,
    kind,
    `${key.namespace}/${key.name}`,
    written === "deleted" ? `deleted ${uid}` : written.kind,
  ]);
  expect(kinds).toEqual([
    ["configmaps", "ConfigMap", "ns/a", "ConfigMap"],
    ["configmaps", "", "ns/a", "deleted u1"],
    // The cache lays an object over one of the same kind alone.
    ["deployments", "", "ns/a", "Scale"],
  ]);
});

it("hooks know a raw write again by its identity after the answer", async () => {
  const seen: WriteInfo[] = [];
  const { client } = await serve((_request, response) => answer(response, 200, object(CONFIG_MAP, "a")), {
    hooks: { beforeWrite: (info) => void seen.push(info), afterWrite: (info) => void seen.push(info) },
  });
  await client.raw("PUT", `${MAPS}/a`, object(CONFIG_MAP, "a"));
  expect(seen.length).toBeGreaterThanOrEqual(2);
  expect(new Set(seen).size).toBe(1);
});
