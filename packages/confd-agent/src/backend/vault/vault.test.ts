/** Against a stand-in of Vault's documented API. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { becomes, createScene, eventually, type Scene } from "../../agent.testkit.ts";
import { startServer } from "../http.testkit.ts";
import { ROOT_TOKEN, startVaultDouble, type VaultDouble } from "./vault.testkit.ts";

let scene: Scene;
let vault: VaultDouble;
beforeEach(async () => {
  scene = createScene();
  vault = await startVaultDouble({ denied: ["secret/hidden", "list secret/app"] });
});
afterEach(async () => {
  await scene.close();
  await vault.close();
});
const args = (...more: readonly string[]): string[] => ["vault", "-node", `http://${vault.address}`, ...more];
const ROOT = ["-auth-token", ROOT_TOKEN];
const ROLE = ["-auth-type", "app-role", "-role-id", "role", "-secret-id", "s3cret"];
const ALL =
  '{{range gets "/*"}}{{.Key}}={{.Value}};{{end}}{{range gets "/*/*"}}{{.Key}}={{.Value}};{{end}}{{range gets "/*/*/*"}}{{.Key}}={{.Value}};{{end}}';

describe("Vault as a source", () => {
  for (const mount of ["secret", "old"]) {
    it(`CONFD-VAULT-1 CONFD-VAULT-2 reads secrets and their fields, and folders of them (${mount})`, async () => {
      vault.put(`${mount}/app`, { user: "ü", port: 5432, on: true, deep: { a: "x" }, list: ["no key"] });
      vault.put(`${mount}/app/plain`, { value: "text" });
      vault.put(`${mount}/application`, { value: "another" });
      scene.resource("out", { keys: [`/${mount}/app`], template: ALL, lines: [`prefix = ""`] });
      scene.resource("prefixed", {
        keys: ["/app"],
        template: '{{getv "/app/plain"}}',
        lines: [`prefix = "/${mount}"`],
      });
      expect(await scene.run(args("-onetime", ...ROOT))).toMatchObject({ code: 0 });
      expect(scene.read("prefixed")).toBe("text");
      const json = '{"deep":{"a":"x"},"list":["no key"],"on":true,"port":5432,"user":"ü"}';
      expect(scene.read("out")).toBe(
        `/${mount}/app=${json};/${mount}/app/on=true;/${mount}/app/plain=text;/${mount}/app/port=5432;/${mount}/app/user=ü;`,
      );
    });
  }

  it("CONFD-CFG-17 the difference of a file with its secrets is not shown, and one that all may read is told", async () => {
    vault.put("secret/app", { value: "very-secret" });
    scene.resource("out", { keys: ["/secret/app"], template: '{{getv "/secret/app"}}' });
    const shown = await scene.run(args("-onetime", "-noop", "-diff", ...ROOT));
    expect(shown.stdout).toContain(`+++ ${scene.path("out")}\n(holds secrets: -diff-secrets shows them)`);
    expect(shown.stdout + shown.stderr).not.toContain("very-secret");
    const wanted = await scene.run(args("-onetime", "-noop", "-diff", "-diff-secrets", ...ROOT));
    expect(wanted.stdout).toContain("+very-secret");
    const written = await scene.run(args("-onetime", ...ROOT));
    expect(written.stderr).toContain("holds secrets and is readable by all (mode 0644)");
    expect(scene.read("out")).toBe("very-secret");
  });

  it("CONFD-CFG-17 what its commands print has none of its secrets, in no form that its template made of them", async () => {
    vault.put("secret/app", { user: "ann-of-app", password: "very-secret" });
    const template =
      'user={{getv "/secret/app/user"}} basic={{base64Encode (getv "/secret/app/password")}} {{(json (getv "/secret/app")).password}}';
    scene.resource("checked", {
      keys: ["/secret/app"],
      template,
      lines: ['check_cmd = "cat {{.src}}; echo in line 3; exit 7"'],
    });
    scene.resource("reloaded", {
      keys: ["/secret/app"],
      template,
      lines: ['check_cmd = "cat {{.src}}"', 'reload_cmd = "cat {{.dest}}; exit 8"'],
    });
    const { code, stdout, stderr } = await scene.run(args("-onetime", "-log-level", "debug", ...ROOT));
    expect(code).toBe(1);
    const shown = '"user=<hidden> basic=<hidden> <hidden>';
    expect(stderr).toContain(`Config check failed: exit status 7: ${shown}in line 3\\n"`);
    expect(stderr).toContain(`check_cmd printed ${shown}"`);
    expect(stderr).toContain(`Reload failed: exit status 8: ${shown}"; it stays due`);
    const encoded = Buffer.from("very-secret").toString("base64");
    expect(stdout + stderr).not.toMatch(new RegExp(`very|ann-of|${encoded.slice(0, 6)}`));
  });

  it.each([
    ['{{getv "/secret/app" | atoi}}', ":1:23: ", "error calling atoi: strconv.Atoi: invalid syntax"],
    [
      '\n {{parseBool (getv "/secret/app")}}',
      ":2:3: ",
      "calling parseBool: strconv.ParseBool: invalid syntax",
    ],
    ['{{getv "/secret/app" | json}}', ":1:23: ", "error calling json: invalid character looking for"],
    ['{{getv (getv "/secret/app")}}', ":1:2: ", "error calling getv: key does not exist"],
    ['{{range getv "/secret/app"}}{{end}}', ":1:13: ", "range can't iterate over string"],
    ['{{include (getv "/secret/app")}}', ":1:2: ", "error calling include: what is wrong is not shown"],
    [
      '{{include "part" (getv "/secret/app")}}',
      ":1:2: ",
      "at <atoi .>: error calling atoi: strconv.Atoi: invalid",
    ],
    ['{{index (getv "/secret/app") "x"}}', ":1:2: ", "error calling index: what is wrong is not shown"],
  ])("CONFD-CFG-17 the error of a template has no value: %s", async (template, position, words) => {
    vault.put("secret/app", { value: "very-secret" });
    scene.write("templates/part", "{{atoi .}}");
    scene.resource("out", { keys: ["/secret/app"], template });
    const { code, stdout, stderr } = await scene.run(args("-onetime", ...ROOT));
    expect(code).toBe(1);
    expect(stderr).toContain(`template: out.tmpl${position}executing "out.tmpl" at <`);
    expect(stderr).toContain(words);
    expect(stdout + stderr).not.toMatch(/very|'v'/);
  });

  it.each(["json", "yaml", "toml", "xml"])("CONFD-CFG-17 nor has that of its format: %s", async (format) => {
    vault.put("secret/app", { value: "<very>: [very-secret" });
    const lines = [`output_format = "${format}"`];
    scene.resource("out", { keys: ["/secret/app"], template: '{{getv "/secret/app"}}', lines });
    const { code, stdout, stderr } = await scene.run(args("-onetime", ...ROOT));
    expect(code).toBe(1);
    expect(stderr).toContain(`output format validation failed (${format}): where is not shown`);
    expect(stdout + stderr).not.toContain("very");
  });

  it("CONFD-CFG-15 CONFD-CFG-17 an answer that is no JSON is not quoted", async () => {
    const broken = await startServer((_request, reply) => reply(200, "x very-secret"));
    scene.resource("out", { keys: ["/secret/app"], template: "x" });
    const asked = ["vault", "-node", `http://${broken.address}`, "-onetime"];
    for (const way of [ROOT, ROLE]) {
      const { code, stderr } = await scene.run([...asked, ...way]);
      expect(code).toBe(1);
      expect(stderr).toContain("vault: the answer is no JSON");
    }
    await broken.close();
  });

  it("CONFD-VAULT-3 logs in, and again when its token is taken back; a refused path is no reason to", async () => {
    vault.put("secret/app", { value: "one" });
    scene.resource("out", { keys: ["/secret/app"], template: '{{getv "/secret/app"}}' });
    scene.resource("hidden", { keys: ["/secret/hidden"], template: '{{getv "/secret/hidden"}}' });
    const agent = scene.start(args("-watch", "-interval", "1", "-watch-error-backoff", "1s", ...ROLE));
    await becomes(scene, "out", "one");
    await eventually(agent.log, (log) => log.includes("permission denied for /secret/data/hidden"));
    expect(vault.count("login")).toBe(1);
    vault.revoke();
    vault.put("secret/app", { value: "two" });
    await becomes(scene, "out", "two");
    expect(vault.count("login")).toBe(2);
    expect(agent.log()).not.toContain("s3cret");
    expect((await agent.stop()).code).toBe(0);
  });

  it("CONFD-VAULT-3 renews its token before its time is over", async () => {
    await vault.close();
    vault = await startVaultDouble({ ttl: 2 });
    vault.put("secret/app", { value: "one" });
    scene.resource("out", { keys: ["/secret/app"], template: '{{getv "/secret/app"}}' });
    scene.start(args("-watch", "-interval", "1", ...ROLE));
    await eventually(
      () => vault.count("renew"),
      (count) => count >= 2,
    );
    expect(vault.count("login")).toBe(1);
  });

  it("CONFD-VAULT-4 is read at each interval; a secret with a lease is kept for its time", async () => {
    vault.put("secret/app", { value: "one" });
    scene.resource("out", {
      keys: ["/secret/app", "/database/creds/app"],
      template: '{{getv "/secret/app"}} {{getv "/database/creds/app/username"}}',
      lines: ['reload_cmd = "echo r >> {}/reloads"'],
    });
    scene.start(args("-watch", "-interval", "1", ...ROOT));
    await becomes(scene, "out", "one u1");
    vault.put("secret/app", { value: "two" });
    await becomes(scene, "out", "two u1");
    expect(vault.count("creds")).toBe(1);
    await becomes(scene, "reloads", "r\nr\n");
  });

  it("CONFD-VAULT-5 says which way of logging in is wrong, and what is missing", async () => {
    scene.resource("out", { keys: ["/secret/app"], template: "x" });
    const problem = async (...flags: readonly string[]): Promise<string> => {
      const { code, stderr } = await scene.run(args("-onetime", ...flags));
      expect(code).toBe(1);
      return stderr;
    };
    expect(await problem()).toContain("vault: no token: give -auth-token or VAULT_TOKEN");
    expect(await problem("-auth-type", "app-id")).toContain("use app-role");
    expect(await problem("-auth-type", "magic")).toContain('auth-type "magic": use one of token, app-role');
    expect(await problem("-auth-type", "app-role", "-role-id", "role")).toContain("needs -secret-id");
    expect(await problem("-auth-type", "app-role", "-role-id", "x", "-secret-id", "y")).toContain(
      "cannot log in: HTTP 400",
    );
    const userpass = ["-auth-type", "userpass", "-path", "users", "-username", "ann", "-password", "pw"];
    expect(await scene.run(args("-onetime", ...userpass))).toMatchObject({ code: 0 });
  });

  it("CONFD-VAULT-2 a key is a mount's at least: the whole of Vault is not read", async () => {
    scene.resource("out", { keys: ["/"], template: "x" });
    expect(await scene.run(args("-onetime", ...ROOT))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("name the path of a mount"),
    });
  });
});
