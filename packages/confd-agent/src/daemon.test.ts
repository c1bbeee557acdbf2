/** The agent as a process that goes on, over files. */
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const start = (args: readonly string[] = []): RunningAgent =>
  scene.start([
    "--backend",
    "file",
    "--file",
    scene.path("values"),
    "--watch",
    "--watch-error-backoff",
    "100ms",
    ...args,
  ]);
const lines = (name: string): number => (scene.exists(name) ? scene.read(name).split("\n").length - 1 : 0);
const value = (key: string): string => `{{getv "${key}"}}`;

describe("watching files", () => {
  beforeEach(() => scene.write("values/a.yaml", "name: one\nother: 1\n"));

  it("CONFD-FBE-7 CONFD-FBE-8 sees files replaced, new ones in new folders, and swapped links", async () => {
    mkdirSync(scene.path("values/..1"));
    scene.write("values/..1/linked.yaml", "linked: first\n");
    symlinkSync("..1", scene.path("values/..data"));
    symlinkSync("..data/linked.yaml", scene.path("values/linked.yaml"));
    scene.resource("out", {
      keys: ["/"],
      template: '{{getv "/name"}} {{getv "/new" "-"}} {{getv "/linked"}}',
    });
    const agent = start();
    await becomes(scene, "out", "one - first");
    scene.write("values/.a.new", "name: two\n");
    renameSync(scene.path("values/.a.new"), scene.path("values/a.yaml"));
    await becomes(scene, "out", "two - first");
    scene.write("values/deep/b.json", '{"new": 1.10}');
    await becomes(scene, "out", "two 1.1 first");
    scene.write("values/..2/linked.yaml", "linked: second\n");
    symlinkSync("..2", scene.path("values/..new"));
    renameSync(scene.path("values/..new"), scene.path("values/..data"));
    await becomes(scene, "out", "two 1.1 second");
    expect((await agent.stop()).code).toBe(0);
  });

  it("CONFD-FBE-5 CONFD-WATCH-10 a file that does not parse leaves the last good text, and heals", async () => {
    scene.resource("out", { keys: ["/name"], template: value("/name") });
    const agent = start();
    await becomes(scene, "out", "one");
    scene.write("values/a.yaml", "name: [\n");
    await eventually(agent.log, (log) => /a\.yaml:\d+:\d+: /.test(log));
    expect(scene.read("out")).toBe("one");
    scene.write("values/a.yaml", "name: two\n");
    await becomes(scene, "out", "two");
    await eventually(agent.log, (log) => log.includes("works again"));
  });

  it("CONFD-CMD-3 a reload that fails stays due until it succeeds", async () => {
    scene.resource("out", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['reload_cmd = "echo r >> {}/reloads; test $(wc -l < {}/reloads) -ge 3"'],
    });
    const agent = start();
    await eventually(
      () => lines("reloads"),
      (count) => count === 3,
    );
    await eventually(agent.log, (log) => log.includes("works again"));
    expect(scene.read("out")).toBe("one");
    expect(agent.log()).toContain("Reload failed: exit status 1; it stays due");
    expect((await agent.stop()).code).toBe(0);
    expect(lines("reloads")).toBe(3);
  });

  it("AS-8 CONFD-WATCH-1 CONFD-PROC-9 a change whose check failed is taken up again without a further change", async () => {
    scene.resource("out", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['check_cmd = "test -e {}/allowed"', 'reload_cmd = "echo r >> {}/reloads"'],
    });
    const agent = start();
    await eventually(agent.log, (log) => log.includes("Config check failed: exit status 1"));
    expect(scene.exists("out")).toBe(false);
    scene.write("allowed", "");
    await becomes(scene, "out", "one");
    await eventually(
      () => lines("reloads"),
      (count) => count === 1,
    );
  });

  it("CONFD-PROC-8 CONFD-PROC-7 a check that hangs holds up its own resource alone", async () => {
    scene.resource("stuck", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['check_cmd = "sleep 600"'],
    });
    scene.resource("out", { keys: ["/name"], template: value("/name") });
    const agent = start(["--shutdown-timeout", "1s"]);
    await becomes(scene, "out", "one");
    scene.write("values/a.yaml", "name: two\n");
    await becomes(scene, "out", "two");
    expect((await agent.stop()).code).toBe(0);
  });

  it("CONFD-RES-14 CONFD-RES-15 AS-14 follows conf.d and templates without a signal", async () => {
    scene.resource("a", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['reload_cmd = "echo r >> {}/reloads"'],
    });
    const agent = start();
    await eventually(
      () => lines("reloads"),
      (count) => count === 1,
    );
    scene.resource("b", { keys: ["/name"], template: `b ${value("/name")}` });
    await becomes(scene, "b", "b one");
    scene.write("templates/a.tmpl", "new template");
    await becomes(scene, "a", "new template");
    await eventually(
      () => lines("reloads"),
      (count) => count === 2,
    );
    rmSync(scene.path("conf.d/b.toml"));
    scene.write("conf.d/broken.toml", "[template");
    await eventually(agent.log, (log) => log.includes("broken.toml:1:"));
    rmSync(scene.path("b"));
    for (let i = 0; i < 3; i++) agent.signal("SIGHUP");
    scene.write("values/a.yaml", "name: two\n");
    scene.write("templates/a.tmpl", value("/name"));
    await becomes(scene, "a", "two");
    expect(scene.exists("b")).toBe(false);
    expect((await agent.stop()).code).toBe(0);
  });

  it("CONFD-RES-17 CONFD-RES-1 mounted ConfigMaps that are swapped by their link are one change", async () => {
    for (const folder of ["conf.d", "templates"]) {
      rmSync(scene.path(folder), { recursive: true });
      mkdirSync(scene.path(`${folder}/..1`), { recursive: true });
      symlinkSync("..1", scene.path(`${folder}/..data`));
    }
    const write = (version: number, text: string): void => {
      for (const [file, content] of [
        ["templates/..N/x.tmpl", text],
        ["templates/..N/y.tmpl", "{{/* changes too */}}"],
        ["conf.d/..N/x.toml", `[template]\nsrc = "x.tmpl"\ndest = "${scene.path("out")}"\n# ${version}\n`],
      ] as const) {
        scene.write(file.replace("N", String(version)), content);
      }
    };
    const swap = (folder: string): void => {
      symlinkSync("..2", scene.path(`${folder}/..new`));
      renameSync(scene.path(`${folder}/..new`), scene.path(`${folder}/..data`));
      rmSync(scene.path(`${folder}/..1`), { recursive: true });
    };
    write(1, "first");
    for (const name of ["x.tmpl", "y.tmpl"]) symlinkSync(`..data/${name}`, scene.path(`templates/${name}`));
    symlinkSync("..data/x.toml", scene.path("conf.d/x.toml"));
    const agent = start();
    await becomes(scene, "out", "first");
    write(2, "second");
    for (const folder of ["templates", "conf.d"]) swap(folder);
    await becomes(scene, "out", "second");
    expect((await agent.stop()).code).toBe(0);
    expect(agent.log().split("has been updated")).toHaveLength(3);
    expect(agent.log()).not.toContain("ERROR");
  });

  it("CONFD-OPS-8 CONFD-FILE-6 two agents with the same files: readers see whole texts, and the last one stays", async () => {
    const text = (name: string): string => `${name} `.repeat(20_000);
    scene.resource("out", { keys: ["/name"], template: `{{range 20000}}${value("/name")} {{end}}` });
    const agents = [start(), start()];
    await becomes(scene, "out", text("one"));
    for (const name of ["two", "three", "four", "five"]) {
      scene.write("values/.new", `name: ${name}\n`);
      renameSync(scene.path("values/.new"), scene.path("values/a.yaml"));
      const seen = new Set<string>();
      await eventually(
        () => scene.read("out"),
        (found) => seen.add(found) && found === text(name),
      );
      for (const found of seen) expect(found === text(found.split(" ")[0]!)).toBe(true);
    }
    for (const agent of agents) expect((await agent.stop()).stderr).not.toContain("ERROR");
    expect(readdirSync(scene.folder).sort()).toEqual(["conf.d", "out", "templates", "values"]);
  });

  it("CONFD-FILE-14 CONFD-OPS-2 a file edited by hand is restored by a comparison", async () => {
    scene.resource("out", { keys: ["/name"], template: `${value("/name")} {{datetime.UnixNano}}` });
    const agent = start();
    await eventually(() => scene.exists("out"), Boolean);
    const before = scene.read("out");
    scene.write("out", "by hand");
    agent.signal("SIGUSR1");
    // The text is the rendered one from before: the same values are not rendered again.
    await becomes(scene, "out", before);
  });

  it("CONFD-DEB-1 CONFD-DEB-4 changes in quick succession are one run, and a waiting one is done before the end", async () => {
    scene.resource("out", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['debounce = "2s"', 'reload_cmd = "echo r >> {}/reloads"'],
    });
    const agent = start();
    await eventually(
      () => lines("reloads"),
      (count) => count === 1,
    );
    for (let i = 0; i < 5; i++) {
      writeFileSync(scene.path("values/a.yaml"), `name: v${i}\n`);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await becomes(scene, "out", "v4");
    await eventually(
      () => lines("reloads"),
      (count) => count >= 2,
    );
    scene.write("values/a.yaml", "name: last\n");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await agent.stop()).code).toBe(0);
    expect(scene.read("out")).toBe("last");
    // Seven changes, each of which would be a run of its own.
    expect(lines("reloads")).toBeLessThan(6);
  });

  it("CONFD-CMD-12 reloads within the least interval are one, at its end", async () => {
    scene.resource("out", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['min_reload_interval = "3s"', 'reload_cmd = "cat {{.dest}} >> {}/reloads; echo >> {}/reloads"'],
    });
    start();
    await becomes(scene, "reloads", "one\n");
    for (const name of ["two", "three"]) {
      scene.write("values/a.yaml", `name: ${name}\n`);
      await becomes(scene, "out", name);
    }
    await becomes(scene, "reloads", "one\nthree\n");
  });

  it("CONFD-CMD-4 CONFD-OPS-11 a reload that was due survives a kill when there is a state file", async () => {
    scene.resource("out", {
      keys: ["/name"],
      template: value("/name"),
      lines: ['reload_cmd = "echo r >> {}/reloads; test -e {}/allowed"'],
    });
    const first = start(["--state-file", scene.path("state")]);
    await eventually(
      () => lines("reloads"),
      (count) => count >= 1,
    );
    first.signal("SIGKILL");
    await first.ended();
    scene.write("allowed", "");
    const before = lines("reloads");
    const second = start(["--state-file", scene.path("state")]);
    await eventually(
      () => lines("reloads"),
      (count) => count === before + 1,
    );
    await eventually(
      () => scene.read("state"),
      (text) => text === '{"reloads":[]}',
    );
    await second.stop();
  });

  it("CONFD-OPS-3 CONFD-OPS-4 tells health, readiness and metrics", async () => {
    scene.resource("good", { keys: ["/name"], template: value("/name") });
    scene.resource("bad", { keys: ["/name"], template: value("/none") });
    const agent = start(["--metrics-addr", "127.0.0.1:0"]);
    await becomes(scene, "good", "one");
    const [, port] = /health on port (\d+)/.exec(agent.log()) ?? [];
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const ready = await eventually(
      () => get("/readyz").then((response) => response.text()),
      (text) => text.includes("key does not exist"),
    );
    expect(ready).toContain(scene.path("bad"));
    expect((await get("/readyz")).status).toBe(503);
    expect((await get("/healthz")).status).toBe(200);
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain(
      `confd_template_process_total{dest="${scene.path("good")}",status="success"} 1`,
    );
    const { resources } = (await (await get("/ready/detailed")).json()) as {
      resources: { lastSuccess: string | null }[];
    };
    expect(resources.map(({ lastSuccess }) => lastSuccess !== null)).toEqual([false, true]);
  });
});

it("CONFD-PROC-3 interval mode renders again and restores what was edited", async () => {
  scene.resource("out", {
    template: '{{getenv "HOSTNAME"}}',
    lines: ['reload_cmd = "echo r >> {}/reloads"'],
  });
  scene.start(["--backend", "env", "--interval", "1"]);
  await becomes(scene, "out", "localhost");
  scene.write("out", "by hand");
  await becomes(scene, "out", "localhost");
  await eventually(
    () => lines("reloads"),
    (count) => count === 2,
  );
});

it("CONFD-RES-16 CONFD-OPS-1 starts without resources and waits for them", async () => {
  const agent = scene.start(["--backend", "env", "--watch"], { NAME: "n" });
  await eventually(agent.log, (log) => log.includes("Found no templates"));
  scene.resource("out", { keys: ["/name"], template: value("/name") });
  await becomes(scene, "out", "n");
  expect((await agent.stop()).code).toBe(0);
});
