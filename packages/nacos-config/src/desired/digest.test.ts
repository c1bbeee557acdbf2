import { describe, expect, it } from "vitest";
import { canonicalJson, versionDigest } from "./digest.ts";

describe("fingerprint of the spec", () => {
  it("NACOS-917 gives the rule book's value, whatever the order of the fields", () => {
    const spec = { type: "cluster", replicas: 3, image: "nacos/nacos-server:v2.4.3" };
    expect(canonicalJson(spec)).toBe('{"image":"nacos/nacos-server:v2.4.3","replicas":3,"type":"cluster"}');
    expect(versionDigest(spec)).toBe("184a300a30");
    expect(versionDigest({ ...spec, replicas: 4 })).not.toBe("184a300a30");
  });

  it("treats absent and undefined members alike and keeps nulls", () => {
    expect(canonicalJson({ b: undefined, a: [null, { d: 1, c: "é" }] })).toBe('{"a":[null,{"c":"é","d":1}]}');
  });
});
