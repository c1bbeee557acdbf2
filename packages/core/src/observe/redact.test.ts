import { describe, expect, it } from "vitest";
import { nested } from "../testkit/nested.ts";
import { expectLinear, textOf } from "../testkit/worst-input.ts";
import { redactFields, redactText } from "./redact.ts";

describe("redactText", () => {
  it("CORE-286 hides tokens, private keys and passwords of URLs wherever they stand", () => {
    const jwt = `eyJhbGciOi.eyJzdWIiOi.${"s".repeat(20)}`;
    for (const [text, clean] of [
      ["Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted]"],
      [`token ${jwt}, again=${jwt}`, "token [redacted], again=[redacted]"],
      ["at postgres://user:p@ss:w@host:5432/db", "at postgres://user:[redacted]@host:5432/db"],
      ["redis://:secret@host", "redis://:[redacted]@host"],
      ["http://host/a:b@c", "http://host/a:b@c"],
      ["a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [redacted] b"],
      ["a -----BEGIN PRIVATE KEY-----\nMII", "a [redacted]"],
    ] as const) {
      expect(redactText(text)).toBe(clean);
    }
  });

  it("CORE-286 cuts a long text between two words, so that no half of a secret is left", () => {
    const text = `${"word ".repeat(6_550)}${"eyJhbGciOi".repeat(10)}.${"x".repeat(10_000)}`;
    const clean = redactText(text);
    expect(clean).not.toContain("eyJ");
    expect(clean).toMatch(/word… \(\d+ more characters\)$/);
    expect(redactText("x".repeat(100_000))).toBe("… (100000 more characters)");
  });

  it.each([
    ["eyJaaaaa-", ""],
    ["-eyJ", ""],
    ["a.", "://"],
    ["://a:b", ""],
    [":", "://"],
    ["-----BEGIN A ", ""],
    ["-----BEGIN PRIVATE KEY-----", ""],
    ["bearer ", ""],
    [" ", "bearer"],
    ["\\", ""],
  ])("CORE-193 takes linear time on %j", (part, before) => {
    expectLinear((size) => redactText(textOf(part, size, before)));
  });
});

describe("redactFields", () => {
  it("CORE-191 CORE-286 copes with any depth and width, and with names such as __proto__", () => {
    const clean = redactFields(
      { deep: nested(100_000), wide: Array(5_000).fill(1), ...JSON.parse('{"__proto__":{"token":"t"}}') },
      true,
    );
    expect(JSON.stringify(clean.deep)).toContain("[too deep]");
    expect(clean.wide).toHaveLength(1_001);
    expect(JSON.stringify(clean)).toContain('"__proto__":{"token":"[redacted]"}');
  });
});
