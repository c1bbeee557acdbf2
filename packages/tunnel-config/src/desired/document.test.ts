import { describe, expect, it } from "vitest";
import { parseDocument, rejectionText, sameSource, serialiseDocument, sourceKey } from "./document.ts";

describe("the stored document", () => {
  it("TUN-301 is written with two spaces and its keys in order", () => {
    const text = serialiseDocument({
      sources: { "B/b": { name: "b", kind: "B" }, "A/a": { kind: "A", name: "a" } },
    });
    expect(text).toBe(
      '{\n  "sources": {\n    "A/a": {\n      "kind": "A",\n      "name": "a"\n    },\n    "B/b": {\n      "kind": "B",\n      "name": "b"\n    }\n  }\n}',
    );
  });

  it("TUN-302 keeps what it does not know, reads what the peer wrote, and sets aside what is none", () => {
    const stored = {
      future: { a: 1 },
      sources: {
        "Ingress/o/c": { kind: "Ingress", name: "c", rules: [{ service: "x", future: 2 }] },
        bad: 7,
        worse: { kind: "X", name: "y", rules: [{}] },
      },
    };
    const document = parseDocument(JSON.stringify(stored));
    expect(Object.keys(document.sources)).toEqual(["Ingress/o/c"]);
    expect(JSON.parse(serialiseDocument(document))).toEqual({
      ...stored,
      sources: { "Ingress/o/c": stored.sources["Ingress/o/c"] },
    });
    for (const broken of ["{broken", "[]", "null", '"x"'])
      expect(() => parseDocument(broken)).toThrow("config.json is no");
  });

  it("TUN-303 TUN-306 names sources, and sees no change in the time of the last one", () => {
    expect(sourceKey({ kind: "Ingress", namespace: "a", name: "b" })).toBe("Ingress/a/b");
    expect(sourceKey({ kind: "ClusterTunnel", name: "b" })).toBe("ClusterTunnel/b");
    const source = { kind: "A", name: "a", rules: [], updatedAt: "1" };
    expect(sameSource(source, { name: "a", rules: [], kind: "A", updatedAt: "2" })).toBe(true);
    expect(sameSource(source, { ...source, generation: 2 })).toBe(false);
    expect(sameSource(undefined, source)).toBe(false);
  });

  it("TUN-319 TUN-623 a rejection of a whole source names no host", () => {
    const place = { source: "Ingress/a/b", hostname: "", path: "" };
    expect(rejectionText({ ...place, reason: "no room" })).toBe("no room");
    expect(rejectionText({ ...place, hostname: "a.b", path: "/c", reason: "bad" })).toBe("a.b/c: bad");
  });
});
