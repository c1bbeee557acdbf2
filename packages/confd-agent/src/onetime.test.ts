/** The agent once over variables and files. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScene, type Scene } from "./agent.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const ENV = {
  DATABASE_HOST: "127.0.0.1",
  DATABASE_PASSWORD: "p@sSw0rd",
  DATABASE_PORT: "3306",
  DATABASE_USERNAME: "confd",
};
const once = (args: readonly string[] = [], environment: Readonly<Record<string, string>> = ENV) =>
  scene.run(["--onetime", "--backend", "env", ...args], environment);
const mode = (name: string): string => (statSync(scene.path(name)).mode & 0o7777).toString(8);

describe("a pass over the environment", () => {
  it("CONFD-PROC-4 CONFD-ENVB-1 renders once even when it is told to watch", async () => {
    scene.resource("basic", {
      keys: ["/database"],
      template:
        'hostname: {{getenv "HOSTNAME"}}\n[database]\nhost={{getv "/database/host"}}\npassword={{getv "/database/password"}}\n',
    });
    const { code } = await once(["--watch", "--interval", "5"], { ...ENV, DATABASEX: "no" });
    expect(code).toBe(0);
    expect(scene.read("basic")).toBe("hostname: localhost\n[database]\nhost=127.0.0.1\npassword=p@sSw0rd\n");
    expect(mode("basic")).toBe("644");
  });

  it("CONFD-FILE-4 leaves a file alone that is right: no check, no reload, no new time", async () => {
    scene.resource("a", {
      template: "x",
      lines: ['check_cmd = "echo c >> {}/ran"', 'reload_cmd = "echo r >> {}/ran"'],
    });
    await once();
    expect(scene.read("ran")).toBe("c\nr\n");
    const before = statSync(scene.path("a"));
    expect((await once()).code).toBe(0);
    expect(scene.read("ran")).toBe("c\nr\n");
    expect(statSync(scene.path("a"))).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino });
    expect(readdirSync(scene.folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("AS-9 CONFD-CMD-2 CONFD-PROC-1 a failing check keeps file and service as they were", async () => {
    scene.write("a", "old");
    scene.resource("a", {
      template: "new",
      lines: [
        'check_cmd = "cat {{.src}} > {}/seen; echo why >&2; exit 3"',
        'reload_cmd = "touch {}/reloaded"',
      ],
    });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain('Config check failed: exit status 3: "why\\n"');
    expect(scene.read("a")).toBe("old");
    expect(scene.read("seen")).toBe("new");
    expect(scene.exists("reloaded")).toBe(false);
    expect(readdirSync(scene.folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("AS-9 CONFD-CMD-7 ends a check that takes too long", async () => {
    scene.resource("a", { template: "x", lines: ['check_cmd = "sleep 60"', 'check_cmd_timeout = "300ms"'] });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain("Config check failed: timed out after 300ms");
    expect(scene.exists("a")).toBe(false);
  });

  it("CONFD-CMD-6 does not wait for what a reload leaves in the background", async () => {
    scene.resource("a", {
      template: "x",
      lines: ['reload_cmd = "(sleep 3; echo late >> {}/late) & echo now"'],
    });
    const { code, stderr } = await once(["--log-level", "debug"]);
    expect(code).toBe(0);
    expect(stderr).toContain('reload_cmd printed "now\\n"');
    expect(scene.exists("late")).toBe(false);
  });

  it("CONFD-CMD-8 keeps the beginning of what a command prints without end", async () => {
    scene.resource("a", { template: "x", lines: ['check_cmd = "yes confd | head -c 20000000; exit 1"'] });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr.length).toBeLessThan(150_000);
    expect(stderr).toContain("Config check failed: exit status 1");
  });

  it("CONFD-CMD-5 CONFD-CMD-9 commands know what they are about", async () => {
    scene.resource("a", {
      template: "x",
      lines: [
        `check_cmd = 'test "$CONFD_ACTION:$CONFD_SRC" = "check:{{.src}}"'`,
        `reload_cmd = 'echo "$CONFD_ACTION $CONFD_RESOURCE {{.dest}} {{ .src }} {{.Names}}" > {}/said'`,
      ],
    });
    expect((await once()).code).toBe(0);
    const dest = scene.path("a");
    expect(scene.read("said")).toBe(`reload a.toml ${dest} ${dest} {{.Names}}\n`);
  });

  it("AS-10 CONFD-PROC-2 CONFD-PROC-8 best effort writes the good files and names both errors, fail-fast stops", async () => {
    for (const name of ["a-good", "c-good"]) scene.resource(name, { template: "ok" });
    for (const name of ["b-bad", "d-bad"]) scene.resource(name, { template: `{{getv "/${name}"}}` });
    const best = await once();
    expect(best.code).toBe(1);
    expect(best.stderr).toContain("key does not exist: /b-bad");
    expect(best.stderr).toContain("key does not exist: /d-bad");
    expect([scene.read("a-good"), scene.read("c-good")]).toEqual(["ok", "ok"]);
    scene.resource("a-good", { template: '{{getv "/first"}}' });
    scene.resource("c-good", { template: "new" });
    expect((await once(["--failure-mode", "fail-fast"])).code).toBe(1);
    expect(scene.read("c-good")).toBe("ok");
  });

  it("CONFD-PROC-17 resources of one pass that have the same reload share it", async () => {
    for (let i = 0; i < 5; i++) {
      scene.resource(`f${i}`, { template: "x", lines: ['reload_cmd = "ls {} | grep -c ^f >> {}/reloads"'] });
    }
    expect((await once()).code).toBe(0);
    expect(scene.read("reloads")).toBe("5\n");
  });

  it("CONFD-PROC-13 CONFD-OPS-7 noop shows what would change and touches nothing", async () => {
    scene.write("a", "one\ntwo\n");
    scene.resource("a", { template: "one\nthree\n", lines: ['check_cmd = "touch {}/ran"'] });
    const { code, stdout, stderr } = await once(["--noop", "--diff"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`Noop mode enabled. ${scene.path("a")} will not be modified`);
    expect(stdout).toBe(
      `--- ${scene.path("a")}\n+++ ${scene.path("a")}\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n`,
    );
    expect(scene.read("a")).toBe("one\ntwo\n");
    expect(scene.exists("ran")).toBe(false);
  });

  it("CONFD-PROC-14 sync-only writes without commands", async () => {
    scene.resource("a", {
      template: "x",
      lines: ['check_cmd = "touch {}/ran"', 'reload_cmd = "touch {}/ran"'],
    });
    expect((await once(["--sync-only"])).code).toBe(0);
    expect(scene.read("a")).toBe("x");
    expect(scene.exists("ran")).toBe(false);
  });

  it.each([
    ["json", '{"a":1}', "{"],
    ["yaml", "a: [1]", "a: [1"],
    ["toml", "a = 1", "a = "],
    ["xml", "<a><b/><!-- > --></a>", "<a><b></a>"],
  ])("CONFD-PROC-15 %s that does not parse is refused", async (format, good, bad) => {
    const lines = [`output_format = "${format}"`];
    scene.resource("a", { template: good, lines });
    expect((await once()).code).toBe(0);
    scene.resource("a", { template: bad, lines });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain(`output format validation failed (${format}): `);
    expect(scene.read("a")).toBe(good);
  });
});

describe("files", () => {
  it.each([
    ["0644", "644"],
    ["600", "600"],
    ["0o755", "755"],
  ])("AS-12 CONFD-FILE-1 CONFD-RES-6 mode %s is octal whatever the mask", async (written, expected) => {
    scene.resource("a", { template: "x", lines: [`mode = "${written}"`] });
    const before = process.umask(0o077);
    try {
      expect((await once()).code).toBe(0);
    } finally {
      process.umask(before);
    }
    expect(mode("a")).toBe(expected);
  });

  it("CONFD-FILE-1 keeps the mode of a file when none is given", async () => {
    scene.write("a", "old");
    chmodSync(scene.path("a"), 0o640);
    scene.resource("a", { template: "new" });
    expect((await once()).code).toBe(0);
    expect(mode("a")).toBe("640");
  });

  it("CONFD-FILE-7 writes where a link leads, and the link stays", async () => {
    mkdirSync(scene.path("real"));
    symlinkSync("real/file", scene.path("a"));
    scene.resource("a", { template: "x" });
    expect((await once()).code).toBe(0);
    expect(lstatSync(scene.path("a")).isSymbolicLink()).toBe(true);
    expect(readlinkSync(scene.path("a"))).toBe("real/file");
    expect(scene.read("real/file")).toBe("x");
  });

  it("CONFD-FILE-11 a missing folder is named, or made where that is wanted", async () => {
    scene.resource("a", { template: "x", dest: scene.path("deep/er/a") });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `the folder ${scene.path("deep/er")} does not exist: create it or set make_dirs = true`,
    );
    scene.resource("a", { template: "x", dest: scene.path("deep/er/a"), lines: ["make_dirs = true"] });
    expect((await once()).code).toBe(0);
    expect(scene.read("deep/er/a")).toBe("x");
  });

  it("CONFD-FILE-13 keeps the newest candidate under its stage name", async () => {
    scene.resource("a", { template: "x" });
    await once(["--keep-stage-file"]);
    const { stderr } = await once(["--keep-stage-file"]);
    const staged = readdirSync(scene.folder).filter((name) => /^\.a\.[0-9a-f]{12}$/.test(name));
    expect(staged).toHaveLength(1);
    expect(scene.read(staged[0]!)).toBe("x");
    expect(stderr).toContain(`Keeping staged file: ${scene.path(staged[0]!)}`);
  });

  it("CONFD-FILE-15 CONFD-FILE-16 writes the rendered bytes, none added", async () => {
    scene.resource("a", { template: "{{- /* nothing */ -}}" });
    scene.resource("b", { template: '{{"\\xff\\x00"}}' });
    expect((await once()).code).toBe(0);
    expect(statSync(scene.path("a")).size).toBe(0);
    expect(statSync(scene.path("b")).size).toBe(2);
  });
});

describe("resources", () => {
  it("CONFD-RES-1 CONFD-RES-4 loads folders below, skips dot names, refuses what is incomplete and goes on", async () => {
    scene.resource("sub/a", { template: "x", dest: scene.path("out") });
    scene.write("conf.d/..2024/b.toml", "[template]\n");
    scene.write("conf.d/c.toml", '[template]\ndest = "/tmp/x"\n');
    scene.write("conf.d/d.toml", '[template]\nsrc = "d"\nmode = "rw"\ndest = "/tmp/x"');
    scene.write("conf.d/e.toml", "[template]\nsrc = \n");
    scene.write("conf.d/f.toml", '[template]\nsrc = "f"\ndest = "/tmp/x"\nkeys = "/a"\n');
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(scene.read("out")).toBe("x");
    expect(stderr).toContain("c.toml: empty src template");
    expect(stderr).toContain('d.toml: mode: "rw" is not octal: write it as "0644"');
    expect(stderr).toMatch(/e\.toml:2:\d+: /);
    expect(stderr).toContain("f.toml: keys: expected a list of strings, found a string");
    expect(stderr).not.toContain("..2024");
  });

  it("CONFD-RES-12 refuses two resources for one file", async () => {
    scene.resource("a", { template: "a", dest: scene.path("same") });
    scene.resource("b", { template: "b", dest: scene.path("same") });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `${scene.path("conf.d/a.toml")}: dest ${scene.path("same")} is written by ${scene.path("conf.d/b.toml")} too`,
    );
    expect(scene.exists("same")).toBe(false);
  });

  it("CONFD-RES-13 a resource's own backend holds for it alone", async () => {
    scene.write("values.yaml", "name: from file\n");
    scene.resource("a", { keys: ["/name"], template: '{{getv "/name"}}' });
    scene.resource("b", {
      keys: ["/name"],
      template: '{{getv "/name"}}',
      lines: ["[backend]", 'backend = "file"', 'file = ["{}/values.yaml"]'],
    });
    expect((await once([], { NAME: "from env" })).code).toBe(0);
    expect([scene.read("a"), scene.read("b")]).toEqual(["from env", "from file"]);
  });

  it("CONFD-RES-16 no resources are a warning", async () => {
    const { code, stderr } = await once();
    expect(code).toBe(0);
    expect(stderr).toContain("Found no templates");
  });

  it("CONFD-STORE-1 CONFD-RES-8 the prefix of the command line replaces that of the resource, or stands before it", async () => {
    const variables = { APP_NAME: "app", GLOBAL_APP_NAME: "both", GLOBAL_NAME: "global" };
    scene.resource("a", { keys: ["/name"], template: '{{getv "/name"}}', lines: ['prefix = "/app"'] });
    await once([], variables);
    expect(scene.read("a")).toBe("app");
    await once(["--prefix", "global"], variables);
    expect(scene.read("a")).toBe("global");
    await once(["--prefix", "global", "--prefix-mode", "join"], variables);
    expect(scene.read("a")).toBe("both");
  });

  it("CONFD-RES-9 a key cannot leave its prefix", async () => {
    scene.resource("a", { keys: ["../secret"], template: "", lines: ['prefix = "/app"'] });
    const { code, stderr } = await once();
    expect(code).toBe(1);
    expect(stderr).toContain("a.toml: keys: key escapes prefix: ../secret");
  });
});

describe("included files", () => {
  it("AS-20 includes render, and what includes itself or lies outside is refused", async () => {
    scene.write("templates/parts/head.tmpl", '<{{include "parts/inner.tmpl" .}}>');
    scene.write("templates/parts/inner.tmpl", "{{.}}");
    scene.resource("a", { template: '{{include "parts/head.tmpl" "x"}}' });
    expect((await once()).code).toBe(0);
    expect(scene.read("a")).toBe("<x>");
    for (const [template, problem] of [
      ['{{include "a.tmpl"}}', "include a.tmpl: includes itself"],
      ['{{include "../conf.d/a.toml"}}', "include ../conf.d/a.toml: outside of"],
      ['{{include "none"}}', "include none: no such file"],
    ] as const) {
      scene.resource("a", { template });
      const { code, stderr } = await once();
      expect(code).toBe(1);
      expect(stderr).toContain(problem);
      expect(scene.read("a")).toBe("<x>");
    }
  });
});
