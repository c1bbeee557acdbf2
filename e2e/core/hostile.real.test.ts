/** Objects of a tenant who knows the source. The double holds no such object: it walks what it stores. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Echoes, echoesOf, eventually } from "./support/echoes.ts";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let echoes: Echoes;
beforeEach(async () => {
  stage = await openStage();
  echoes = echoesOf(stage);
});
afterEach(() => stage.close());

/** The server takes 10 000 levels (sigs.k8s.io/json). */
const LEVELS = 9_000;

/** JSON of an Echo nested 9 000 deep; as text, since JSON.stringify cannot make it. */
function deepEcho(name: string, text: string): string {
  const nested = `${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}`;
  const head = `"apiVersion":"test.quartet.io/v1","kind":"Echo","metadata":{"name":"${name}"}`;
  return `{${head},"spec":{"text":"${text}","deep":${nested}}}`;
}

it("CORE-191 an Echo nested 9 000 deep stops nobody: not at a list, not at a watch, not after a restart", async () => {
  const { client } = stage;
  await client.ok("POST", echoes.path, deepEcho("deep-1", "listed"));
  await echoes.create("before", { text: "a" });
  let manager = await stage.start();
  await manager.ready;
  await echoes.ready("before");
  await client.ok("POST", echoes.path, deepEcho("deep-2", "watched"));
  await echoes.create("after", { text: "b" });
  await echoes.ready("after");
  const aside = (): Promise<number> => manager.metric("quartet_cache_objects_set_aside", 'resource="echoes"');
  expect(await aside()).toBe(2);
  const told = manager.log.filter(({ msg }) => String(msg).startsWith("object is set aside"));
  expect(told).toMatchObject([
    { name: "deep-1", reason: "nested deeper than 200 levels" },
    { name: "deep-2", reason: "nested deeper than 200 levels" },
  ]);
  expect(await manager.metric("quartet_reflector_lists_total", 'resource="echoes"')).toBe(1);

  await manager.stop();
  manager = await stage.start();
  await manager.ready;
  await echoes.merge("before", { spec: { text: "c" } });
  await echoes.ready("before");
  expect(await aside()).toBe(2);
  await echoes.remove("deep-1");
  await echoes.remove("deep-2");
  await eventually(async () => expect(await aside()).toBe(0));
});
