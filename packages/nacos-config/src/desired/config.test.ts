import type { ConfigObject, JsonMap } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { configMap, nacos, secret } from "../fixtures.testkit.ts";
import { type MergedPlan, type ReadyConfig, resolveConfig } from "./config.ts";
import { settingsOf } from "./settings.ts";
import { type ConfigProblem, isProblem } from "./source.ts";

const BOTH = { internalConfigRef: { name: "ic" }, userConfigRef: { name: "uc" } };
const internal = (text: string): ConfigObject => configMap("ic", { "internal.properties": text });
const user = (text: string): ConfigObject => configMap("uc", { "user.properties": text });

function resolve(spec: JsonMap, objects: readonly ConfigObject[]): ReadyConfig | ConfigProblem {
  const settings = settingsOf(nacos(spec));
  return resolveConfig(settings.config as MergedPlan, settings.spec, (ref) => {
    const object = objects.find(({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name);
    return object === undefined ? { state: "absent" } : { state: "present", object };
  });
}

function ready(spec: JsonMap, objects: readonly ConfigObject[]): ReadyConfig {
  const config = resolve(spec, objects);
  if (isProblem(config)) throw new Error(`${config.reason}: ${config.message}`);
  return config;
}

function held(spec: JsonMap, objects: readonly ConfigObject[]): ConfigProblem {
  const config = resolve(spec, objects);
  if (!isProblem(config)) throw new Error("it is not held");
  return config;
}

const reasons = (config: ReadyConfig): string[] => config.notices.map(({ reason }) => reason);

describe("configuration from its sources", () => {
  it("NACOS-301 NACOS-302 NACOS-304 reads the default keys, internal first whatever the order of the fields", () => {
    const spec = { userConfigRef: { name: "uc" }, internalConfigRef: { name: "ic" } };
    const config = ready(spec, [user("nacos.console.ui.enabled=true\n"), internal("server.port=8848\n")]);
    expect(config).toMatchObject({ digest: "c9294469fec85948", bytes: 120 });
    expect(config.content.indexOf("Internal")).toBeLessThan(config.content.indexOf("User"));
  });

  it("NACOS-310 NACOS-311 depends on the text alone", () => {
    const plain = ready(BOTH, [internal("a=1"), user("b=2")]);
    const other = ready(
      { internalConfigRef: { name: "x", key: "i" }, userConfigRef: { name: "s", kind: "Secret", key: "u" } },
      [
        configMap("x", { i: "a=1", more: "c=3" }, { metadata: { name: "x", labels: { l: "1" } } }),
        secret("s", { u: "b=2" }),
      ],
    );
    expect(other.digest).toBe(plain.digest);
    expect(other.content).toBe(plain.content);
  });

  it("NACOS-315 names field and object of a missing source", () => {
    const problem = held(BOTH, [internal("a=1")]);
    expect(problem.reason).toBe("SourceNotFound");
    expect(problem.message).toContain("userConfigRef");
    expect(problem.message).toContain("uc");
  });

  it("NACOS-318 tells a missing key from one that holds bytes", () => {
    const spec = { userConfigRef: { name: "uc", key: "other.properties" } };
    const missing = held(spec, [user("a=1")]);
    expect(missing.reason).toBe("KeyNotFound");
    expect(missing.message).toContain("other.properties");
    const binary = configMap("uc", {}, { binaryData: { "other.properties": "AAE=" } });
    expect(held(spec, [binary]).reason).toBe("KeyIsBinary");
    const bytes = { ...secret("sc", {}), data: { k: Buffer.from([0xff, 0xfe]).toString("base64") } };
    expect(held({ userConfigRef: { name: "sc", key: "k", kind: "Secret" } }, [bytes]).reason).toBe(
      "KeyIsBinary",
    );
  });

  it("NACOS-319 leaves an empty section out and holds a wholly empty configuration", () => {
    expect(ready(BOTH, [internal(""), user("b=2")]).content).toBe("# ===== User Configuration =====\nb=2\n");
    expect(held(BOTH, [internal(""), user("")]).reason).toBe("EmptyConfig");
  });

  it("NACOS-320 NACOS-321 takes one object for both, and warns when the key is the same too", () => {
    const map = configMap("one", { a: "x=1\n", b: "y=2\n" });
    const two = (second: string): JsonMap => ({
      internalConfigRef: { name: "one", key: "a" },
      userConfigRef: { name: "one", key: second },
    });
    expect(reasons(ready(two("b"), [map]))).toEqual([]);
    expect(ready(two("a"), [configMap("one", { a: "a=1\n" })]).digest).toBe("a53e4adb6e974878");
    expect(reasons(ready(two("a"), [map]))).toEqual(["DuplicateConfigRef"]);
  });

  it("NACOS-323 refuses what a Nacos resource generated", () => {
    const marked = configMap("uc", { "user.properties": "a=1" });
    marked.metadata.annotations = { "nacos.io/generated-for": "u" };
    const owned = configMap("uc", { "user.properties": "a=1" });
    owned.metadata.ownerReferences = [
      { apiVersion: "nacos.io/v1alpha1", kind: "Nacos", name: "x", uid: "u", controller: true },
    ];
    for (const source of [marked, owned]) {
      expect(held({ userConfigRef: { name: "uc" } }, [source]).reason).toBe("SourceIsGenerated");
    }
  });

  it("NACOS-324 NACOS-326 keeps both lines, and tells the names of overridden keys but no value", () => {
    const config = ready(BOTH, [
      internal("server.port=8848\nx=HIDDEN-1\nb=1"),
      user("b=HIDDEN-2\nserver\\.port : 9999"),
    ]);
    expect(config.content).toContain("server.port=8848");
    expect(config.content).toContain("server\\.port : 9999");
    expect(config.effective.get("server.port")).toBe("9999");
    expect(config.message).toBe(
      "merged 3 internal and 2 user properties; 2 internal overridden: b, server.port",
    );
    const many = Array.from({ length: 25 }, (_, at) => `k${String(at).padStart(2, "0")}=v`).join("\n");
    expect(ready(BOTH, [internal(many), user(many)]).message).toMatch(/k19 and 5 more$/);
  });

  it("NACOS-327 holds a malformed escape with source and line, without content", () => {
    const problem = held(BOTH, [internal("a=1"), user("# \\u12\npassword=MARK\n\nx=\\u12")]);
    expect(problem.reason).toBe("ConfigInvalid");
    expect(problem.message).toMatch(/userConfigRef.*uc.*line 4/);
    expect(problem.message).not.toContain("MARK");
    expect(held(BOTH, [internal("\\u1=1"), user("")]).message).toContain("internalConfigRef");
  });

  it("NACOS-328 NACOS-329 carries other scripts and byte order marks over, and warns", () => {
    const config = ready(BOTH, [internal("\uFEFFa=1"), user("# 用户\nk=中文\nb=1")]);
    expect(config.content).toContain("k=中文");
    expect(reasons(config)).toEqual(["NonAsciiValue", "ByteOrderMark", "NonAsciiValue"]);
    expect(config.notices[2]?.note).toMatch(/: k$/);
    expect(reasons(ready(BOTH, [internal("a=1"), user("# 用户\nb=1")]))).toEqual([]);
  });

  it("NACOS-330 guards keys in every spelling that Spring binds, by Reject or Warn", () => {
    const policy = (onViolation?: string): JsonMap => ({
      ...BOTH,
      configPolicy: { protectedKeys: ["server.*", "db.password.?"], ...(onViolation && { onViolation }) },
    });
    const sources = [
      internal("server.port=1"),
      user("Server\\.Servlet.context_path=/x\nDB.pass-word.0=MARK\nok=1"),
    ];
    const rejected = held(policy("Reject"), sources);
    expect(rejected.reason).toBe("ProtectedKeyOverridden");
    expect(rejected.message).toContain("DB.pass-word.0, Server.Servlet.context_path");
    expect(rejected.message).not.toContain("MARK");
    expect(reasons(ready(policy("Warn"), sources))).toEqual(["ProtectedKeyOverridden"]);
    expect(reasons(ready(policy(), sources))).toEqual(["ProtectedKeyOverridden"]);
    expect(reasons(ready(policy("Reject"), [internal("server.port=1"), user("serve=1")]))).toEqual([]);
  });

  it("NACOS-331 takes 1 048 576 bytes of merged text and not one more", () => {
    const overhead = 120 - "nacos.console.ui.enabled=true\n".length;
    const sized = (bytes: number): ConfigObject[] => [
      internal("server.port=8848\n"),
      user(`${"x".repeat(bytes - overhead - 1)}\n`),
    ];
    expect(ready(BOTH, sized(1_048_576)).bytes).toBe(1_048_576);
    const problem = held(BOTH, sized(1_048_577));
    expect(problem.reason).toBe("ConfigTooLarge");
    expect(problem.message).toMatch(/1048577.*1048576/);
  });

  it("NACOS-352 leaves placeholders as they are", () => {
    const text = `db.password.0=${"$"}{DB_PASSWORD:x}\n`;
    expect(ready(BOTH, [internal(text), user("")]).content).toContain(text);
  });

  it("NACOS-806 NACOS-807 warns of a public and of a weak token key, never rejects them", () => {
    const key = "nacos.core.auth.plugin.nacos.token.secret.key";
    const check = (value: string, auth = true): string[] =>
      reasons(ready(BOTH, [internal(`nacos.core.auth.enabled=${auth}`), user(`${key}=${value}`)]));
    expect(check("SecretKey012345678901234567890123456789012345678901234567890123456789")).toEqual([
      "InsecureDefaultToken",
    ]);
    expect(check("c2hvcnQ=")).toEqual(["TokenTooWeak"]);
    expect(check("c2hvcnQ=", false)).toEqual([]);
    expect(check(Buffer.alloc(32, 1).toString("base64"))).toEqual([]);
    expect(check("$" + "{NACOS_AUTH_TOKEN}")).toEqual([]);
  });
});
