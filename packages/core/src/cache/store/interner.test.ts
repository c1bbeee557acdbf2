import { describe, expect, it } from "vitest";
import { createInterner } from "./interner.ts";

describe("interner", () => {
  it("leaves a JSON value equal to what it was", () => {
    const value = JSON.parse(`{"a":["x","x",null,1,{"__proto__":"y","b":""}],"long":"${"z".repeat(90)}"}`);
    const before = JSON.stringify(value);
    expect(JSON.stringify(createInterner().intern(value))).toBe(before);
  });

  it("CORE-180 knows strings of up to 80 characters, each once, and no longer ones", () => {
    const interner = createInterner();
    interner.intern({ a: "same", b: ["same", "same"], c: "x".repeat(80), d: "y".repeat(81) });
    expect(interner.size).toBe(2);
  });

  it("does not fill its table with what is different in every object", () => {
    const interner = createInterner();
    const metadata = { name: "n", uid: "u", resourceVersion: "7", namespace: "shared" };
    interner.intern({ metadata });
    expect(interner.size).toBe(1);
    expect(metadata).toEqual({ name: "n", uid: "u", resourceVersion: "7", namespace: "shared" });
  });

  it("CORE-180 never holds more strings than its table may", () => {
    const interner = createInterner(10);
    let most = 0;
    for (let i = 0; i < 1_000; i++) {
      interner.intern({ unique: `n${i}`, shared: "kept" });
      most = Math.max(most, interner.size);
    }
    expect(most).toBeLessThanOrEqual(10);
    const full = createInterner();
    for (let i = 0; i < 60_000; i++) full.intern([`n${i}`]);
    expect(full.size).toBeLessThanOrEqual(50_000);
    expect(full.size).toBeGreaterThan(20_000);
  });
});
