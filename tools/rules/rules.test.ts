import { describe, expect, it } from "vitest";
import { idsIn, rulesOf } from "./catalog.ts";
import { coverage, type TestRecord, unknownIds } from "./coverage.ts";

const book = [
  "| CORE-101 | Credential order, see CORE-102. |",
  "- **TARS-CRD-001** All CRDs",
  "Text about CORE-103 in the middle.",
  "| CORE-101 | named twice |",
  "1. not a scenario here",
  "## 7. Acceptance scenarios",
  "| A1 Round trip | text |",
  "2. **WARP + Ingress** text",
  "- AS-1 (peer integration)",
  "## 8. What follows",
  "| A3 nothing | text |",
].join("\n");

const test = (title: string, state: TestRecord["state"], project = "unit"): TestRecord => ({
  project,
  file: "x.test.ts",
  title,
  state,
  milliseconds: 1,
});

describe("rule books", () => {
  it("finds IDs that open a row or an item, and scenarios below their heading", () => {
    expect(rulesOf("core", book).map((rule) => rule.id)).toEqual([
      "CORE-101",
      "TARS-CRD-001",
      "core A1",
      "core A2",
      "AS-1",
    ]);
  });

  it("reads IDs and scenarios out of test titles", () => {
    expect(idsIn("queue > CORE-201 CORE-202: runs once (core A8, tars A2)", ["core", "ds-patches"])).toEqual([
      "CORE-201",
      "CORE-202",
      "core A8",
    ]);
  });
});

describe("coverage", () => {
  const rules = rulesOf("core", book);

  it("tells real proofs from others and counts only tests that passed", () => {
    const [core] = coverage(rules, [
      test("CORE-101 a", "passed"),
      test("CORE-101 b", "passed", "real"),
      test("core A1 c", "passed", "double"),
      test("core A2 d", "skipped", "real"),
    ]);
    expect(core).toMatchObject({ rules: 5, real: ["CORE-101"], doubleOrUnit: ["core A1"] });
    expect(core?.unproved).toEqual(["TARS-CRD-001", "core A2", "AS-1"]);
  });

  it("takes a rule as unproved while one of its tests fails", () => {
    const [core] = coverage(rules, [test("CORE-101 a", "passed"), test("CORE-101 b", "failed")]);
    expect(core?.unproved).toContain("CORE-101");
  });

  it("lists IDs of a known family that no rule book has", () => {
    expect(unknownIds(rules, [test("CORE-999 x", "passed"), test("UTF-8 works", "passed")])).toEqual([
      "CORE-999",
    ]);
  });
});
