/** Denials that clients of the peer may look for, and which of several comes first. */
import { describe, expect, it } from "vitest";
import type { TConfig, TTree } from "../api.gen.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { mutateAccount } from "./account.ts";
import { validateConfigUpdate } from "./config.ts";
import { validateTemplate } from "./template.ts";
import { validateNewTree } from "./tree.ts";
import { validateServer } from "./validate-server.ts";

const denialOf = (spec: object, version = "v1beta2") =>
  validateServer({
    ...{ name: "demo-echoserver", namespace: "ns1", old: undefined, templateExists: true, version },
    spec: { ...echoServer().spec, ...spec },
  });

describe("the first of several faults is told", () => {
  it.each([
    ["duplicate servant name value aObj", ["AObj 3000", "aObj 3001", "BObj 19385"]],
    ["servants port value should not equal 19385", ["AObj 3000", "BObj 19385", "aObj 3001"]],
    ["duplicate port value 3000", ["AObj 3000", "BObj 3000", "aObj 3001"]],
  ])("TARS-V-010 TARS-V-011 TARS-V-013 %s", (text, list) => {
    const servants = list
      .map((entry) => entry.split(" "))
      .map(([name, port]) => ({ name, port: Number(port) }));
    const tars = { template: "tt.cpp", servants };
    expect(denialOf({ tars })).toBe(`tserver resource is invalid : ${text}`);
  });

  const claimed = (name: string) => ({ name, mountPath: `/${name}`, source: { tLocalVolume: {} } });
  const plain = (name: string) => ({ name, mountPath: `/${name}`, source: { emptyDir: {} } });
  it.each([
    ["v1beta2", "TLocalVolue", [claimed("a"), plain("a")]],
    ["v1beta3", "TLocalVolume", [plain("b"), claimed("a"), plain("a")]],
  ])("TARS-V-023 in %s %s before a name that comes later", (version, word, mounts) => {
    expect(denialOf({ k8s: { daemonSet: true, mounts } }, version)).toContain(`can not use ${word} and`);
  });
  it("TARS-V-022 a name that comes earlier before a claim", () => {
    const mounts = [plain("a"), plain("a"), claimed("b")];
    expect(denialOf({ k8s: { daemonSet: true, mounts } })).toContain("duplicate .mounts.name value a");
  });
});

it.each([
  ["configContent", "tconfig"],
  ["version", "tconfig"],
  ["updateTime", "TConfig"],
  ["updatePerson", "TConfig"],
  ["updateReason", "TConfig"],
] as const)("TARS-V-043 a change of %s is one of a %s", (field, resource) => {
  const config = { metadata: {}, app: "A", configName: "a", configContent: "-", podSeq: "m" } as TConfig;
  const denial = validateConfigUpdate({ ...config, [field]: "other" }, config);
  expect(denial).toBe(`${resource} resource filed "/${field}" is immutable`);
});

it("TARS-V-045 TARS-V-043 a configuration that is to be deleted is not changed any more", () => {
  const config = { metadata: {}, app: "A", configName: "a", configContent: "-", podSeq: "m" } as TConfig;
  const doomed = { ...config, metadata: { labels: { "tars.io/Deleting": "Deleting" } } };
  expect(validateConfigUpdate(config, doomed)).toBe("can not update deleting tconfig");
});

it("TARS-V-027 a namespace whose name makes no label key is refused", () => {
  const namespace = "n".repeat(60);
  const question = {
    name: "demo-echoserver",
    namespace,
    old: undefined,
    templateExists: true,
    version: "v1beta2",
  };
  expect(validateServer({ ...question, spec: echoServer().spec })).toContain("take a shorter namespace");
});

it("TARS-V-065 a second tree of a namespace is refused like one of another name", () => {
  const tree = (name: string) => ({ metadata: { name }, businesses: [], apps: [] }) as unknown as TTree;
  expect(validateNewTree(tree("tars-tree"), false)).toBeUndefined();
  expect(validateNewTree(tree("tars-tree"), true)).toBe("create ttree operation is defined");
  expect(validateNewTree(tree("other"), false)).toBe("create ttree operation is defined");
});

it("TARS-V-055 a template without a parent is refused", () => {
  const template = { metadata: { name: "a" }, spec: { content: "", parent: "" } } as never;
  const denial = validateTemplate(template, { namespace: "ns1", parentOf: () => undefined });
  expect(denial).toBe('ttemplate resource is invalid : value of filed ".spec.parent" should not empty ');
});

it("TARS-API-010 TARS-M-042 a password of null is left to the schema", async () => {
  const account = { metadata: {}, spec: { authentication: { password: null } } } as never;
  expect(await mutateAccount(account, undefined, async (digest) => digest)).toEqual(account);
});
