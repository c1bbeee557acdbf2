import { expect, it } from "vitest";
import { defineKind } from "../object.ts";
import { markProjected } from "../projected.ts";
import { answer, CONFIG_MAP, NODE, object, type Received, serve, status, WIDGET } from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const POD = defineKind({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
const DEPLOYMENT = defineKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
});

/** A server that answers every write with an object, or, to a delete, with a Status. */
const writable = (options: Parameters<typeof serve>[1] = {}) =>
  serve((request, response) => {
    const gone = { kind: "Status", apiVersion: "v1", status: "Success" };
    const written = object(CONFIG_MAP, "a", { resourceVersion: "2" });
    answer(response, 200, request.method === "DELETE" ? gone : written);
  }, options);

const summary = ({ method, path, body }: Received): unknown[] => [
  method,
  path,
  body === "" ? undefined : JSON.parse(body),
];

it("CORE-136 writes subresources", async () => {
  const { server, client } = await writable();
  const versioned = object(DEPLOYMENT, "a", { resourceVersion: "1" });
  const binding = { apiVersion: "v1", kind: "Binding", metadata: KEY, target: { name: "node" } };
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: KEY, spec: { replicas: 2 } };
  await client.getSubresource(DEPLOYMENT, KEY, "scale");
  await client.update(DEPLOYMENT, scale, { subresource: "scale", force: true });
  await client.patch(
    DEPLOYMENT,
    KEY,
    { type: "merge", body: { spec: { replicas: 1 } } },
    { subresource: "scale" },
  );
  await client.apply(DEPLOYMENT, versioned, { subresource: "status" });
  await client.create(POD, binding, { subresource: "binding" });
  await client.evict(KEY, { gracePeriodSeconds: 5 });
  const deployments = "/apis/apps/v1/namespaces/ns/deployments/a";
  expect(server.requests.map(summary)).toEqual([
    ["GET", `${deployments}/scale`, undefined],
    ["PUT", `${deployments}/scale`, scale],
    ["PATCH", `${deployments}/scale`, { spec: { replicas: 1 } }],
    ["PATCH", `${deployments}/status`, object(DEPLOYMENT, "a")],
    ["POST", "/api/v1/namespaces/ns/pods/a/binding", binding],
    [
      "POST",
      "/api/v1/namespaces/ns/pods/a/eviction",
      {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: KEY,
        deleteOptions: { propagationPolicy: "Background", gracePeriodSeconds: 5 },
      },
    ],
  ]);
});

it("CORE-137 sends each patch with its content type", async () => {
  const { server, client } = await writable();
  const operations = [{ op: "test", path: "/metadata/uid", value: "u" } as const];
  await client.patch(CONFIG_MAP, KEY, { type: "json", operations });
  await client.patch(CONFIG_MAP, KEY, { type: "merge", body: { data: null } });
  await client.patch(CONFIG_MAP, KEY, { type: "strategic", body: { data: { a: "b" } } });
  await client.apply(WIDGET, object(WIDGET, "a"));
  expect(server.requests.map(({ headers, body }) => [headers["content-type"], JSON.parse(body)])).toEqual([
    ["application/json-patch+json", operations],
    ["application/merge-patch+json", { data: null }],
    ["application/strategic-merge-patch+json", { data: { a: "b" } }],
    ["application/apply-patch+yaml", object(WIDGET, "a")],
  ]);
});

it.each(["example.io", "k8s.tars.io", "gateway.networking.k8s.io", "apps.kruise.io"])(
  "CORE-137 refuses a strategic merge in group %s before anything is sent",
  async (group) => {
    const { server, client } = await writable();
    const kind = defineKind({ ...WIDGET, group });
    await expect(client.patch(kind, KEY, { type: "strategic", body: {} })).rejects.toThrow(
      "strategic merge is not supported for custom resources",
    );
    expect(server.requests).toHaveLength(0);
  },
);

it("CORE-138 strips what only the server sets, and names the controller as field manager", async () => {
  const { server, client } = await writable();
  const live = {
    ...object(CONFIG_MAP, "a", {
      managedFields: [{}],
      resourceVersion: "1",
      uid: "u",
      creationTimestamp: "2026-01-02T03:04:05Z",
      labels: { a: "b" },
    }),
    data: { a: "b" },
  };
  const before = structuredClone(live);
  await client.forController("tars").apply(CONFIG_MAP, live);
  await client.forController("tars").applyOwned(CONFIG_MAP, live);
  await client.apply(CONFIG_MAP, live, { fieldManager: "Somebody Else" });
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
    ...object(CONFIG_MAP, "a", { labels: { a: "b" } }),
    data: { a: "b" },
  });
  expect(live).toEqual(before);
  expect(server.requests.map(({ query }) => [query.get("fieldManager"), query.get("force")])).toEqual([
    ["quartet-tars", "false"],
    ["quartet-tars", "true"],
    ["Somebody Else", "false"],
  ]);
});

it.each(["", "a".repeat(129), "tab\there", "null\0"])(
  "CORE-138 refuses field manager %j",
  async (fieldManager) => {
    const { server, client } = await writable();
    await expect(client.apply(CONFIG_MAP, object(CONFIG_MAP, "a"), { fieldManager })).rejects.toThrow(
      "1 to 128 printable characters",
    );
    expect(server.requests).toHaveLength(0);
  },
);

it("CORE-138 names every manager and field of an apply conflict", async () => {
  const cause = (manager: string, field: string) => ({
    reason: "FieldManagerConflict",
    message: `conflict with "${manager}" using v1`,
    field,
  });
  const causes = [cause("kubectl", ".data.a"), cause("helm", ".data.b")];
  const said = 'Apply failed with 2 conflicts: conflict with "kubectl" using v1: .data.a';
  const { client } = await serve((_, response) =>
    answer(response, 409, status(409, "Conflict", said, { causes })),
  );
  await expect(client.apply(CONFIG_MAP, object(CONFIG_MAP, "a"))).rejects.toMatchObject({
    message: `${said}\nconflict with "helm" using v1: .data.b`,
    details: { causes },
  });
});

it("CORE-139 every write takes dryRun and fieldValidation", async () => {
  const { server, client } = await writable();
  const thing = object(CONFIG_MAP, "a", { resourceVersion: "1" });
  const options = { dryRun: true, fieldValidation: "Strict" } as const;
  await client.create(CONFIG_MAP, thing, options);
  await client.update(CONFIG_MAP, thing, options);
  await client.updateStatus(CONFIG_MAP, thing, options);
  await client.patch(CONFIG_MAP, KEY, { type: "merge", body: {} }, options);
  await client.patchStatus(CONFIG_MAP, thing, { a: 1 }, options);
  await client.apply(CONFIG_MAP, thing, options);
  for (const { query } of server.requests) {
    expect(query.get("dryRun")).toBe("All");
    expect(query.get("fieldValidation")).toBe("Strict");
  }
  expect(server.requests).toHaveLength(6);
  await client.delete(CONFIG_MAP, KEY, { dryRun: true });
  await client.evict(KEY, { dryRun: true });
  await client.deleteCollection(CONFIG_MAP, { namespace: "ns", dryRun: true });
  const bodies = server.requests.slice(6).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  const dryRuns = bodies.map((body) => (body.deleteOptions ?? body) as { dryRun?: string[] });
  expect(dryRuns.map(({ dryRun }) => dryRun)).toEqual([["All"], ["All"], ["All"]]);
});

it("CORE-139 validates fields of built-in kinds with Warn unless the client says otherwise", async () => {
  const byDefault = await writable();
  await byDefault.client.create(CONFIG_MAP, object(CONFIG_MAP, "a"));
  await byDefault.client.create(WIDGET, object(WIDGET, "a"));
  const strict = await writable({ fieldValidation: "Strict" });
  await strict.client.create(CONFIG_MAP, object(CONFIG_MAP, "a"));
  const sent = [...byDefault.server.requests, ...strict.server.requests];
  expect(sent.map(({ query }) => query.get("fieldValidation"))).toEqual(["Warn", null, "Strict"]);
});

it("CORE-140 update needs a resource version unless forced", async () => {
  const { server, client } = await writable();
  const bare = object(CONFIG_MAP, "a");
  await expect(client.update(CONFIG_MAP, bare)).rejects.toThrow(
    "ConfigMap ns/a: update without metadata.resourceVersion",
  );
  await expect(client.updateStatus(CONFIG_MAP, bare)).rejects.toMatchObject({ name: "InvalidRequestError" });
  expect(server.requests).toHaveLength(0);
  await client.update(CONFIG_MAP, bare, { force: true });
  await client.updateStatus(CONFIG_MAP, bare, { force: true });
  expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "PUT"]);
});

it("CORE-145 deletes in the background, or as told", async () => {
  const { server, client } = await writable();
  await client.delete(CONFIG_MAP, KEY);
  await client.delete(CONFIG_MAP, KEY, {
    preconditions: { uid: "u", resourceVersion: "7" },
    gracePeriodSeconds: 0,
    propagationPolicy: "Foreground",
  });
  await client.deleteCollection(CONFIG_MAP, { namespace: "ns", labelSelector: "a=b" });
  await client.deleteCollection(NODE, { propagationPolicy: "Orphan" });
  const base = { apiVersion: "v1", kind: "DeleteOptions" };
  expect(server.requests.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
    ["/api/v1/namespaces/ns/configmaps/a", { ...base, propagationPolicy: "Background" }],
    [
      "/api/v1/namespaces/ns/configmaps/a",
      {
        ...base,
        propagationPolicy: "Foreground",
        preconditions: { uid: "u", resourceVersion: "7" },
        gracePeriodSeconds: 0,
      },
    ],
    ["/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db", { ...base, propagationPolicy: "Background" }],
    ["/api/v1/nodes", { ...base, propagationPolicy: "Orphan" }],
  ]);
});

it("CORE-145 deleteIfExists takes an absent object for a success, and no other error", async () => {
  const codes = [200, 404, 409];
  const { server, client } = await serve((_, response) => {
    const code = codes[server.requests.length - 1] ?? 500;
    answer(response, code, status(code, "Reason", "m"));
  });
  await expect(client.deleteIfExists(CONFIG_MAP, KEY)).resolves.toBe(true);
  await expect(client.deleteIfExists(CONFIG_MAP, KEY)).resolves.toBe(false);
  await expect(client.deleteIfExists(CONFIG_MAP, KEY)).rejects.toMatchObject({ code: 409 });
});

it("CORE-178 refuses to send a reduced object back whole, also as a status or by force, and takes patches of it", async () => {
  const { server, client } = await writable();
  const reduced = markProjected(object(CONFIG_MAP, "a", { resourceVersion: "1" }));
  const copy = { ...reduced, status: { ready: true } };
  const refusal = /ConfigMap ns\/a: update with a reduced object .* use a patch/;
  await expect(client.update(CONFIG_MAP, reduced)).rejects.toThrow(refusal);
  await expect(client.update(CONFIG_MAP, copy, { force: true })).rejects.toThrow(refusal);
  await expect(client.updateStatus(CONFIG_MAP, copy)).rejects.toThrow(refusal);
  const applyRefusal = /ConfigMap ns\/a: apply with a reduced object .* use a patch/;
  await expect(client.apply(CONFIG_MAP, reduced)).rejects.toThrow(applyRefusal);
  await expect(client.applyOwned(CONFIG_MAP, copy, { subresource: "status" })).rejects.toThrow(applyRefusal);
  expect(server.requests).toEqual([]);
  await client.patch(CONFIG_MAP, KEY, { type: "merge", body: { data: { a: "b" } } });
  await client.patchStatus(CONFIG_MAP, reduced, { ready: true });
  expect(server.requests.map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
});

it("a connection survives a delete that the server refused", async () => {
  const { server, client } = await serve((request, response) => {
    if (request.method === "DELETE") answer(response, 404, status(404, "NotFound", "gone"));
    else answer(response, 201, object(CONFIG_MAP, "a"));
  });
  await client.deleteIfExists(CONFIG_MAP, KEY);
  await client.create(CONFIG_MAP, object(CONFIG_MAP, "a"));
  expect(server.opened()).toBe(1);
});
