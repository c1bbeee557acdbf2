import { afterEach, beforeEach, expect, it } from "vitest";
import { apiError, thing, things, worlds } from "../cache/fixtures.testkit.ts";
import { openSources } from "./open-sources.ts";
import { openScene, type Scene } from "./scene.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.close());

it("CORE-344 are synced when each declared one has been read, and tell of no other kind", async () => {
  scene.server.put(thing("a"));
  scene.server.refuse("watch", apiError(403, "no"), 1);
  const sources = openSources("hook", scene.cache, [{ kind: things }]);
  expect(sources.synced()).toBe(false);
  await scene.clock.flush();
  expect(sources.synced()).toBe(false);
  await scene.clock.advance(10_000);
  expect(sources.synced()).toBe(true);
  expect(await sources.reader.list(things)).toHaveLength(1);
  await expect(sources.reader.list(worlds)).rejects.toThrow("hook must declare it as a source");
  sources.close();
  expect(scene.cache.informers()).toEqual([]);
});

it("CORE-344 do not wait for an optional one that may not be read", async () => {
  scene.server.refuse("watch", apiError(403, "no"), 1_000);
  const sources = openSources("hook", scene.cache, [{ kind: things, options: { optional: true } }]);
  await scene.clock.flush();
  expect(sources.synced()).toBe(true);
  sources.close();
});
