import { expect, it } from "vitest";
import { createOrApply } from "./create-or-apply.ts";
import { answer, CONFIG_MAP, type ConfigMap, object, serve, status } from "./testkit.testkit.ts";

/** A server with one object: an apply that changes `data` moves its resource version. */
function oneObject() {
  let stored: ConfigMap | undefined;
  let version = 0;
  return serve((request, response) => {
    if (request.method === "GET") {
      return stored === undefined
        ? answer(response, 404, status(404, "NotFound", "not found"))
        : answer(response, 200, stored);
    }
    const applied = JSON.parse(request.body) as ConfigMap;
    const isNew = stored === undefined;
    if (JSON.stringify(stored?.data) !== JSON.stringify(applied.data) || isNew) version++;
    stored = { ...applied, metadata: { ...applied.metadata, resourceVersion: String(version) } };
    answer(response, isNew ? 201 : 200, stored);
  });
}

const desired = (data: Record<string, string>): ConfigMap => ({ ...object(CONFIG_MAP, "a"), data });

it("CORE-144 tells created, unchanged and updated", async () => {
  const { client } = await oneObject();
  const results: string[] = [];
  for (const data of [{ a: "1" }, { a: "1" }, { a: "2" }]) {
    const { result, object: applied } = await createOrApply(client, CONFIG_MAP, desired(data));
    expect(applied.data).toEqual(data);
    results.push(result);
  }
  expect(results).toEqual(["created", "unchanged", "updated"]);
});

it("CORE-144 spares the read when the caller knows the object", async () => {
  const { server, client } = await oneObject();
  const first = await createOrApply(client, CONFIG_MAP, desired({ a: "1" }), { current: null });
  const second = await createOrApply(client, CONFIG_MAP, desired({ a: "1" }), { current: first.object });
  expect([first.result, second.result]).toEqual(["created", "unchanged"]);
  expect(server.requests.map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
});

it.each([
  ["name", { name: "b" }],
  ["namespace", { namespace: "other" }],
])("CORE-144 refuses a mutate callback that changes the %s", async (_, metadata) => {
  const { server, client } = await oneObject();
  const mutate = (object: ConfigMap): void => void Object.assign(object.metadata, metadata);
  await expect(createOrApply(client, CONFIG_MAP, desired({}), { mutate })).rejects.toThrow(
    "the mutate callback changed its name or namespace",
  );
  expect(server.requests).toHaveLength(0);
});

it("mutates a copy", async () => {
  const { client } = await oneObject();
  const given = desired({ a: "1" });
  const mutate = (object: ConfigMap): void => {
    object.data = { b: "2" };
  };
  const { object: applied } = await createOrApply(client, CONFIG_MAP, given, { mutate });
  expect(applied.data).toEqual({ b: "2" });
  expect(given.data).toEqual({ a: "1" });
});

it("passes other errors of the read on", async () => {
  const { client } = await serve((_, response) => answer(response, 403, status(403, "Forbidden", "no")));
  await expect(createOrApply(client, CONFIG_MAP, desired({}))).rejects.toMatchObject({ code: 403 });
});
