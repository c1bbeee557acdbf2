/** What conf.d says. */
import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
});
afterEach(() => scene.close());
const once = (environment: Readonly<Record<string, string>> = {}, ...more: readonly string[]) =>
  scene.run(["--onetime", "--backend", "env", ...more], environment);

it("CONFD-RES-2 follows links, takes each file once, and says so when links lead back", async () => {
  scene.resource("a", { template: "a" });
  mkdirSync(scene.path("elsewhere"));
  scene.write("elsewhere/b.toml", `[template]\nsrc = "a.tmpl"\ndest = "${scene.path("b")}"\n`);
  symlinkSync(scene.path("elsewhere"), scene.path("conf.d/linked"));
  symlinkSync(scene.path("conf.d/a.toml"), scene.path("conf.d/again.toml"));
  symlinkSync(scene.path("conf.d"), scene.path("elsewhere/back"));
  const { code, stderr } = await once();
  expect(code).toBe(0);
  expect([scene.read("a"), scene.read("b")]).toEqual(["a", "a"]);
  expect(stderr).toContain("WARN");
  expect(stderr).toContain("links that lead back to themselves are not followed");
});

it("CONFD-RES-3 names of fields have no case; unknown ones are a warning with file and field", async () => {
  scene.write("templates/a", "x");
  scene.write("conf.d/a.toml", `[Template]\nSrc = "a"\nDEST = "${scene.path("a")}"\nrelaod_cmd = "x"\n`);
  const { code, stderr } = await once();
  expect(code).toBe(0);
  expect(scene.read("a")).toBe("x");
  expect(stderr).toContain("a.toml: unknown field relaod_cmd: did you mean reload_cmd?");
});

it("CONFD-RES-5 AS-11 a resource that is wrong is told with its place, and the good ones are written", async () => {
  scene.resource("good", { template: "good" });
  scene.write("conf.d/syntax.toml", '[template]\nsrc = "a"\ndest = \n');
  const wrong = { uid: 'uid = "x"', keys: 'keys = "/a"', mode: 'mode = "0888"', dest: "dest = 5" };
  for (const [name, line] of Object.entries(wrong)) {
    const dest = name === "dest" ? "" : `dest = "${scene.path(name)}"\n`;
    scene.write(`conf.d/${name}.toml`, `[template]\nsrc = "good.tmpl"\n${dest}${line}\n`);
  }
  const { code, stderr } = await once();
  expect(code).toBe(1);
  expect(scene.read("good")).toBe("good");
  expect(stderr).toMatch(/syntax\.toml:3:\d+/);
  expect(stderr).toContain("uid.toml: uid: expected a number, found a string");
  expect(stderr).toContain("keys.toml: keys: expected a list of strings, found a string");
  expect(stderr).toContain('mode: "0888" is not octal');
  expect(stderr).toContain("dest.toml: dest: expected a string");
});

it("AS-11 CONFD-PROC-1 a template that is missing or wrong, or a key, ends its resource alone", async () => {
  scene.resource("good", { template: "good" });
  scene.resource("syntax", { template: "{{if}}" });
  scene.resource("key", { template: '{{getv "/no"}}' });
  scene.write("conf.d/gone.toml", `[template]\nsrc = "gone.tmpl"\ndest = "${scene.path("gone")}"\n`);
  const { code, stderr } = await once();
  expect(code).toBe(1);
  expect(stderr).toContain(
    `Unable to process template ${scene.path("templates/syntax.tmpl")}, template: syntax.tmpl:1: missing value for if`,
  );
  expect(stderr).toContain("error calling getv: key does not exist: /no");
  expect(stderr).toContain("Missing template:");
  expect(scene.read("good")).toBe("good");
  for (const name of ["syntax", "key", "gone"]) expect(scene.exists(name)).toBe(false);
});

it("CONFD-RES-7 an owner that does not exist is named; one that does is looked up", async () => {
  scene.resource("a", { template: "x", lines: ['owner = "nobody-of-this-name"'] });
  scene.resource("b", { template: "x", lines: ['group = "nobody-of-this-name"'] });
  scene.resource("c", { template: "x", lines: ['owner = "root"', 'group = "root"'] });
  const { stderr } = await once();
  expect(stderr).toContain("cannot find owner nobody-of-this-name");
  expect(stderr).toContain("cannot find group nobody-of-this-name");
  expect(scene.read("c")).toBe("x");
});

it("CONFD-RES-10 CONFD-RES-11 a star at the end of a key is left out, and no keys are fine", async () => {
  scene.resource("star", { keys: ["/app/*"], template: '{{getv "/app/a/b"}}{{getv "/app" "-"}}' });
  scene.resource("none", { template: "{{range seq 1 3}}{{.}}{{end}}{{range gets `/*`}}x{{end}}" });
  expect((await once({ APP_A_B: "1", APP: "2" })).code).toBe(0);
  expect([scene.read("star"), scene.read("none")]).toEqual(["12", "123"]);
});

it("CONFD-CMD-1 a check_cmd that is no template is refused when it is loaded; an unknown field is no value", async () => {
  scene.resource("bad", { template: "x", lines: ['check_cmd = "test {{.src"'] });
  scene.resource("other", {
    template: "x",
    lines: ["check_cmd = \"echo '{{.other}}' > {}/seen; test -s {{ .src }}\""],
  });
  const { code, stderr } = await once();
  expect(code).toBe(1);
  expect(stderr).toContain("bad.toml: invalid check_cmd: ");
  expect(scene.exists("bad")).toBe(false);
  expect(scene.read("seen")).toBe("<no value>\n");
});

it("CONFD-CMD-10 a path that the shell would read as something else is a warning", async () => {
  scene.resource("a", {
    template: "x",
    dest: scene.path("a b"),
    lines: ['reload_cmd = "cat {{.dest}}; true"'],
  });
  const { stderr } = await once();
  expect(stderr).toContain('write "$CONFD_SRC" and "$CONFD_DEST" in commands');
});

it("CONFD-OPS-5 -check-config names every problem and asks no backend", async () => {
  scene.resource("a", { template: "x", dest: scene.path("missing/a") });
  scene.resource("b", { template: "x", lines: ['mode = "rw"'] });
  scene.write(
    "conf.d/c.toml",
    `[template]\nsrc = "gone"\ndest = "${scene.path("c")}"\n[backend]\nbackend = "ectd"\n`,
  );
  const { code, stderr } = await scene.run(["--check-config", "--backend", "etcd", "--node", "127.0.0.1:1"]);
  expect(code).toBe(1);
  for (const problem of [
    "no folder",
    'mode: "rw" is not octal',
    "src: no template",
    'Invalid backend "ectd"',
  ])
    expect(stderr).toContain(problem);
  const one = await scene.run(["--check-config", "--backend", "env", "--resource", "a.toml"]);
  expect(one.stderr).not.toContain("octal");
});

it("CONFD-OPS-6 CONFD-FN-3 CONFD-FN-7 -validate parses all templates, and renders them with made-up values", async () => {
  scene.resource("good", { template: '{{getv "/db/port"}}{{range ls "/db"}}{{.}}{{end}}{{.db.port}}' });
  const validate = (...more: readonly string[]) => scene.run(["--validate", "--backend", "env", ...more]);
  expect((await validate()).code).toBe(0);
  scene.write("mock.json", '{"db": {"port": 5432}}');
  expect((await validate("--mock-data", scene.path("mock.json"))).code).toBe(0);
  scene.resource("bad", { template: '{{getv "/db/host"}}' });
  scene.resource("secret", { template: '{{cgetv "/x"}}' });
  const { code, stderr } = await validate("--mock-data", scene.path("mock.json"));
  expect(code).toBe(1);
  expect(stderr).toContain("key does not exist: /db/host");
  expect(stderr).toContain('function "cgetv" not defined');
  expect(scene.exists("good")).toBe(false);
});
