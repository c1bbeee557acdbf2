/** A mebibyte of the worst input for every parser of what others wrote: none takes longer than a moment. */
import { describe, expect, it } from "vitest";
import { isConfigKey } from "./admission/names.ts";
import { postgresTarget } from "./database/target.ts";
import { adminCredentials } from "./desired/admin.ts";
import { imageVersion } from "./desired/image.ts";
import { pluginNotice } from "./desired/plugin-image.ts";
import { PropertiesError, readProperties, TooManyPropertiesError } from "./desired/properties.ts";
import { ProtectedKeysError, protectedKeys } from "./desired/protected-keys.ts";
import { settingsOf } from "./desired/settings.ts";
import { isPublicToken, isWeakToken } from "./desired/token.ts";
import { nacos, secret } from "./fixtures.testkit.ts";
import { endpointOf } from "./health/endpoint.ts";
import { hostOf, parseMembers } from "./health/member-list.ts";

/** Largest text of a ConfigMap or Secret. */
const SIZE = 1_048_576;
const fill = (unit: string, size = SIZE): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
/** Text that makes a regular expression with two ways through it try them all. */
const nearly = (begin: string, unit: string): string => `${begin}${fill(unit)}\u0001`;

/** Far more than linear work takes on a busy machine, far less than quadratic work on any, in milliseconds. */
const LIMIT_MS = 20_000;

function inTime<T>(work: () => T): T {
  const begin = performance.now();
  try {
    return work();
  } finally {
    expect(performance.now() - begin).toBeLessThan(LIMIT_MS);
  }
}

const property = (name: string, value: string) => new Map([[name, value]]);
const placeholder = "$" + "{";

describe("a mebibyte of the worst input", () => {
  it.each([
    ["backslashes and a character", `${fill("\\")}x`],
    ["backslashes", fill("\\")],
    ["runs of backslashes", fill(`${"\\".repeat(1_000)}x`)],
    ["continuations", fill("a\\\n")],
    ["continuations of nothing", fill("\\\n")],
    ["blanks", fill(" ")],
    ["carriage returns", fill("\r")],
    ["separators", `a${fill(" =")}`],
  ])("NACOS-325 properties: %s", (_what, text) => {
    expect(inTime(() => readProperties(text)).length).toBeLessThan(2);
  });

  it("NACOS-325 properties: a bad escape at the end of half a million continued lines", () => {
    expect(() => inTime(() => readProperties(`${fill("a\\\n")}\\uZ`))).toThrow(PropertiesError);
  });

  it("NACOS-1012 refuses more properties than any configuration has", () => {
    expect(() => inTime(() => readProperties(fill("a\n")))).toThrow(TooManyPropertiesError);
    expect(readProperties(fill("a=1\n", 80_000))).toHaveLength(20_000);
  });

  it.each([
    ["open placeholders", fill(placeholder)],
    ["nameless placeholders and one end", `${fill(`${placeholder}:`)}}`],
    ["defaults", fill(`${placeholder}a:}`)],
    ["names without an end", nearly(placeholder, "a")],
    ["slashes", fill("/")],
    ["slashes and a character", nearly("/", "/x")],
  ])("NACOS-904 address of the API: %s", (_what, value) => {
    const { port } = inTime(() => endpointOf(property("server.servlet.contextPath", value), new Map()));
    expect(port).toBe(8848);
    inTime(() => endpointOf(property("server.port", value), new Map([["a", "b"]])));
  });

  it("NACOS-804 keys that sign tokens", () => {
    for (const token of [nearly("SecretKey", "0123456789"), nearly("", "A"), nearly("", "="), fill("A=")]) {
      expect(inTime(() => isPublicToken(token))).toBe(false);
      inTime(() => isWeakToken(token));
    }
    expect(isPublicToken("SecretKey012345678901234567890123456789012345678901234567890123456789")).toBe(true);
  });

  it("NACOS-711 certificates of an authority", () => {
    const postgres = {
      ...{ host: "pg", database: "n", sslMode: "verify-full" as const },
      credentialsSecretRef: { name: "s" },
      caSecretRef: { name: "s" },
    };
    for (const size of [SIZE, 262_144]) {
      for (const unit of [
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----x-----END CERTIFICATE-----",
      ]) {
        const object = secret("s", { username: "u", password: "p", "ca.crt": fill(unit, size) });
        const found = inTime(() => postgresTarget({ postgres }, () => ({ state: "present", object })));
        expect(found).toMatchObject({ reason: "KeyNotFound" });
      }
    }
  });

  it("NACOS-710 host, port, database and user", () => {
    const login = { credentialsSecretRef: { name: "s" } };
    const neverRead = (): never => {
      throw new Error("no Secret is read for a spec that is refused");
    };
    for (const text of [nearly("", "a"), nearly("", "a."), fill("1"), fill(":")]) {
      const base = { host: "pg", database: "n", ...login };
      for (const field of ["host", "port", "database"]) {
        const spec = { postgres: { ...base, [field]: text } };
        expect(inTime(() => postgresTarget(spec, neverRead))).toHaveProperty(
          "reason",
          "PostgresConfigInvalid",
        );
      }
      const object = secret("s", { username: text, passwordHash: text });
      const spec = { adminCredentialsSecretRef: { name: "s" } };
      expect(inTime(() => adminCredentials(spec, { state: "present", object }))).toHaveProperty("reason");
    }
  });

  it.each([
    ["one long key", [fill("a")], fill("*a", 250)],
    ["many keys", Array.from({ length: 20_000 }, (_, at) => `${"a".repeat(50)}${at}`), fill("*a", 250)],
  ])("NACOS-330 protected keys: %s", (_what, keys, pattern) => {
    const patterns = Array.from({ length: 100 }, (_, at) => `${pattern}${at}b`);
    expect(() => inTime(() => protectedKeys(keys, patterns))).toThrow(ProtectedKeysError);
    // What real policies need is far below the limit.
    const real = Array.from({ length: 1_000 }, (_, at) => `nacos.core.auth.plugin.setting-${at}`);
    expect(
      protectedKeys(
        real,
        patterns.map((_, at) => `spring.*.${at}.?`),
      ),
    ).toEqual([]);
  });

  it("NACOS-907 member lists", () => {
    const body = (data: unknown[]): string => JSON.stringify({ code: 200, data });
    expect(inTime(() => parseMembers(body(Array.from({ length: 350_000 }, () => ({})))))).toBeUndefined();
    const [member] = inTime(() => parseMembers(body([{ address: fill(":1"), state: fill("U") }]))) ?? [];
    expect(member).toEqual({ address: ":", state: "", version: "", leaders: {} });
    inTime(() => hostOf(nearly("", ":1")));
    inTime(() => parseMembers(`${fill("[")}`));
  });

  it("NACOS-425 images, keys and names", () => {
    for (const image of [
      nearly("nacos/nacos-server:", "1."),
      fill("/nacos/nacos-server:1"),
      fill("@"),
      fill(":1"),
    ]) {
      inTime(() => imageVersion(image));
      const spec = { image, database: { type: "postgresql" } };
      inTime(() => pluginNotice(settingsOf(nacos(spec)), new Map()));
    }
    expect(inTime(() => isConfigKey(fill("a")))).toBe(false);
  });
});
