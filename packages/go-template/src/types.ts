/** The values of templates: each carries its Go type, because printing, comparing and calling depend on it. */

export type Kind =
  | "bool"
  | "string"
  | "int"
  | "uint8"
  | "uint16"
  | "float64"
  | "slice"
  | "map"
  | "struct"
  | "interface"
  | "func"
  /** Parameter of a function that takes any value as it is, also none. */
  | "any value";

/** A Go type. */
export interface Type {
  readonly kind: Kind;
  /** As Go writes it, e.g. `map[string]interface {}`. */
  readonly name: string;
  /** The name of the unnamed type that a named one is made of, where values of both fit each other. */
  readonly underlying?: string;
  /** Of slices and maps. */
  readonly element?: Type;
  /** Names of the fields of a struct. */
  readonly fields?: readonly string[];
  /** Methods by name. */
  readonly methods?: Readonly<Record<string, Method>>;
  /** How values of the type print themselves (Go's `String` method); a byte string. */
  print?(value: Value): string;
}

export type Method = (receiver: Value) => GoFunction;

/** A slice: a window on a shared backing array, as in Go. */
export interface Slice {
  readonly backing: readonly Value[];
  readonly offset: number;
  readonly length: number;
  readonly capacity: number;
}

/** A map by its keys (byte strings). */
export type GoMap = ReadonlyMap<string, Value>;

interface Of<K extends Kind, D> {
  readonly kind: K;
  readonly type: Type;
  readonly data: D;
}

/** A value; where there is none (Go's invalid value, shown as `<no value>`), `undefined` stands. */
export type Value =
  | Of<"bool", boolean>
  | Of<"string", string>
  | Of<"int" | "uint8" | "uint16", bigint>
  | Of<"float64", number>
  | Of<"slice", Slice | undefined>
  | Of<"map", GoMap | undefined>
  | Of<"struct", readonly Value[]>
  | Of<"interface", Value | undefined>
  | Of<"func", GoFunction>;

/** A function that templates can call. */
export interface GoFunction {
  /** Types of the parameters; of a variadic function the last one is that of each further argument. */
  readonly parameters: readonly Type[];
  readonly variadic?: boolean;
  /** Why templates cannot call it, though it is there. */
  readonly unusable?: string;
  /** Throws a {@link CallError} to end the rendering with an error. */
  call(args: readonly (Value | undefined)[]): Value | undefined;
}

/**
 * Thrown by functions: the rendering ends with `error calling NAME: MESSAGE`. The message is a byte string, and so is the
 * one that has no value in it, for where values are secrets; unless given it says nothing.
 */
export class CallError extends Error {
  readonly withoutValues: string;
  constructor(message: string, withoutValues = "what is wrong is not shown, for values are secret") {
    super(message);
    this.withoutValues = withoutValues;
  }
}

export const BOOL: Type = { kind: "bool", name: "bool" };
export const STRING: Type = { kind: "string", name: "string" };
export const INT: Type = { kind: "int", name: "int" };
export const INT64: Type = { kind: "int", name: "int64" };
export const UINT8: Type = { kind: "uint8", name: "uint8" };
export const UINT16: Type = { kind: "uint16", name: "uint16" };
export const FLOAT64: Type = { kind: "float64", name: "float64" };
/** Go's empty interface: holds any value. */
export const ANY: Type = { kind: "interface", name: "interface {}" };
/** See {@link Kind}. */
export const ANY_VALUE: Type = { kind: "any value", name: "reflect.Value" };
export const FUNC: Type = { kind: "func", name: "func()" };

export const sliceOf = (element: Type): Type => ({ kind: "slice", name: `[]${element.name}`, element });
export const mapOf = (element: Type): Type => ({ kind: "map", name: `map[string]${element.name}`, element });

export const STRINGS: Type = sliceOf(STRING);
export const INTS: Type = sliceOf(INT);
export const ANYS: Type = sliceOf(ANY);
export const ANY_MAP: Type = mapOf(ANY);

export const bool = (data: boolean): Value => ({ kind: "bool", type: BOOL, data });
/** A string of the bytes. */
export const string = (data: string): Value => ({ kind: "string", type: STRING, data });
/** A 64-bit integer: what does not fit wraps around. */
export const int = (data: bigint | number): Value => ({
  kind: "int",
  type: INT,
  data: BigInt.asIntN(64, BigInt(data)),
});
export const int64 = (data: bigint | number): Value => ({ ...int(data), type: INT64 }) as Value;
export const float64 = (data: number): Value => ({ kind: "float64", type: FLOAT64, data });
export const struct = (type: Type, data: readonly Value[]): Value => ({ kind: "struct", type, data });
export const map = (type: Type, data: GoMap | undefined): Value => ({ kind: "map", type, data });
/** A value, or none, in a place that can hold any. */
export const boxed = (data: Value | undefined): Value => ({
  kind: "interface",
  type: ANY,
  data: data?.kind === "interface" ? data.data : data,
});

/** How a slice came about decides its capacity, which `slice` can see. */
export type Growth = "exact" | "appended";

/** A slice of the elements; `appended` has the capacity that adding them one by one gives it. */
export function slice(type: Type, elements: readonly Value[] | undefined, growth: Growth = "exact"): Value {
  if (elements === undefined) return { kind: "slice", type, data: undefined };
  const length = elements.length;
  const capacity = growth === "exact" ? length : appendedCapacity(length);
  const zero = zeroOf(type.element ?? ANY);
  const backing =
    capacity === length || zero === undefined
      ? elements
      : [...elements, ...new Array<Value>(capacity - length).fill(zero)];
  return { kind: "slice", type, data: { backing, offset: 0, length, capacity } };
}

/** Go doubles a full backing array up to 256 elements; beyond that nothing is promised, and none is kept free. */
const appendedCapacity = (length: number): number =>
  length === 0 || length > 256 ? length : 2 ** Math.ceil(Math.log2(length));

/** The elements of a slice. */
export const elementsOf = (data: Slice | undefined): readonly Value[] =>
  data === undefined ? [] : data.backing.slice(data.offset, data.offset + data.length);

/** The zero value of a type; for places that hold any value, a box with nothing in it. */
export function zeroOf(type: Type): Value | undefined {
  switch (type.kind) {
    case "bool":
      return { kind: "bool", type, data: false };
    case "string":
      return { kind: "string", type, data: "" };
    case "int":
    case "uint8":
    case "uint16":
      return { kind: type.kind, type, data: 0n };
    case "float64":
      return { kind: "float64", type, data: 0 };
    case "slice":
      return { kind: "slice", type, data: undefined };
    case "map":
      return { kind: "map", type, data: undefined };
    case "interface":
      return { kind: "interface", type, data: undefined };
    case "struct":
      return { kind: "struct", type, data: (type.fields ?? []).map(() => string("")) };
    case "func":
    case "any value":
      return undefined;
  }
}

/** Whether a value of the first type can stand where the second is asked for. */
export function assignable(from: Type, to: Type): boolean {
  if (to.kind === "interface" || from.name === to.name) return true;
  const named = from.underlying !== undefined && to.underlying !== undefined;
  return !named && (from.underlying ?? from.name) === (to.underlying ?? to.name);
}

/** What an interface holds; any other value as it is. */
export const unboxed = (value: Value | undefined): Value | undefined =>
  value?.kind === "interface" ? value.data : value;

/** Go's truth: not zero, not empty, not nil; a struct is always true. */
export function isTrue(boxedValue: Value | undefined): boolean {
  const value = unboxed(boxedValue);
  switch (value?.kind) {
    case undefined:
      return false;
    case "bool":
      return value.data;
    case "string":
      return value.data.length > 0;
    case "slice":
      return (value.data?.length ?? 0) > 0;
    case "map":
      return (value.data?.size ?? 0) > 0;
    case "int":
    case "uint8":
    case "uint16":
      return value.data !== 0n;
    case "float64":
      return value.data !== 0;
    default:
      return true;
  }
}
