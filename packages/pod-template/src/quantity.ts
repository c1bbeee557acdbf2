/** Kubernetes quantities, compared exactly. */

/** An exact fraction. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Longer texts are no quantity here: the largest that the server keeps has 19 digits, and big numbers cost time. */
const MAX_LENGTH = 64;
const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Powers of ten of the decimal suffixes. */
const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** True for text or a number that Kubernetes takes as a quantity. */
export function isQuantity(value: unknown): boolean {
  return quantityFraction(value) !== undefined;
}

/** Negative, zero or positive as `a` is less than, equal to or more than `b`; `undefined` when one is no quantity. */
export function compareQuantities(a: unknown, b: unknown): number | undefined {
  const left = quantityFraction(a);
  const right = quantityFraction(b);
  if (left === undefined || right === undefined) return undefined;
  const difference = left.numerator * right.denominator - right.numerator * left.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The exact value of a quantity; `undefined` for what is none. */
export function quantityFraction(value: unknown): Fraction | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  const match = text.length > MAX_LENGTH ? null : FORM.exec(text);
  if (match === null) return undefined;
  const [, sign, digits, suffix = ""] = match;
  const [whole = "", decimals = ""] = digits!.split(".");
  const numerator = BigInt(`${sign === "-" ? "-" : ""}${whole}${decimals}`);
  const power = (DECIMAL[suffix] ?? exponentOf(suffix)) - decimals.length;
  const binary = 1024n ** BigInt(BINARY.indexOf(suffix) + 1);
  return {
    numerator: numerator * binary * (power > 0 ? 10n ** BigInt(power) : 1n),
    denominator: power < 0 ? 10n ** BigInt(-power) : 1n,
  };
}

function exponentOf(suffix: string): number {
  return /^[eE]/.test(suffix) ? Number(suffix.slice(1)) : 0;
}
