/** Files as readers see them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { replaceFile } from "./replace.ts";
import { writeStage } from "./stage.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());
const once = (...more: readonly string[]) => scene.run(["--onetime", "--backend", "env", ...more]);

it("CONFD-FILE-3 each difference is told with the old and the new value", async () => {
  scene.resource("a", { template: "new", lines: ['mode = "0600"'] });
  expect((await once()).stderr).toContain("out of sync: it does not exist");
  scene.write("a", "old");
  const content = /content is [0-9a-f]{12}, should be [0-9a-f]{12}/;
  expect((await once()).stderr).toMatch(content);
  scene.resource("a", { template: "new", lines: ['mode = "0640"'] });
  const { stderr } = await once();
  expect(stderr).toContain("mode is 0600, should be 0640");
  expect(stderr).not.toMatch(content);
});

it("CONFD-FILE-5 CONFD-FILE-12 candidates stand beside the file, private, under a name that no pattern matches", async () => {
  const target = scene.path("a.conf");
  const attributes = { mode: 0o640, uid: process.getuid!(), gid: process.getgid!() };
  const stage = await writeStage({
    target,
    content: Buffer.from("x"),
    attributes,
    flush: true,
    stageDir: "",
  });
  expect(stage.path).toMatch(/\/\.a\.conf\.[0-9a-f]{12}$/);
  expect(statSync(stage.path).mode & 0o777).toBe(0o640);
  await replaceFile({ stage, target, content: Buffer.from("x"), attributes, flush: true });
  expect(readdirSync(scene.folder).filter((name) => name.includes("a.conf"))).toEqual(["a.conf"]);
});

it("CONFD-FILE-6 readers see the old text or the new one, whole, at every moment", async () => {
  const target = scene.path("a");
  const attributes = { mode: 0o644, uid: process.getuid!(), gid: process.getgid!() };
  const write = async (round: number): Promise<void> => {
    const content = Buffer.from(`${round};`.repeat(20_000));
    const stage = await writeStage({ target, content, attributes, flush: false, stageDir: "" });
    await replaceFile({ stage, target, content, attributes, flush: false });
  };
  await write(0);
  let done = false;
  const writing = (async () => {
    for (let round = 1; round <= 200; round++) {
      await write(round);
      await turn();
    }
    done = true;
  })();
  let reads = 0;
  while (!done) {
    const text = readFileSync(target, "utf8");
    const [first] = text.split(";", 1);
    expect(text).toBe(`${first};`.repeat(20_000));
    reads += 1;
    await turn();
  }
  await writing;
  expect(reads).toBeGreaterThan(100);
});
