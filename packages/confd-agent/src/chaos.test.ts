/** What goes wrong with disks, mounts and owners: the last good file stays, and everything is taken up again. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
  mkdirSync(scene.path("out"));
  scene.write("values/a.yaml", "name: one\n");
});
afterEach(() => scene.close());

const ARGS = [
  "--backend",
  "file",
  "--watch",
  "--watch-error-backoff",
  "100ms",
  "--watch-error-backoff-max",
  "500ms",
];
const start = (setup: readonly string[], ...more: readonly string[]): RunningAgent =>
  scene.startIsolated(setup, [...ARGS, "--file", scene.path("values"), ...more]);
const resource = (...lines: string[]): void =>
  scene.resource("file", {
    keys: ["/name"],
    template: '{{getv "/name"}}',
    dest: scene.path("out/file"),
    lines,
  });
/** A file as the agent sees it. */
const seen = (agent: RunningAgent, name = "out/file"): string | undefined => {
  try {
    return readFileSync(`${agent.root}${scene.path(name)}`, "utf8");
  } catch {
    return undefined;
  }
};
const becomes = (agent: RunningAgent, text: string) =>
  eventually(
    () => seen(agent),
    (found) => found === text,
  );

it("CONFD-FILE-10 CONFD-FILE-12 a full disk leaves the last good file and no candidate, and heals", async () => {
  resource();
  const agent = start([`mount -t tmpfs -o size=64k tmpfs ${scene.path("out")}`]);
  await becomes(agent, "one");
  scene.write("values/a.yaml", `name: ${"x".repeat(200_000)}\n`);
  await eventually(agent.log, (log) => log.includes("ENOSPC") && log.includes(scene.path("out/file")));
  expect(seen(agent)).toBe("one");
  expect(readdirSync(`${agent.root}${scene.path("out")}`)).toEqual(["file"]);
  scene.write("values/a.yaml", "name: two\n");
  await becomes(agent, "two");
});

it("AS-13 CONFD-FILE-8 CONFD-FILE-9 a bind-mounted file is written in place, and its owner is not tried again and again", async () => {
  scene.write("mounted", "old");
  scene.write("out/file", "");
  resource("uid = 12345", 'reload_cmd = "echo r >> {}/reloads"');
  const agent = start(
    [`mount --bind ${scene.path("mounted")} ${scene.path("out/file")}`],
    "--resync-interval",
    "300ms",
  );
  await becomes(agent, "one");
  const { ino } = statSync(scene.path("mounted"));
  scene.write("values/a.yaml", "name: a much longer name\n");
  await becomes(agent, "a much longer name");
  scene.write("values/a.yaml", "name: x\n");
  await becomes(agent, "x");
  expect(scene.read("mounted")).toBe("x");
  expect(statSync(scene.path("mounted")).ino).toBe(ino);
  expect(agent.log().split("in-place write: not atomic")).toHaveLength(2);
  // Comparisons go on meanwhile: each would write and reload again if the owner still counted.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(scene.read("reloads")).toBe("r\nr\nr\n");
  expect(agent.log().split("cannot set owner")).toHaveLength(2);
});

it("CONFD-FILE-8 a folder that takes no file, with a file in it that can be written", async () => {
  scene.write("mounted", "old");
  scene.write("out/file", "");
  resource('check_cmd = "cp {{.src}} {}/checked"');
  const agent = start([
    `mount --bind ${scene.path("out")} ${scene.path("out")}`,
    `mount --bind ${scene.path("mounted")} ${scene.path("out/file")}`,
    `mount -o remount,ro,bind ${scene.path("out")}`,
  ]);
  await becomes(agent, "one");
  expect(scene.read("checked")).toBe("one");
  expect(scene.read("mounted")).toBe("one");
});

it("CONFD-FILE-6 CONFD-FILE-7 a destination on another file system is replaced at once, also through a link to it", async () => {
  for (const name of ["mounted", "linked"]) {
    const dest = scene.path(name === "linked" ? "link" : "out/mounted");
    scene.resource(name, {
      keys: ["/name"],
      template: '{{getv "/name"}}',
      dest,
      lines: [`check_cmd = "dirname {{.src}} > {}/stage-${name}"`],
    });
  }
  symlinkSync(scene.path("out/linked"), scene.path("link"));
  const agent = start([`mount -t tmpfs tmpfs ${scene.path("out")}`], "-stage-dir", scene.folder);
  for (const text of ["one", "two"]) {
    scene.write("values/a.yaml", `name: ${text}\n`);
    for (const name of ["out/mounted", "out/linked"]) {
      await eventually(
        () => seen(agent, name),
        (found) => found === text,
      );
    }
  }
  // Candidates stood beside their destinations, so that they could be renamed.
  for (const name of ["mounted", "linked"])
    expect(scene.read(`stage-${name}`)).toBe(`${scene.path("out")}\n`);
  expect(agent.log()).not.toContain("in-place");
  expect(readdirSync(`${agent.root}${scene.path("out")}`).sort()).toEqual(["linked", "mounted"]);
  expect(lstatSync(scene.path("link")).isSymbolicLink()).toBe(true);
});

it("CONFD-FILE-8 a candidate on another file system, where the folder takes none: the file is written in place", async () => {
  scene.write("mounted", "old and longer");
  scene.write("out/file", "");
  mkdirSync(scene.path("stage"));
  resource('check_cmd = "dirname {{.src}} > {}/checked"');
  const agent = start(
    [
      `mount -t tmpfs tmpfs ${scene.path("stage")}`,
      `mount --bind ${scene.path("out")} ${scene.path("out")}`,
      `mount --bind ${scene.path("mounted")} ${scene.path("out/file")}`,
      `mount -o remount,ro,bind ${scene.path("out")}`,
    ],
    "-stage-dir",
    scene.path("stage"),
  );
  await becomes(agent, "one");
  expect(scene.read("checked")).toBe(`${scene.path("stage")}\n`);
  // Told once the file is flushed, which may take its time.
  await eventually(agent.log, (log) => log.includes("in-place write: not atomic"));
  expect(readdirSync(`${agent.root}${scene.path("stage")}`)).toEqual([]);
});

it("CONFD-CMD-7 CONFD-CMD-8 commands that flood are read to their end, kept in part, and told; what never ends is ended", async () => {
  const megabytes = 20;
  const flood = `head -c ${megabytes}000000 /dev/zero | tr '\\\\0' x`;
  resource(`reload_cmd = "[ -e {}/quiet ] || { ${flood}; echo r >> {}/reloads; exit 3; }"`);
  scene.resource("endless", {
    keys: ["/name"],
    template: '{{getv "/name"}}',
    lines: ['reload_cmd = "[ -e {}/quiet ] || yes"', 'reload_cmd_timeout = "1s"'],
  });
  const agent = start([]);
  const left = `... (${megabytes * 1_000_000 - 65_536} bytes more)`;
  await eventually(
    agent.log,
    (log) =>
      log.includes("Reload failed: exit status 3") &&
      log.includes(left) &&
      log.includes("Reload failed: timed out after 1s"),
  );
  expect(scene.read("reloads")).toMatch(/^r\n/);
  expect(
    Math.max(
      ...agent
        .log()
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThan(200_000);
  scene.write("quiet", "");
  scene.write("values/a.yaml", "name: two\n");
  await becomes(agent, "two");
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-FILE-10 a read-only folder is named with the reason, and the file stays", async () => {
  scene.write("out/file", "old");
  resource();
  const agent = start([
    `mount --bind ${scene.path("out")} ${scene.path("out")}`,
    `mount -o remount,ro,bind ${scene.path("out")}`,
  ]);
  await eventually(agent.log, (log) => log.includes("EROFS"));
  expect(seen(agent)).toBe("old");
});

it("CONFD-FILE-2 an owner that cannot be set is an error where that is wanted", async () => {
  resource("uid = 12345");
  const agent = start([], "--ownership", "strict");
  await eventually(agent.log, (log) => /ERROR .*cannot set owner 12345:\d+: \w+/.test(log));
  expect(scene.exists("out/file")).toBe(false);
});

it("CONFD-TPL-42 CONFD-PROC-8 a template that loops is stopped with a clear word, and the others go on", async () => {
  scene.resource("loops", { template: "{{range 1000000000}}{{range 1000000000}}{{end}}{{end}}" });
  scene.resource("floods", { template: '{{range 200}}{{printf "%1000000d" 1}}{{end}}' });
  resource();
  const agent = start([]);
  await becomes(agent, "one");
  await eventually(
    agent.log,
    (log) => log.includes("does the template loop?") && log.includes("rendered text exceeds 67108864 bytes"),
  );
  scene.write("values/a.yaml", "name: two\n");
  await becomes(agent, "two");
});

it("CONFD-FBE-9 where the system gives no notices, or too few, files are looked at", async () => {
  scene.write("values/deep/b.yaml", "other: 1\n");
  resource();
  // The agent is root of a user namespace, which has limits of its own: nothing is watched, or the folders of the
  // resources and one more.
  for (const [limit, allowed] of [
    ["max_inotify_instances", 0],
    ["max_inotify_watches", 4],
  ] as const) {
    scene.write("values/a.yaml", "name: one\n");
    const agent = start([`echo ${allowed} > /proc/sys/user/${limit}`]);
    await becomes(agent, "one");
    scene.write("values/a.yaml", "name: two\n");
    await becomes(agent, "two");
    scene.write("values/deep/b.yaml", "name: deep\n");
    await becomes(agent, "deep");
    scene.write("values/deep/b.yaml", "other: 1\n");
    await becomes(agent, "two");
    expect((await agent.stop()).code).toBe(0);
  }
});

it("CONFD-CMD-11 without a shell a check fails with that reason, and the file stays", async () => {
  scene.write("out/file", "old");
  resource('check_cmd = "true"');
  const agent = start(['mount -t tmpfs tmpfs "$(dirname "$(readlink -f /bin/sh)")"']);
  await eventually(agent.log, (log) => log.includes("Config check failed: no shell: /bin/sh"));
  expect(seen(agent)).toBe("old");
});
