import { describe, expect, it } from "vitest";
import { driftLines, foreignRules } from "./drift.ts";

const LAST = { service: "http_status:404" };
const rule = (hostname: string) => ({ hostname, service: "http://x:1" });
const desired = { ingress: [rule("a.b"), LAST], originRequest: {}, "warp-routing": { enabled: false } };

describe("drift", () => {
  it("TUN-632 is none where both mean the same", () => {
    expect(
      driftLines(
        { ingress: [{ ...rule("a.b"), path: "", originRequest: {}, id: "x" }, LAST], future: 1 },
        desired,
      ),
    ).toEqual([]);
    expect(driftLines({ ...desired, originRequest: null as never }, desired)).toEqual([]);
  });

  it("TUN-632 TUN-633 TUN-635 is told in at most five lines, and is there where nothing is", () => {
    expect(driftLines(null, desired)).toHaveLength(2);
    expect(driftLines({ ...desired, ingress: [LAST, rule("a.b")] }, desired)).toEqual([
      "the order of the rules",
    ]);
    expect(driftLines({ ...desired, "warp-routing": { enabled: true } }, desired)).toEqual([
      "warp-routing true",
    ]);
    const many = Array.from({ length: 9 }, (_, index) => rule(`x${index}.b`));
    const lines = driftLines({ ...desired, ingress: [...many, LAST] }, desired);
    expect([lines.length, lines.at(-1)]).toEqual([5, "6 more"]);
  });

  it("TUN-627 knows rules of others from a catch-all and from its own", () => {
    expect(foreignRules({ ingress: [rule("a.b"), { service: "http_status:503" }] }, desired)).toBe(false);
    expect(foreignRules({ ingress: [rule("other"), LAST] }, desired)).toBe(true);
    expect(foreignRules(null, desired)).toBe(false);
  });
});
