import { createAuthority } from "@quartet/testing";
import { describe, expect, it } from "vitest";
import type { FoundSource } from "../desired/source.ts";
import { configMap, secret } from "../fixtures.testkit.ts";
import { hasPostgres, postgresSecrets, postgresTarget } from "./target.ts";

const POSTGRES = { host: "pg.t.svc", database: "nacos", credentialsSecretRef: { name: "pg-login" } };
const LOGIN = secret("pg-login", { username: "nacos", password: " 100%/@'\" " });

function reader(...objects: ReturnType<typeof secret>[]): (name: string) => FoundSource {
  return (name) => {
    const object = objects.find(({ metadata }) => metadata.name === name);
    return object === undefined ? { state: "absent" } : { state: "present", object };
  };
}

/** The target, or the problem, of a spec. */
function target(postgres: object, read = reader(LOGIN), pgInit: object = {}): object {
  return postgresTarget({ postgres: { ...POSTGRES, ...postgres }, pgInit }, read);
}

describe("the connection", () => {
  it("NACOS-102 NACOS-712 has the defaults of the spec, and the Secret's texts unchanged", async () => {
    expect(target({})).toEqual({
      host: "pg.t.svc",
      port: 5432,
      database: "nacos",
      sslMode: "prefer",
      timeoutMs: 20_000,
      user: "nacos",
      password: " 100%/@'\" ",
    });
    expect(target({}, reader(LOGIN), { timeoutSeconds: 0 })).toMatchObject({ timeoutMs: 20_000 });
    const { cert } = await createAuthority("test");
    const other = secret("other", { u: "me", p: "", ca: `# two\n${cert}${cert}` });
    const given = target(
      {
        port: "15432",
        sslMode: "verify-ca",
        credentialsSecretRef: { name: "other", usernameKey: "u", passwordKey: "p" },
        caSecretRef: { name: "other", key: "ca" },
      },
      reader(other),
      { timeoutSeconds: 7 },
    );
    expect(given).toMatchObject({
      port: 15_432,
      user: "me",
      password: "",
      caPem: `# two\n${cert}${cert}`,
      sslMode: "verify-ca",
      timeoutMs: 7_000,
    });
  });

  it("is switched on by its host, and names the Secrets that it needs", () => {
    expect(hasPostgres({})).toBe(false);
    expect(hasPostgres({ postgres: { ...POSTGRES, host: "" } })).toBe(false);
    expect(postgresSecrets({ postgres: { ...POSTGRES, host: "" } })).toEqual([]);
    expect(postgresSecrets({ postgres: POSTGRES })).toEqual(["pg-login"]);
    expect(postgresSecrets({ postgres: { ...POSTGRES, caSecretRef: { name: "pg-login" } } })).toEqual([
      "pg-login",
    ]);
    expect(postgresSecrets({ postgres: { ...POSTGRES, caSecretRef: { name: "ca" } } })).toEqual([
      "pg-login",
      "ca",
    ]);
  });

  it.each([
    [{ host: "/var/run/postgresql" }, {}, "spec.postgres.host"],
    [{ host: "postgres://u:marker@pg/nacos" }, {}, "spec.postgres.host"],
    [{ host: "pg.t.svc:5432" }, {}, "spec.postgres.host"],
    [{ host: "pg1,pg2" }, {}, "spec.postgres.host"],
    [{ port: "pg" }, {}, "spec.postgres.port"],
    [{ port: "65536" }, {}, "spec.postgres.port"],
    [{ database: "" }, {}, "spec.postgres.database"],
    [{ credentialsSecretRef: {} }, {}, "spec.postgres.credentialsSecretRef.name"],
    [{ sslMode: "allow" }, {}, "spec.postgres.sslMode"],
    [{ sslMode: "verify-full" }, {}, "spec.postgres.caSecretRef.name"],
    [{}, { timeoutSeconds: 601 }, "spec.pgInit.timeoutSeconds"],
  ])("NACOS-710 names the field that is missing or wrong: %j %j", (postgres, pgInit, field) => {
    expect(target(postgres, reader(LOGIN), pgInit)).toEqual({
      reason: "PostgresConfigInvalid",
      code: 301,
      message: expect.stringMatching(new RegExp(`^${field} (?!.*marker)`)),
    });
  });

  it.each(["10.0.0.1", "fd00::1", "pg-0.pg.t.svc.", "my_db", "bücher.example"])(
    "takes the host %s",
    (host) => {
      expect(target({ host })).toMatchObject({ host });
    },
  );

  it("NACOS-711 NACOS-813 names the Secret and the key that cannot be used, never a value", () => {
    expect(target({}, reader())).toMatchObject({ reason: "SecretNotFound", code: 404 });
    expect(target({}, () => ({ state: "unreadable", message: "forbidden" }))).toMatchObject({
      reason: "SecretUnreadable",
      code: 404,
    });
    const keyless = secret("pg-login", { username: "marker" });
    expect(target({}, reader(keyless))).toEqual({
      reason: "KeyNotFound",
      code: 301,
      message:
        "spec.postgres.credentialsSecretRef: Secret pg-login: key password is missing; correct it or the reference's key",
    });
    const bytes = Buffer.from([0x6d, 0xff]).toString("base64");
    for (const username of ["", bytes, Buffer.from("a\0b").toString("base64")]) {
      const odd = configMap("pg-login", { username, password: "bWFya2Vy" });
      expect(target({}, reader(odd))).toMatchObject({ reason: "KeyNotFound", code: 301 });
    }
    const ca = { sslMode: "verify-ca", caSecretRef: { name: "pg-ca" } };
    expect(target(ca, reader(LOGIN))).toMatchObject({
      reason: "SecretNotFound",
      message: expect.stringContaining("spec.postgres.caSecretRef: Secret pg-ca"),
    });
    const broken = "-----BEGIN CERTIFICATE-----\nbWFya2Vy\n-----END CERTIFICATE-----";
    for (const text of ["", "marker", broken]) {
      expect(target(ca, reader(LOGIN, secret("pg-ca", { "ca.crt": text })))).toEqual({
        reason: "KeyNotFound",
        code: 301,
        message:
          "spec.postgres.caSecretRef: Secret pg-ca: key ca.crt holds no PEM certificate; correct it or the reference's key",
      });
    }
  });
});
