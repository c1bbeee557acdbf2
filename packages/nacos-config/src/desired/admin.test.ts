import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { secret } from "../fixtures.testkit.ts";
import { type AdminCredentials, adminCredentials, hasAdmin, isRotationDue, targetChecksum } from "./admin.ts";
import type { NacosSpec } from "./settings.ts";
import type { FoundSource } from "./source.ts";

const TAIL = "MARKabcdefghijklmnopqrstuvwxyz./ABCDEFGHIJKLMNOPQRSTU";
const HASH = `$2a$10$${TAIL}`;
const SPEC: NacosSpec = {
  postgres: { host: "pg" },
  adminCredentialsSecretRef: { name: "admin" },
};

function found(data: Record<string, string>): FoundSource {
  const object = secret("admin", data);
  return { state: "present", object: { ...object, metadata: { ...object.metadata, resourceVersion: "7" } } };
}
const read = (username: string, passwordHash = HASH, spec = SPEC) =>
  adminCredentials(spec, found({ username, passwordHash }));
const reason = (username: string, passwordHash?: string): string | undefined => {
  const result = read(username, passwordHash);
  if (!("reason" in result)) return undefined;
  expect(result.message).not.toContain("MARK");
  return result.reason;
};

describe("admin Secret", () => {
  it("NACOS-801 counts only beside a PostgreSQL host", () => {
    expect(hasAdmin(SPEC)).toBe(true);
    expect(hasAdmin({ ...SPEC, postgres: { host: "" } })).toBe(false);
    expect(hasAdmin({ adminCredentialsSecretRef: { name: "admin" } })).toBe(false);
    expect(hasAdmin({ ...SPEC, adminCredentialsSecretRef: {} })).toBe(false);
  });

  it("NACOS-802 has the peer's checksum: 16 characters of the SHA-256 of name and hash", () => {
    const checksum = createHash("sha256").update(`ops:${HASH}`).digest("hex").slice(0, 16);
    expect(read("ops")).toEqual({
      username: "ops",
      passwordHash: HASH,
      resourceVersion: "7",
      checksum,
      weak: false,
    });
  });

  it.each(["$2a$04$", "$2b$31$", "$2y$12$", "$2a$29$"])(
    "NACOS-803 takes a hash that begins with %s",
    (head) => {
      expect(reason("ops", head + TAIL)).toBeUndefined();
    },
  );

  it.each([
    ["plain text", "MARK-password"],
    ["nothing", ""],
    ["another version", `$2x$10$${TAIL}`],
    ["a cost below 4", `$2a$03$${TAIL}`],
    ["a cost above 31", `$2a$32$${TAIL}`],
    ["a cost of one digit", `$2a$9$${TAIL}`],
    ["a short hash", HASH.slice(0, -1)],
    ["a long hash", `${HASH}a`],
    ["a line break at the end", `${HASH}\n`],
    ["another alphabet", `${HASH.slice(0, -1)}+`],
  ])("NACOS-803 refuses %s", (_what, hash) => {
    expect(reason("ops", hash)).toBe("AdminSecretInvalid");
  });

  it("NACOS-803 wants a user name of 1 to 50 characters without control characters", () => {
    expect(reason("é".repeat(50))).toBeUndefined();
    expect(reason("o'p\"s %40")).toBeUndefined();
    for (const name of ["", "x".repeat(51), "MARK\n", "a\tb"])
      expect(reason(name)).toBe("AdminSecretInvalid");
  });

  it("NACOS-803 knows a cheap hash", () => {
    expect(read("ops", `$2a$09$${TAIL}`)).toMatchObject({ weak: true });
    expect(read("ops", HASH)).toMatchObject({ weak: false });
  });

  it("NACOS-810 names the Secret or the key that is missing", () => {
    expect(adminCredentials(SPEC, { state: "absent" })).toMatchObject({
      reason: "SecretNotFound",
      message: expect.stringContaining("adminCredentialsSecretRef: Secret admin"),
    });
    expect(adminCredentials(SPEC, found({ username: "ops" }))).toMatchObject({
      reason: "KeyNotFound",
      message: expect.stringContaining("passwordHash"),
    });
    const spec = {
      ...SPEC,
      adminCredentialsSecretRef: { name: "admin", usernameKey: "u", passwordHashKey: "h" },
    };
    expect(adminCredentials(spec, found({ u: "ops", h: HASH }))).toMatchObject({ username: "ops" });
  });
});

describe("rotation", () => {
  const credentials = read("ops") as AdminCredentials;
  const { checksum } = credentials;
  const done = { lastResult: "Success", lastSecretChecksum: checksum, lastSecretResourceVersion: "1" };

  it("NACOS-802 is due for another name or hash, after a failure, and not for another version of the same", () => {
    expect(isRotationDue(SPEC, undefined, credentials)).toBe(true);
    expect(isRotationDue(SPEC, done, credentials)).toBe(false);
    expect(isRotationDue(SPEC, { ...done, lastResult: "Failed" }, credentials)).toBe(true);
    expect(isRotationDue(SPEC, done, read("ops2") as AdminCredentials)).toBe(true);
    expect(isRotationDue(SPEC, done, read("ops", `$2b$10$${TAIL}`) as AdminCredentials)).toBe(true);
  });

  it("NACOS-802 is due by the spec's checksum alone when there is one", () => {
    const spec = { ...SPEC, adminSecretChecksum: "v1" };
    expect(isRotationDue(spec, done, credentials)).toBe(true);
    const after = { ...done, lastSecretChecksum: targetChecksum(spec, credentials) };
    expect(after.lastSecretChecksum).toBe("v1");
    expect(isRotationDue(spec, after, read("ops2") as AdminCredentials)).toBe(false);
    expect(isRotationDue({ ...spec, adminSecretChecksum: "v2" }, after, credentials)).toBe(true);
  });
});
