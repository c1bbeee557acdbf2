import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { protectedKeys } from "./protected-keys.ts";

describe("protected keys", () => {
  it.each([
    ["server.*", "server.port", true],
    ["server.*", "server.", true],
    ["server.*", "server", false],
    ["server.*", "observer.port", false],
    ["*.password.?", "db.password.0", true],
    ["*.password.?", "db.password.10", false],
    ["*", "", true],
    ["", "a", false],
    ["a?c", "abc", true],
    ["**port", "server.port", true],
    ["*a*b*", "xxbxxa", false],
    ["a+(b|c)[d]{1}^$", "a+(b|c)[d]{1}^$", true],
    ["Server.Context-Path", "server.context_path", true],
  ])("NACOS-330 pattern %s, key %s: %s", (pattern, key, expected) => {
    expect(protectedKeys([key], [pattern])).toEqual(expected ? [key] : []);
  });

  it("NACOS-330 agrees with regular expressions", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 12 });
    const glob = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), maxLength: 8 });
    fc.assert(
      fc.property(text, glob, (key, pattern) => {
        const source = pattern.replaceAll(".", "\\.").replaceAll("*", "[^]*").replaceAll("?", "[^]");
        const expected = new RegExp(`^${source}$`).test(key);
        expect(protectedKeys([key], [pattern])).toEqual(expected ? [key] : []);
      }),
    );
  });

  it("NACOS-330 NACOS-209 holds up nobody with many stars on a long key", () => {
    const begin = performance.now();
    expect(protectedKeys(["a".repeat(5_000)], [`${"*a".repeat(20)}*b`])).toEqual([]);
    expect(performance.now() - begin).toBeLessThan(5_000);
  });
});
