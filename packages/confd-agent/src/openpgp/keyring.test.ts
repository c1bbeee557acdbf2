/** Values that confd's own encoder (RSA) and GnuPG encrypted, decrypted with keys as GnuPG and Go export them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { textOf } from "@quartet/go-template";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { loadKeyring } from "./keyring.ts";

const fixture = (name: string): string => new URL(`../../test/openpgp/${name}`, import.meta.url).pathname;
const values = JSON.parse(readFileSync(fixture("values.json"), "utf8")) as Record<string, string>;
const opened = (keyring: string, value: string): string => textOf(loadKeyring(fixture(keyring))(value));

describe("one value", () => {
  it.each([
    ["rsa.asc", "password", "p@sSw0rd"],
    ["rsa.asc", "text", 'a "quoted" line\nünd 中\n'],
    ["rsa.asc", "empty", ""],
    ["rsa.asc", "gpg", "from gpg"],
    ["rsa.asc", "hidden", "from gpg"],
    ["ecdh.asc", "hidden", "from gpg"],
    ["ecdh.asc", "ecdh", "from gpg"],
    ["elgamal.asc", "elgamal", "from gpg"],
  ])("CONFD-FN-5 key %s opens %s", (keyring, name, text) => {
    expect(opened(keyring, values[name]!)).toBe(text);
  });

  it.each(["rsa.asc", "elgamal.asc"])(
    "CONFD-FN-5 key %s opens a long one that is for two keys",
    (keyring) => {
      const digest = createHash("sha256").update(opened(keyring, values.several!)).digest("hex");
      expect(digest).toBe("159b50c0f0609bbaff8580ac34ac9ad223893e7520197c2964a4c1fd0f1f870f");
    },
  );

  it("CONFD-FN-5 one with an old cipher is an error with the remedy", () => {
    const reason = "cipher 3 of the message is not supported: encrypt it again with AES";
    expect(() => opened("cast5.asc", values.cast5!)).toThrow(reason);
  });

  const message = Buffer.from(values.gpg!, "base64");
  const changed = (at: number): string => {
    const copy = Buffer.from(message);
    copy[copy.length + at]! ^= 1;
    return copy.toString("base64");
  };
  it.each([
    ["is no base64", "p@sSw0rd", "illegal base64 data at input byte 1"],
    ["is empty", "", "the OpenPGP message is empty"],
    ["is no message", "aGVsbG8=", "not an OpenPGP message"],
    ["is cut off", message.subarray(0, -4).toString("base64"), "OpenPGP data is cut off"],
    ["was changed in its text", changed(-30), "the message was changed or damaged"],
    ["was changed in its check", changed(-1), "the message was changed or damaged"],
    [
      "is for another key",
      values.ecdh!,
      "no key of the keyring opens the message; its keys are: 449B6D51F2BC7812",
    ],
    ["holds no gzip", values.notGzip!, "gzip: incorrect header check"],
  ])("CONFD-FN-5 one that %s is an error with the step", (_, value, reason) => {
    expect(() => opened("rsa.asc", value)).toThrow(reason);
  });
});

describe("the agent", () => {
  let scene: Scene;
  beforeEach(() => {
    scene = createScene();
    scene.write(
      "values.json",
      JSON.stringify({ pw: { b: values.password, a: values.gpg }, plain: "a text" }),
    );
  });
  afterEach(() => scene.close());
  const run = (...more: string[]) =>
    scene.run(["-onetime", "-backend", "file", "-file", scene.path("values.json"), ...more]);
  const keyring = ["-secret-keyring", fixture("rsa.asc")];

  it("AS-22 CONFD-FN-5 cget, cgetv, cgets and cgetvs give the text", async () => {
    scene.resource("out", {
      keys: ["/"],
      template: `{{(cget "/pw/b").Key}}={{(cget "/pw/b").Value}}
{{cgetv "/pw/a"}}
{{range cgets "/pw/*"}}{{.Key}}:{{.Value}};{{end}}
{{cgetvs "/pw/*"}} {{getv "/plain"}}
`,
    });
    expect((await run(...keyring)).code).toBe(0);
    expect(scene.read("out")).toBe(
      "/pw/b=p@sSw0rd\nfrom gpg\n/pw/a:from gpg;/pw/b:p@sSw0rd;\n[from gpg p@sSw0rd] a text\n",
    );
  });

  it("AS-22 CONFD-FN-7 without a keyring the functions are not defined", async () => {
    scene.resource("out", { keys: ["/"], template: '{{cgetv "/pw/a"}}' });
    const { code, stderr } = await run();
    expect(code).toBe(1);
    expect(stderr).toContain('function "cgetv" not defined');
    expect(scene.exists("out")).toBe(false);
  });

  it.each([
    ["/plain", "error calling cgetv: illegal base64 data at input byte 1"],
    ["/no", "error calling cgetv: key does not exist: /no"],
  ])("CONFD-FN-5 a value that cannot be decrypted is never used as it is: %s", async (key, reason) => {
    scene.resource("out", { keys: ["/"], template: `{{cgetv "${key}"}}` });
    const { code, stderr } = await run(...keyring);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    expect(scene.exists("out")).toBe(false);
  });

  it("CONFD-CFG-17 differences of a file with decrypted values are not shown", async () => {
    scene.resource("out", { keys: ["/"], template: '{{cgetv "/pw/b"}}' });
    const { code, stdout, stderr } = await run(...keyring, "-noop", "-diff");
    expect(code).toBe(0);
    expect(stdout).toContain("-diff-secrets shows them");
    expect(stdout + stderr).not.toContain("p@sSw0rd");
    expect((await run(...keyring, "-noop", "-diff", "-diff-secrets")).stdout).toContain("+p@sSw0rd");
  });

  it("CONFD-CFG-17 the error of a template that has decrypted a value has no value; others are Go's", async () => {
    scene.resource("out", { keys: ["/"], template: '{{cgetv "/pw/b" | atoi}}' });
    scene.resource("plain", { keys: ["/"], template: '{{getv "/plain" | atoi}}' });
    const { code, stderr } = await run(...keyring);
    expect(code).toBe(1);
    expect(stderr).toContain("at <atoi>: error calling atoi: strconv.Atoi: invalid syntax");
    expect(stderr).not.toContain("p@sSw0rd");
    expect(stderr).toContain('error calling atoi: strconv.Atoi: parsing "a text": invalid syntax');
  });

  it("CONFD-CFG-17 what its commands print has no decrypted value; plain ones are shown", async () => {
    scene.resource("out", {
      keys: ["/"],
      template: '{{cgetv "/pw/b"}} {{getv "/plain"}}',
      lines: ['check_cmd = "cat {{.src}}; exit 1"'],
    });
    const { stdout, stderr } = await run(...keyring);
    expect(stderr).toContain('Config check failed: exit status 1: "<hidden> a text"');
    expect(stdout + stderr).not.toContain("p@sSw0rd");
  });

  it("CONFD-CFG-17 a file with decrypted values that everyone may read is told", async () => {
    scene.resource("out", { keys: ["/"], template: '{{cgetv "/pw/b"}}' });
    expect((await run(...keyring)).stderr).toContain("holds secrets and is readable by all (mode 0644)");
    scene.resource("out", { keys: ["/"], template: '{{cgetv "/pw/b"}}', lines: ['mode = "0644"'] });
    expect((await run(...keyring)).stderr).not.toContain("readable by all");
  });

  it.each([
    ["is missing", "/nowhere.asc", "secret-keyring /nowhere.asc: cannot be read: ENOENT"],
    ["holds no key", fixture("values.json"), "no secret key in it can decrypt; export one"],
    ["is protected", fixture("protected.asc"), "it is protected by a passphrase; export one without"],
  ])("CONFD-FN-6 a keyring that %s ends the agent at once", async (_, file, reason) => {
    scene.resource("out", { keys: ["/"], template: '{{getv "/plain"}}' });
    const { code, stderr } = await run("-secret-keyring", file);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    expect(scene.exists("out")).toBe(false);
  });
});
