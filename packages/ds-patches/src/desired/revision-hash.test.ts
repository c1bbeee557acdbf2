import { expect, it } from "vitest";
import { fnv1a, revisionHash, safeEncoded } from "./revision-hash.ts";

it("DSP-607 the name of a revision is FNV-1a in letters that spell nothing", () => {
  expect(fnv1a("")).toBe(2166136261);
  expect(safeEncoded("2166136261")).toBe("65bb57b6b5");
  // Published vectors of FNV-1a 32.
  expect(fnv1a("a")).toBe(0xe40c292c);
  expect(fnv1a("foobar")).toBe(0xbf9cf968);
  expect(revisionHash("{}", 1)).not.toBe(revisionHash("{}"));
});
