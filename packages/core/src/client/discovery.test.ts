import { expect, it } from "vitest";
import { defineKind } from "../object.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { NoMatchError } from "./errors.ts";
import { answer, serve, status, WIDGET } from "./testkit.testkit.ts";

const resource = (name: string, kind: string, more: object = {}) => ({
  name,
  kind,
  singularName: kind.toLowerCase(),
  namespaced: true,
  verbs: ["get", "list"],
  ...more,
});

/** A server whose group versions can be changed while it runs. */
async function serving(groups: Record<string, object[]>) {
  const clock = fakeClock();
  const { server, client } = await serve(
    (request, response) => {
      const resources = groups[request.path];
      if (resources === undefined) return answer(response, 404, "404 page not found");
      answer(response, 200, { kind: "APIResourceList", resources });
    },
    { clock },
  );
  return { clock, server, discovery: client.discovery, groups };
}

it("CORE-130 finds kinds of the core group and of any other, with their subresources", async () => {
  const { server, discovery } = await serving({
    "/api/v1": [
      resource("pods", "Pod", { shortNames: ["po"] }),
      resource("pods/status", "Pod"),
      resource("pods/eviction", "Eviction", { group: "policy", version: "v1" }),
      resource("nodes", "Node", { namespaced: false }),
    ],
    "/apis/ex.io/v1beta1": [resource("foos", "Foo")],
  });
  expect(await discovery.find("v1", "Pod")).toEqual({
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    namespaced: true,
    singular: "pod",
    verbs: ["get", "list"],
    shortNames: ["po"],
    subresources: ["status", "eviction"],
  });
  expect(await discovery.find("v1", "Node")).toMatchObject({ namespaced: false, subresources: [] });
  expect(await discovery.find("ex.io/v1beta1", "Foo")).toMatchObject({ group: "ex.io", version: "v1beta1" });
  await expect(discovery.find("v1", "Eviction")).rejects.toBeInstanceOf(NoMatchError);
  expect(server.requests).toHaveLength(2);
});

it("CORE-130 looks for an unknown kind again, but at most every 10 s", async () => {
  const { clock, server, discovery, groups } = await serving({ "/apis/ex.io/v1": [] });
  const message = 'no match for kind "Foo" in version "ex.io/v1"';
  await expect(discovery.find("ex.io/v1", "Foo")).rejects.toThrow(message);
  await clock.advance(9_999);
  await expect(discovery.find("ex.io/v1", "Foo")).rejects.toThrow(message);
  expect(server.requests).toHaveLength(1);

  await clock.advance(1);
  await expect(discovery.find("ex.io/v1", "Foo")).rejects.toThrow(message);
  expect(server.requests).toHaveLength(2);

  groups["/apis/ex.io/v1"] = [resource("foos", "Foo")];
  await clock.advance(10_000);
  await expect(discovery.find("ex.io/v1", "Foo")).resolves.toMatchObject({ plural: "foos" });
});

it("CORE-130 says no match for a group that the server does not have", async () => {
  const { discovery } = await serving({});
  await expect(discovery.find("ex.io/v1", "Foo")).rejects.toThrow(
    'no match for kind "Foo" in version "ex.io/v1"',
  );
});

it("reads a group once for many callers, and again after invalidate", async () => {
  const { server, discovery } = await serving({ "/apis/ex.io/v1": [resource("foos", "Foo")] });
  await Promise.all(Array.from({ length: 5 }, () => discovery.find("ex.io/v1", "Foo")));
  expect(server.requests).toHaveLength(1);
  discovery.invalidate();
  await discovery.find("ex.io/v1", "Foo");
  expect(server.requests).toHaveLength(2);
});

it("tells what is served now", async () => {
  const { discovery, groups } = await serving({});
  expect(await discovery.serves(WIDGET)).toBe(false);
  groups["/apis/example.io/v1"] = [resource("widgets", "Widget")];
  expect(await discovery.serves(WIDGET)).toBe(true);
  expect(await discovery.serves(defineKind({ ...WIDGET, plural: "gadgets" }))).toBe(false);
  delete groups["/apis/example.io/v1"];
  expect(await discovery.serves(WIDGET)).toBe(false);
});

it("takes no other error for an absent kind", async () => {
  const { client } = await serve((_, response) => answer(response, 403, status(403, "Forbidden", "no")));
  await expect(client.discovery.find("v1", "Pod")).rejects.toMatchObject({ code: 403 });
  await expect(client.discovery.serves(WIDGET)).rejects.toMatchObject({ code: 403 });
});
