import { expect, it } from "vitest";
import { answer, object, recordingLog, serve, status, WIDGET } from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const ROOT = "/apis/example.io/v1";

/** A server of widgets, with or without status subresource; `exists` tells whether there is one. */
const widgets = (options: {
  subresource: boolean;
  exists?: boolean;
  log?: ReturnType<typeof recordingLog>;
}) =>
  serve(
    (request, response) => {
      if (request.path === ROOT) {
        const resource = { name: "widgets", namespaced: true, kind: "Widget", verbs: ["get"] };
        const resources = [
          resource,
          ...(options.subresource ? [{ ...resource, name: "widgets/status" }] : []),
        ];
        return answer(response, 200, { kind: "APIResourceList", groupVersion: "example.io/v1", resources });
      }
      const servesStatus = options.subresource || !request.path.endsWith("/status");
      if (!servesStatus || options.exists === false) {
        return answer(response, 404, status(404, "NotFound", "not found"));
      }
      answer(response, 200, object(WIDGET, "a", { resourceVersion: "2" }));
    },
    options.log === undefined ? {} : { log: options.log },
  );

it("CORE-141 writes status through the subresource", async () => {
  const { server, client } = await widgets({ subresource: true });
  const next = { ...object(WIDGET, "a", { resourceVersion: "1" }), status: { ready: true } };
  await client.updateStatus(WIDGET, next);
  await client.patchStatus(WIDGET, object(WIDGET, "a"), { ready: true });
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PUT ${ROOT}/namespaces/ns/widgets/a/status`,
    `PATCH ${ROOT}/namespaces/ns/widgets/a/status`,
  ]);
});

it("CORE-141 patches .status of the object when the kind has no status subresource, and logs that once", async () => {
  const log = recordingLog();
  const { server, client } = await widgets({ subresource: false, log });
  const next = { ...object(WIDGET, "a", { resourceVersion: "1" }), spec: { a: 1 }, status: { ready: true } };
  await expect(client.updateStatus(WIDGET, next)).resolves.toMatchObject({
    metadata: { resourceVersion: "2" },
  });
  await client.forController("tars").patchStatus(WIDGET, object(WIDGET, "a"), { ready: false });
  const sent = server.requests.filter(({ method, path }) => method === "PATCH" && !path.endsWith("/status"));
  expect(sent.map(({ path, headers, body }) => [path, headers["content-type"], JSON.parse(body)])).toEqual([
    [
      `${ROOT}/namespaces/ns/widgets/a`,
      "application/merge-patch+json",
      { metadata: { resourceVersion: "1" }, status: { ready: true } },
    ],
    [`${ROOT}/namespaces/ns/widgets/a`, "application/merge-patch+json", { status: { ready: false } }],
  ]);
  expect(log.entries).toHaveLength(1);
  expect(log.entries[0]).toMatchObject({ level: "warn", fields: { group: "example.io", kind: "Widget" } });
});

it("CORE-141 takes a 404 of a kind with status subresource for what it is", async () => {
  const { server, client } = await widgets({ subresource: true, exists: false });
  const next = { ...object(WIDGET, "a", { resourceVersion: "1" }), status: { ready: true } };
  await expect(client.updateStatus(WIDGET, next)).rejects.toMatchObject({ code: 404 });
  await expect(client.patchStatus(WIDGET, next, { ready: false })).rejects.toMatchObject({ code: 404 });
  expect(server.requests.every(({ path }) => path === ROOT || path.endsWith("/status"))).toBe(true);
});

it("CORE-142 sends the changed keys only, and nothing when equal", async () => {
  const { server, client } = await widgets({ subresource: true });
  const conditions = [{ type: "Ready", status: "True" }];
  const current = {
    metadata: KEY,
    status: { phase: "Running", replicas: 3, old: 1, deep: { a: 1, b: 2 }, conditions },
  };
  const next = {
    deep: { b: 3, a: 1 },
    conditions: [{ status: "True", type: "Ready" }],
    phase: "Running",
    replicas: 3,
  };
  await client.patchStatus(WIDGET, current, next);
  expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([
    { status: { old: null, deep: { b: 3 } } },
  ]);
  expect(server.requests[0]?.headers["content-type"]).toBe("application/merge-patch+json");
  await expect(client.patchStatus(WIDGET, current, structuredClone(current.status))).resolves.toBeUndefined();
  await expect(client.patchStatus(WIDGET, { metadata: KEY }, {})).resolves.toBeUndefined();
  expect(server.requests).toHaveLength(1);
});
