/** The comparison functions of templates. */
import { shownValue } from "./printf.ts";
import { CallError, type Type, unboxed, type Value } from "./types.ts";

type Maybe = Value | undefined;
type Basic = "bool" | "int" | "uint" | "float" | "string" | undefined;

const BASIC: Readonly<Partial<Record<Value["kind"], Basic>>> = {
  bool: "bool",
  int: "int",
  uint8: "uint",
  uint16: "uint",
  float64: "float",
  string: "string",
};
const basicOf = (value: Maybe): Basic => (value === undefined ? undefined : BASIC[value.kind]);

const incompatible = (a: Value, b: Value): CallError =>
  new CallError(`incompatible types for comparison: ${a.type.name} and ${b.type.name}`);
const INVALID = "invalid type for comparison";

/** Whether the first equals any of the others. */
export function equalsAny(boxedFirst: Maybe, others: readonly Maybe[]): boolean {
  if (others.length === 0) throw new CallError("missing argument for comparison");
  const first = unboxed(boxedFirst);
  return others.some((other) => equals(first, unboxed(other)));
}

function equals(a: Maybe, b: Maybe): boolean {
  const kinds = [basicOf(a), basicOf(b)];
  if (kinds[0] !== kinds[1]) {
    if (kinds.includes("int") && kinds.includes("uint")) return a!.data === b!.data;
    if (a !== undefined && b !== undefined) throw incompatible(a, b);
    return false;
  }
  if (kinds[0] !== undefined) return a!.data === b!.data;
  return equalsOther(a, b);
}

/** Compares what is neither number, string nor boolean. */
function equalsOther(a: Maybe, b: Maybe): boolean {
  if (a !== undefined && b !== undefined && a.kind !== b.kind) {
    const [left, right] = [shownValue(a, "s"), shownValue(b)];
    throw new CallError(`non-comparable types ${left}: ${a.type.name}, ${b.type.name}: ${right}`);
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b);
  if (!isComparable(b!.type)) {
    throw new CallError(`non-comparable type ${shownValue(b, "s")}: ${b!.type.name}`);
  }
  return a!.type.name === b!.type.name && shownValue(a) === shownValue(b) && sameFields(a!, b!);
}

const sameFields = (a: Value, b: Value): boolean =>
  a.kind === "struct" &&
  b.kind === "struct" &&
  a.data.every((field, index) => field.kind === b.data[index]?.kind && field.data === b.data[index]?.data);

const isComparable = (type: Type): boolean => type.kind === "struct";
const isNil = (value: Maybe): boolean =>
  value === undefined || ((value.kind === "slice" || value.kind === "map") && value.data === undefined);

/** Whether the first is less than the second. */
export function isLess(boxedA: Maybe, boxedB: Maybe): boolean {
  const a = unboxed(boxedA);
  const b = unboxed(boxedB);
  const kindA = basicOf(a);
  const kindB = basicOf(b);
  if (a === undefined || b === undefined || kindA === undefined || kindB === undefined)
    throw new CallError(INVALID);
  const integers = [kindA, kindB].every((kind) => kind === "int" || kind === "uint");
  if (kindA !== kindB && !integers) throw incompatible(a, b);
  if (kindA === "bool") throw new CallError(INVALID);
  return (a.data as number | bigint | string) < (b.data as number | bigint | string);
}

/** `<=` is less or equal, and so the two questions in this order. */
export const isLessOrEqual = (a: Maybe, b: Maybe): boolean => isLess(a, b) || equalsAny(a, [b]);
