import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildComment, isClusterId, isSameMarker, markerOf, textOf } from "./marker.ts";

const record = { kind: "DNSRecord", namespace: "default", name: "api-record" };

describe("markers", () => {
  it("TUN-801 TUN-802 are written in front of the comment", () => {
    expect(buildComment(record, "", 100)).toBe("[managed-by:DNSRecord/default/api-record]");
    expect(buildComment({ kind: "VirtualNetwork", namespace: "", name: "office" }, "hq", 100)).toBe(
      "[managed-by:VirtualNetwork/office] hq",
    );
  });

  it("TUN-803 TUN-811 are read wherever they stand, the peer's form too", () => {
    expect(markerOf("before [managed:VirtualNetwork/office] hq")).toEqual({
      kind: "VirtualNetwork",
      namespace: "",
      name: "office",
    });
    expect(markerOf("[managed-by:DNSRecord/default/api-record]")).toEqual(record);
    for (const none of [
      "",
      null,
      "[managed-by:a]",
      "[managed-by:a/b/c/d]",
      "[managed-by:a//b]",
      "[managed-by:a/b",
      "Managed by Gateway a/b",
    ]) {
      expect(markerOf(none)).toBeUndefined();
    }
  });

  it("TUN-804 the user's text is what stands around them", () => {
    expect(textOf("one [managed-by:a/b] two")).toBe("one two");
    expect(textOf(buildComment(record, "mine", 100))).toBe("mine");
    expect(textOf("Managed by somebody")).toBe("Managed by somebody");
  });

  it("TUN-808 keep the marker whole and cut the text, or put a hash for long names", () => {
    const cut = buildComment(record, "x".repeat(100), 100);
    expect([...cut]).toHaveLength(100);
    expect(cut).toMatch(/^\[managed-by:DNSRecord\/default\/api-record\] x+…$/);
    const long = { kind: "DNSRecord", namespace: "n".repeat(40), name: "m".repeat(60) };
    const comment = buildComment(long, "text", 100);
    expect(comment).toMatch(/^\[managed-by:DNSRecord\/~[0-9a-f]{20}\] text$/);
    expect(isSameMarker(markerOf(comment)!, long)).toBe(true);
    expect(isSameMarker(markerOf(comment)!, { ...long, name: "other" })).toBe(false);
  });

  it("TUN-801 TUN-803 TUN-808 name the cluster where clusters are told apart", () => {
    const here = { ...record, cluster: "east-1" };
    expect(buildComment(here, "hq", 100)).toBe("[managed-by:DNSRecord/default/api-record@east-1] hq");
    expect(markerOf("[managed-by:DNSRecord/default/api-record@east-1] hq")).toEqual(here);
    expect(markerOf("[managed-by:VirtualNetwork/office@east-1]")).toEqual({
      kind: "VirtualNetwork",
      namespace: "",
      name: "office",
      cluster: "east-1",
    });
    const long = { ...here, namespace: "n".repeat(40), name: "m".repeat(60) };
    const comment = buildComment(long, "", 100);
    expect(comment).toMatch(/^\[managed-by:DNSRecord\/~[0-9a-f]{20}@east-1\]$/);
    expect(isSameMarker(markerOf(comment)!, long)).toBe(true);
    expect(isSameMarker(markerOf(comment)!, { ...long, cluster: "west" })).toBe(false);
    // No name of an object has an "@": what is no cluster names nobody of ours.
    expect(isSameMarker(markerOf("[managed-by:DNSRecord/default/api-record@A_B]")!, record, true)).toBe(
      false,
    );
    expect(["east-1", "a".repeat(20), "", "a".repeat(21), "A"].map(isClusterId)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$/);

  it("TUN-801 TUN-804 building once more changes nothing", () => {
    fc.assert(
      fc.property(
        name,
        name,
        fc.string({ maxLength: 150 }),
        fc.integer({ min: 100, max: 500 }),
        (namespace, own, text, limit) => {
          const owner = { kind: "DNSRecord", namespace, name: own };
          const comment = buildComment(owner, textOf(text), limit);
          expect([...comment].length).toBeLessThanOrEqual(limit);
          expect(isSameMarker(markerOf(comment)!, owner)).toBe(true);
          expect(buildComment(owner, textOf(comment), limit)).toBe(comment);
        },
      ),
    );
  });
});
