import { bytesOf, textOf } from "@quartet/go-template";
import { expect, it } from "vitest";
import { createSecretTexts, hideSecrets, secretTextsOf } from "./secrets.ts";

const hide = (text: string, ...secrets: readonly string[]): string =>
  textOf(hideSecrets(bytesOf(text), secrets.map(bytesOf)));

it.each([
  ["a value", 'near "p@sSw0rd-long" in f:3', ["p@sSw0rd-long"], 'near "<hidden>" in f:3'],
  ["one beside another", "p@sSw0rd-longhunter2", ["p@sSw0rd-long", "hunter2"], "<hidden>"],
  ["its beginning, cut off", 'near "p@sSw0rd', ["p@sSw0rd-long"], 'near "<hidden>'],
  ["a line of it", "bad line: AQEBAQEB", ["-----BEGIN\nAQEBAQEB\n-----END"], "bad line: <hidden>"],
  ["a short value", "unexpected hunter2;", ["hunter2"], "unexpected <hidden>;"],
  ["one that is in many places", "abcd abcdabcd", ["abcd"], "<hidden> <hidden>"],
  ["one with other letters", "bad ünïcödé here", ["ünïcödé"], "bad <hidden> here"],
  ["no text of three bytes", "line 443 of 443", ["443"], "line 443 of 443"],
  ["no run of seven bytes", "hunter2", ["hunter2 and more"], "hunter2"],
  ["nothing where there is none", "line 3", [], "line 3"],
])("CONFD-CFG-17 in what a command prints is hidden: %s", (_, text, secrets, shown) => {
  expect(hide(text, ...secrets.filter(({ length }) => length > 3))).toBe(shown);
});

it("CONFD-CFG-17 secrets are values of secret keys and what the template made of them, not plain values", () => {
  const values = new Map([
    ["/secrets/a", "secret-value"],
    ["/secrets/b", "443"],
    ["/configmaps/a", "plain-value"],
  ]);
  const printed = new Set(["c2VjcmV0", "plain-value", "secret-value"]);
  expect(secretTextsOf(values, (key) => key.startsWith("/secrets/"), printed)).toEqual([
    "secret-value",
    "c2VjcmV0",
  ]);
});

it("CONFD-CFG-17 the secrets before the last change are hidden too, and those of other files", () => {
  const secrets = createSecretTexts();
  secrets.set("/a", ["first-secret"]);
  secrets.set("/b", ["another-secret"]);
  secrets.set("/a", ["second-secret"]);
  secrets.set("/a", ["second-secret"]);
  expect(secrets.hide("first-secret second-secret another-secret")).toBe("<hidden> <hidden> <hidden>");
  secrets.set("/a", []);
  secrets.set("/a", []);
  expect(secrets.hide("first-secret second-secret another-secret")).toBe(
    "first-secret second-secret <hidden>",
  );
});

it("CONFD-CFG-17 text and secrets that are one letter again and again take no longer", () => {
  const text = `${"a".repeat(60_000)}b${"a".repeat(100)}`;
  expect(hideSecrets(text, ["a".repeat(2_000_000)])).toBe("<hidden>b<hidden>");
  expect(hideSecrets("anything", ["a".repeat(17 * 1024 * 1024)])).toBe("<hidden>");
});
