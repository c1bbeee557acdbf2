/** How values fit parameters: literals by their syntax, others by their type. */
import { type Argument, type NumberNode, nodeText } from "./nodes.ts";
import type { Maybe, Run } from "./run.ts";
import { ANY, assignable, bool, float64, int, string, type Type, unboxed, zeroOf } from "./types.ts";

type LiteralNode = Extract<Argument, { kind: "bool" | "number" | "string" }>;

/** A literal as the argument of a parameter; without a type any value will do. */
export function literal(run: Run, node: LiteralNode, type: Type | undefined): Maybe {
  switch (type?.kind) {
    case undefined:
    case "interface":
    case "any value":
      return literalValue(run, node);
    case "bool":
      return node.kind === "bool" ? bool(node.value) : run.fail(`expected bool; found ${nodeText(node)}`);
    case "string":
      return node.kind === "string"
        ? string(node.text)
        : run.fail(`expected string; found ${nodeText(node)}`);
    case "int":
      return node.kind === "number" && node.number.int !== undefined
        ? int(node.number.int)
        : run.fail(`expected integer; found ${nodeText(node)}`);
    case "float64":
      return node.kind === "number" && node.number.float !== undefined
        ? float64(node.number.float)
        : run.fail(`expected float; found ${nodeText(node)}`);
    default:
      return run.fail(`can't handle ${nodeText(node)} for arg of type ${type!.name}`);
  }
}

const literalValue = (run: Run, node: LiteralNode): Maybe =>
  node.kind === "bool" ? bool(node.value) : node.kind === "string" ? string(node.text) : constant(run, node);

/** A number where any type is accepted: its syntax decides. */
export function constant(run: Run, node: NumberNode): Maybe {
  run.at = node;
  const { text: written, number } = node;
  const isHexInteger = /^0[xX]/.test(written) && written.length > 2 && !/[pP]/.test(written);
  if (number.float !== undefined && !isHexInteger && written[0] !== "'" && /[.eEpP]/.test(written)) {
    return float64(number.float);
  }
  return number.int === undefined ? run.fail(`${written} overflows int`) : int(number.int);
}

/** A value as the argument of a parameter. */
export function fitting(run: Run, value: Maybe, type: Type | undefined): Maybe {
  if (type === undefined || type.kind === "any value") return value;
  if (value === undefined) {
    return canBeNil(type) ? nilOf(type) : run.fail(`invalid value; expected ${type.name}`);
  }
  if (assignable(value.type, type)) return value;
  const held = unboxed(value);
  if (held !== undefined && assignable(held.type, type)) return held;
  return run.fail(`wrong type for value; expected ${type.name}; got ${(held ?? value).type.name}`);
}

const NIL_KINDS: ReadonlySet<Type["kind"]> = new Set(["slice", "map", "interface", "any value", "func"]);
export const canBeNil = (type: Type): boolean => NIL_KINDS.has(type.kind);
export const nilOf = (type: Type | undefined): Maybe => {
  const zero = type === undefined ? undefined : zeroOf(type);
  return zero?.type === ANY ? undefined : zero;
};
