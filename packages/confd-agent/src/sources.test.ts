/** What the agent works from changes under it: resources, templates, folders and links, its own state file. */
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { expect, it as plain } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";

/** Each in folders of its own, and together: they wait more than they work. */
const it = plain.extend<{ scene: Scene }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of what is asked for
  scene: async ({}, use) => {
    const scene = createScene();
    await use(scene);
    await scene.close();
  },
}).concurrent;

const start = (scene: Scene, ...args: readonly string[]): RunningAgent =>
  scene.start([
    ...["--backend", "file", "--file", scene.path("values"), "--watch"],
    ...["--watch-error-backoff", "100ms", "--watch-error-backoff-max", "500ms", ...args],
  ]);
const lines = (scene: Scene, name: string): number =>
  scene.exists(name) ? scene.read(name).split("\n").length - 1 : 0;
const VALUE = '{{getv "/name"}}';

it("CONFD-CMD-3 CONFD-RES-14 a reload that is due stays due when its resource is corrected", async ({
  scene,
}) => {
  scene.write("values/a.yaml", "name: one\n");
  scene.resource("out", { keys: ["/name"], template: VALUE, lines: ['reload_cmd = "exit 3"'] });
  const agent = start(scene);
  await eventually(agent.log, (log) => log.includes("Reload failed: exit status 3"));
  scene.resource("out", { keys: ["/name"], template: VALUE, lines: ['reload_cmd = "echo r >> {}/reloads"'] });
  await becomes(scene, "reloads", "r\n");
  scene.write("values/a.yaml", "name: two\n");
  await becomes(scene, "reloads", "r\nr\n");
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-CMD-13 CONFD-RES-14 a version of a resource whose check outlives it does not replace what came after", async ({
  scene,
}) => {
  scene.write("values/a.yaml", "name: one\n");
  const check = 'check_cmd = "echo >> {}/checks; until test -e {}/passed; do sleep 0.05; done"';
  scene.resource("out", { keys: ["/name"], template: `old ${VALUE}`, lines: [check] });
  const agent = start(scene);
  await eventually(
    () => lines(scene, "checks"),
    (count) => count === 1,
  );
  scene.resource("out", { keys: ["/name"], template: `new ${VALUE}` });
  await becomes(scene, "out", "new one");
  scene.write("passed", "");
  // The old check has ended when its candidate is gone.
  await eventually(
    () => scene.list().filter((name) => name.startsWith(".out.")),
    (candidates) => candidates.length === 0,
  );
  expect(scene.read("out")).toBe("new one");
  expect((await agent.stop()).stderr).not.toContain("ERROR");
});

it("CONFD-RES-15 included files are followed, also below folders of their own and before they are there", async ({
  scene,
}) => {
  scene.write("values/a.yaml", "name: one\n");
  scene.write("templates/sub/part", "first ");
  scene.resource("out", { keys: ["/name"], template: `{{include "sub/part"}}${VALUE}` });
  scene.resource("late", { keys: ["/name"], template: `{{include "missing"}}${VALUE}` });
  const agent = start(scene);
  await becomes(scene, "out", "first one");
  scene.write("templates/sub/part", "second ");
  await becomes(scene, "out", "second one");
  scene.write("templates/sub/part", "third ");
  await becomes(scene, "out", "third one");
  await eventually(agent.log, (log) => log.includes("include missing: no such file"));
  scene.write("templates/missing", "here ");
  await becomes(scene, "late", "here one");
});

it("CONFD-RES-15 CONFD-FBE-7 folders that are replaced by others are followed on", async ({ scene }) => {
  scene.write("values/a.yaml", "name: one\n");
  scene.resource("out", { keys: ["/name"], template: `first ${VALUE}` });
  start(scene);
  await becomes(scene, "out", "first one");
  const replace = (folder: string): void => {
    renameSync(scene.path(folder), scene.path(`${folder}.old`));
    renameSync(scene.path(`${folder}.new`), scene.path(folder));
  };
  scene.write("templates.new/out.tmpl", `second ${VALUE}`);
  replace("templates");
  await becomes(scene, "out", "second one");
  scene.write("templates/out.tmpl", `third ${VALUE}`);
  await becomes(scene, "out", "third one");
  scene.write("values.new/a.yaml", "name: two\n");
  replace("values");
  await becomes(scene, "out", "third two");
  scene.write("values/a.yaml", "name: three\n");
  await becomes(scene, "out", "third three");
});

it("CONFD-RES-14 CONFD-FBE-7 a link above the folders that is led elsewhere changes all below", async ({
  scene,
}) => {
  const release = (version: string): void => {
    scene.write(`${version}/values/a.yaml`, `name: ${version}\n`);
    scene.write(`${version}/templates/out.tmpl`, `${version} ${VALUE}`);
    mkdirSync(scene.path(`${version}/conf.d`));
    scene.write(
      `${version}/conf.d/out.toml`,
      `[template]\nsrc = "out.tmpl"\ndest = "${scene.path("out")}"\nkeys = ["/name"]\n`,
    );
  };
  release("v1");
  release("v2");
  symlinkSync("v1", scene.path("current"));
  const file = scene.path("current/values/a.yaml");
  scene.start(["--confdir", scene.path("current"), "--backend", "file", "--file", file, "--watch"]);
  await becomes(scene, "out", "v1 v1");
  symlinkSync("v2", scene.path("next"));
  renameSync(scene.path("next"), scene.path("current"));
  await becomes(scene, "out", "v2 v2");
  scene.write("v2/values/a.yaml", "name: again\n");
  await becomes(scene, "out", "v2 again");
});

it("CONFD-RES-15 CONFD-WATCH-14 what the system did not tell of templates is found by the comparison", async ({
  scene,
}) => {
  scene.write("values/a.yaml", "name: one\n");
  scene.resource("out", { keys: ["/name"], template: `first ${VALUE}` });
  // A template behind a link of its own: its folder is not watched.
  scene.write("elsewhere/out.tmpl", `first ${VALUE}`);
  rmSync(scene.path("templates/out.tmpl"));
  symlinkSync("../elsewhere/out.tmpl", scene.path("templates/out.tmpl"));
  start(scene, "--resync-interval", "1s");
  await becomes(scene, "out", "first one");
  scene.write("elsewhere/out.tmpl", `second ${VALUE}`);
  await becomes(scene, "out", "second one");
});

plain.concurrent.each([
  ["is cut off", '{"reloads":["/x'],
  ["is empty", ""],
  ["holds something else", '{"reloads":"/x"}'],
])("CONFD-CMD-4 CONFD-OPS-11 a state file that %s: all files are reloaded once", async (_, text) => {
  const scene = createScene();
  try {
    scene.write("values/a.yaml", "name: one\n");
    scene.write("state", text);
    scene.write("out", "one");
    scene.resource("out", {
      keys: ["/name"],
      template: VALUE,
      lines: ['reload_cmd = "echo r >> {}/reloads"'],
    });
    const agent = start(scene, "--state-file", scene.path("state"));
    await becomes(scene, "reloads", "r\n");
    expect(agent.log()).toMatch(/WARN state-file .*: all files are reloaded once/);
    scene.write("values/a.yaml", "name: two\n");
    await becomes(scene, "reloads", "r\nr\n");
    await becomes(scene, "state", '{"reloads":[]}');
  } finally {
    await scene.close();
  }
});
