import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TerminalError } from "../controller/errors.ts";
import {
  type Condition,
  type ConditionInput,
  findCondition,
  isTrue,
  outcomeOf,
  setCondition,
  setOutcome,
} from "./conditions.ts";

const T0 = Date.parse("2026-01-01T00:00:00.750Z");
const T1 = Date.parse("2026-01-01T01:00:00Z");
const ready: ConditionInput = { type: "Ready", status: "True", reason: "Done", observedGeneration: 1 };

describe("setCondition", () => {
  it("CORE-301 CORE-302 appends a new type with its time in whole seconds", () => {
    const other: Condition = {
      type: "Other",
      status: "False",
      lastTransitionTime: "2025-01-01T00:00:00Z",
      reason: "X",
      message: "",
    };
    expect(setCondition([other], ready, T0)).toEqual({
      changed: true,
      conditions: [other, { ...ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    });
    expect(setCondition(undefined, ready, T0).conditions).toHaveLength(1);
  });

  it("CORE-302 changes nothing when the same is set again", () => {
    const { conditions } = setCondition([], { ...ready, message: "all well" }, T0);
    const again = setCondition(conditions, { ...ready, message: "all well" }, T1);
    expect(again).toEqual({ conditions, changed: false });
  });

  it.each<[string, Partial<ConditionInput>]>([
    ["reason", { reason: "StillDone" }],
    ["message", { message: "new text" }],
    ["observedGeneration", { observedGeneration: 2 }],
  ])("CORE-302 a change of the %s alone is taken, and keeps the transition time", (_field, change) => {
    const { conditions } = setCondition([], ready, T0);
    expect(setCondition(conditions, { ...ready, ...change }, T1)).toEqual({
      changed: true,
      conditions: [{ ...conditions[0], ...change }],
    });
  });

  it("CORE-302 CORE-303 a change of the status moves the time, and the order stays", () => {
    let { conditions } = setCondition([], { ...ready, type: "A" }, T0);
    for (const type of ["B", "C"]) ({ conditions } = setCondition(conditions, { ...ready, type }, T0));
    const next = setCondition(conditions, { ...ready, type: "B", status: "False" }, T1);
    expect(next.changed).toBe(true);
    expect(next.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ["A", "2026-01-01T00:00:00Z"],
      ["B", "2026-01-01T01:00:00Z"],
      ["C", "2026-01-01T00:00:00Z"],
    ]);
    expect(conditions[1]?.status).toBe("True");
  });

  it.each(["", "1st", "Not ready", "Ends:", "a".repeat(1025)])("CORE-301 refuses the reason %j", (reason) => {
    expect(() => setCondition([], { ...ready, reason }, T0)).toThrow(/condition Ready: reason/);
  });

  it.each(["A", "a_1", "Waiting:For,Pods", "a".repeat(1024)])("CORE-301 takes the reason %j", (reason) => {
    expect(setCondition([], { ...ready, reason }, T0).conditions[0]?.reason).toBe(reason);
  });

  it("CORE-301 CORE-302 cuts a message beyond 32 768 characters, between characters, always at the same place", () => {
    const long = "🙂".repeat(40_000);
    const first = setCondition([], { ...ready, message: long }, T0);
    const { message } = first.conditions[0]!;
    expect([...message]).toHaveLength(32_768);
    expect(message.endsWith("🙂…")).toBe(true);
    expect(setCondition(first.conditions, { ...ready, message: long }, T1).changed).toBe(false);
    const fits = "🙂".repeat(32_768);
    expect(setCondition([], { ...ready, message: fits }, T0).conditions[0]?.message).toBe(fits);
  });

  it("CORE-302 writes half a character as the server will give it back", () => {
    const { conditions } = setCondition([], { ...ready, message: "half \ud83d of one" }, T0);
    expect(conditions[0]?.message).toBe("half \uFFFD of one");
  });
});

describe("any conditions", () => {
  const inputs = fc.array(
    fc.record<ConditionInput>(
      {
        type: fc.constantFrom("Ready", "Stalled", "Other"),
        status: fc.constantFrom("True", "False", "Unknown"),
        reason: fc.constantFrom("A", "B"),
        message: fc.oneof(fc.constantFrom("", "text"), fc.string({ unit: "binary" })),
        observedGeneration: fc.integer({ min: 1, max: 3 }),
      },
      { requiredKeys: ["type", "status", "reason"] },
    ),
    { maxLength: 8 },
  );
  const setAll = (conditions: readonly Condition[], all: readonly ConditionInput[], now: number) =>
    all.reduce((list, input) => setCondition(list, input, now).conditions, [...conditions]);
  const latest = (all: readonly ConditionInput[]) => [...new Map(all.map((one) => [one.type, one])).values()];

  it("CORE-302 CORE-303 setting what is there, later and in any order, changes nothing", () => {
    fc.assert(
      fc.property(inputs, inputs, (before, inputsNow) => {
        const conditions = setAll(setAll([], before, T0), inputsNow, T1);
        for (const input of latest(inputsNow).toReversed()) {
          expect(setCondition(conditions, input, T1 + 5_000)).toEqual({ conditions, changed: false });
        }
      }),
    );
  });

  it("CORE-302 CORE-303 a change touches its own condition alone, is told, and moves the time with the status only", () => {
    fc.assert(
      fc.property(
        inputs,
        inputs.filter(({ length }) => length > 0),
        (before, [input]) => {
          const conditions = setAll([], before, T0);
          const result = setCondition(conditions, input!, T1);
          const at = conditions.findIndex(({ type }) => type === input!.type);
          const old = conditions[at];
          const place = old === undefined ? conditions.length : at;
          expect(result.conditions.toSpliced(place, 1)).toEqual(conditions.filter((one) => one !== old));
          const set = result.conditions[place]!;
          expect(set).toMatchObject({ type: input!.type, status: input!.status, reason: input!.reason });
          expect(set.observedGeneration).toBe(input!.observedGeneration);
          expect(set.lastTransitionTime).toBe(
            old?.status === input!.status ? old.lastTransitionTime : "2026-01-01T01:00:00Z",
          );
          const isSame = (a: object, b: object | undefined): boolean =>
            JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b ?? {}).sort());
          expect(result.changed).toBe(!isSame(set, old));
        },
      ),
    );
  });
});

describe("reading", () => {
  it("finds a condition by its type", () => {
    const { conditions } = setCondition([], ready, T0);
    expect(findCondition(conditions, "Ready")?.reason).toBe("Done");
    expect(findCondition(conditions, "Other")).toBeUndefined();
    expect(findCondition(undefined, "Ready")).toBeUndefined();
  });

  it("CORE-304 Ready counts as False while it is about an older generation", () => {
    const [condition] = setCondition([], ready, T0).conditions;
    expect(isTrue({ metadata: { generation: 1 } }, condition)).toBe(true);
    expect(isTrue({ metadata: { generation: 2 } }, condition)).toBe(false);
    expect(isTrue({ metadata: { generation: 1 } }, { ...condition!, status: "Unknown" })).toBe(false);
    expect(isTrue({ metadata: {} }, undefined)).toBe(false);
  });
});

describe("setOutcome", () => {
  const statuses = (conditions: readonly Condition[]) =>
    Object.fromEntries(conditions.map(({ type, status }) => [type, status]));

  it("CORE-304 one of Ready, Reconciling and Stalled is True, with the reason and the generation", () => {
    const { conditions } = setOutcome([], { state: "reconciling", reason: "Waiting" }, 3, T0);
    expect(statuses(conditions)).toEqual({ Ready: "False", Reconciling: "True", Stalled: "False" });
    expect(
      conditions.every(({ reason, observedGeneration }) => reason === "Waiting" && observedGeneration === 3),
    ).toBe(true);
    const done = setOutcome(conditions, { state: "ready", reason: "Done" }, 3, T0);
    expect(statuses(done.conditions)).toEqual({ Ready: "True", Reconciling: "False", Stalled: "False" });
    expect(setOutcome(done.conditions, { state: "ready", reason: "Done" }, 3, T1).changed).toBe(false);
  });

  it("CORE-304 a terminal error stalls with its reason, and the next generation clears it", () => {
    const error = new Error("outer", { cause: new TerminalError("no such class", { reason: "BadClass" }) });
    const stalled = setOutcome([], outcomeOf(error), 1, T0);
    expect(findCondition(stalled.conditions, "Stalled")).toMatchObject({
      status: "True",
      reason: "BadClass",
      message: "outer: no such class",
    });
    const next = setOutcome(stalled.conditions, { state: "ready", reason: "Done" }, 2, T1);
    expect(statuses(next.conditions)).toEqual({ Ready: "True", Reconciling: "False", Stalled: "False" });
  });

  it("CORE-304 any other error is being reconciled; its text holds no secret", () => {
    expect(outcomeOf(new Error("GET https://u:hunter2@db: refused"))).toEqual({
      state: "reconciling",
      reason: "ReconcileError",
      message: "GET https://u:[redacted]@db: refused",
    });
  });
});
