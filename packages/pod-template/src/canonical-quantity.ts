/** The form in which Kubernetes writes a quantity (apimachinery `resource.Quantity`). */
import { quantityFraction } from "./quantity.ts";

const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/** Index of no suffix in {@link DECIMAL_SUFFIXES}; each step is a factor of 1000. */
const UNIT = 3;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Below it a quantity with a binary suffix is written in decimal form. */
const SMALLEST_BINARY = 1024n;
/** Smaller parts than this are rounded up. */
const NANOS = 1_000_000_000n;

/** `1` of `1000m`, `1536Mi` of `1.5Gi`, `129e6` of itself; `undefined` for what is no quantity. */
export function canonicalQuantity(value: unknown): string | undefined {
  const fraction = quantityFraction(value);
  if (fraction === undefined) return undefined;
  const nanos = roundedUp(fraction.numerator * NANOS, fraction.denominator);
  if (nanos === 0n) return "0";
  const text = String(value);
  const whole = roundedUp(nanos, NANOS);
  const size = whole < 0n ? -whole : whole;
  if (text.endsWith("i") && size >= SMALLEST_BINARY) return binary(whole);
  // `5E` is five exa: an exponent has digits behind it.
  return /[eE][+-]?[0-9]/.test(text) ? exponential(nanos) : decimal(nanos);
}

function binary(whole: bigint): string {
  let [mantissa, step] = [whole, 0];
  while (step < BINARY_SUFFIXES.length - 1 && mantissa % SMALLEST_BINARY === 0n) {
    mantissa /= SMALLEST_BINARY;
    step += 1;
  }
  return `${mantissa}${BINARY_SUFFIXES[step]}`;
}

function decimal(nanos: bigint): string {
  const { mantissa, thousands } = withoutThousands(nanos, DECIMAL_SUFFIXES.length - 1);
  return `${mantissa}${DECIMAL_SUFFIXES[thousands]}`;
}

function exponential(nanos: bigint): string {
  const { mantissa, thousands } = withoutThousands(nanos, Number.POSITIVE_INFINITY);
  const exponent = (thousands - UNIT) * 3;
  return exponent === 0 ? String(mantissa) : `${mantissa}e${exponent}`;
}

function withoutThousands(nanos: bigint, most: number): { mantissa: bigint; thousands: number } {
  let [mantissa, thousands] = [nanos, 0];
  while (thousands < most && mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    thousands += 1;
  }
  return { mantissa, thousands };
}

function roundedUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  if (quotient * denominator === numerator) return quotient;
  return numerator < 0n ? quotient - 1n : quotient + 1n;
}
