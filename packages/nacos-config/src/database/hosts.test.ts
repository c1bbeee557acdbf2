import { describe, expect, it } from "vitest";
import { hostRules } from "./hosts.ts";

describe("servers that a resource may name", () => {
  it.each([
    ["10.0.0.1", true],
    ["fd00::1", true],
    ["127.0.0.1", false],
    ["127.9.9.9", false],
    ["0.0.0.0", false],
    ["169.254.169.254", false],
    ["224.0.0.1", false],
    ["::1", false],
    ["::", false],
    ["fe80::1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:169.254.169.254", false],
  ])("NACOS-1014 without a list %s: %s", (address, expected) => {
    const rules = hostRules("");
    expect(rules.mayAsk("pg.t.svc", 5432)).toBe(true);
    expect(rules.mayReach("pg.t.svc", address, 5432)).toBe(expected);
    expect(rules.mayReach(address, address, 1)).toBe(expected);
  });

  it.each([
    ["pg.t.svc", "pg.t.svc", "10.0.0.1", 5432, true],
    ["pg.t.svc", "PG.t.svc.", "10.0.0.1", 5432, true],
    ["pg.t.svc", "other.t.svc", "10.0.0.1", 5432, false],
    ["pg.t.svc:5432", "pg.t.svc", "10.0.0.1", 5433, false],
    ["*.db.example", "a.b.db.example", "10.0.0.1", 1, true],
    ["*.db.example", "db.example", "10.0.0.1", 1, false],
    ["*.db.example", "evildb.example", "10.0.0.1", 1, false],
    ["*.db.example", "a.db.example", "127.0.0.1", 1, false],
    ["10.0.0.0/8:5432", "any.name", "10.1.2.3", 5432, true],
    ["10.0.0.0/8:5432", "any.name", "10.1.2.3", 22, false],
    ["10.0.0.0/8", "any.name", "11.1.2.3", 5432, false],
    ["127.0.0.1", "localhost", "127.0.0.1", 5432, true],
    ["fd00::/8", "fd00::1", "fd00::1", 5432, true],
    ["[fd00::1]:5432, pg", "fd00::1", "fd00::1", 5432, true],
    ["[fd00::1]:5432, pg", "fd00::1", "fd00::1", 22, false],
  ])("NACOS-1014 %s, host %s at %s port %i: %s", (text, host, address, port, expected) => {
    const rules = hostRules(text);
    expect(rules.mayAsk(host, port) && rules.mayReach(host, address, port)).toBe(expected);
  });

  it("NACOS-1014 asks no name server for a name that no entry can fit", () => {
    expect(hostRules("pg.t.svc").mayAsk("secret-in-a-name.attacker.example", 5432)).toBe(false);
  });

  it.each(["a b", "pg:0", "pg:x", "10.0.0.0/33", "postgres://pg", "*", "[fd00::1]:"])(
    "NACOS-1014 names the entry %s that is none",
    (text) => {
      expect(() => hostRules(`pg,${text}`)).toThrow(`"${text}"`);
    },
  );
});
