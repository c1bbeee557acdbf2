/** Resource quantities, printed as the server prints them: `1024Mi` becomes `1Gi`, `0.5` becomes `500m`. */

const SYNTAX = /^([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** The server keeps nine decimal places and rounds up beyond them. */
const NANO = 9;

const power = (base: bigint, exponent: number): bigint => base ** BigInt(exponent);

interface Parsed {
  /** Value in units of 1e-9. */
  nano: bigint;
  form: "binary" | "decimal" | "exponent";
}

function parse(text: string): Parsed | undefined {
  const match = SYNTAX.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, digits = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = digits.split(".");
  const mantissa = BigInt(`${whole}${fraction}` || "0");
  const binary = BINARY.indexOf(suffix);
  const isExponent = /^[eE][+-]?\d/.test(suffix);
  const exponent = isExponent ? Number(suffix.slice(1)) : (DECIMAL[suffix] ?? 0);
  let numerator = mantissa;
  if (binary > 0) numerator *= power(1024n, binary);
  const shift = NANO - fraction.length + (binary > 0 ? 0 : exponent);
  let nano: bigint;
  if (shift >= 0) nano = numerator * power(10n, shift);
  else {
    const divisor = power(10n, -shift);
    nano = numerator / divisor + (numerator % divisor === 0n ? 0n : 1n);
  }
  return {
    nano: sign === "-" ? -nano : nano,
    form: binary > 0 ? "binary" : isExponent ? "exponent" : "decimal",
  };
}

function printBinary(nano: bigint): string {
  let value = nano / power(10n, NANO);
  let step = 0;
  while (value !== 0n && value % 1024n === 0n && step < BINARY.length - 1) {
    value /= 1024n;
    step += 1;
  }
  return `${value}${BINARY[step]}`;
}

function printDecimal(nano: bigint, exponentForm: boolean): string {
  if (nano === 0n) return "0";
  let value = nano;
  let exponent = -NANO;
  while (value % 1000n === 0n && (exponentForm || exponent < 18)) {
    value /= 1000n;
    exponent += 3;
  }
  if (exponentForm) return exponent === 0 ? `${value}` : `${value}e${exponent}`;
  const suffix = Object.keys(DECIMAL).find((key) => DECIMAL[key] === exponent) ?? "";
  return `${value}${suffix}`;
}

/** Amounts in resource lists are kept to the thousandth, rounded up. */
const MILLI = 6;

/**
 * Canonical text of a quantity, `undefined` when it is none. Numbers are taken as the server takes them.
 * `resource`: an entry of a resource list.
 */
export function canonicalQuantity(value: unknown, resource = false): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const parsed = parse(String(value));
  if (parsed === undefined) return undefined;
  const step = power(10n, MILLI);
  const rest = parsed.nano % step;
  const nano = resource && rest !== 0n ? parsed.nano - rest + (parsed.nano > 0n ? step : 0n) : parsed.nano;
  const unit = power(10n, NANO);
  const small = nano < 1024n * unit && nano > -1024n * unit;
  // a binary form would lose the fraction
  if (parsed.form === "binary" && !small && nano % unit === 0n) return printBinary(nano);
  return printDecimal(nano, parsed.form === "exponent");
}

/** Numeric order of two quantities: negative, zero or positive. */
export function compareQuantities(left: unknown, right: unknown): number {
  const a = parse(String(left))?.nano ?? 0n;
  const b = parse(String(right))?.nano ?? 0n;
  return a < b ? -1 : a > b ? 1 : 0;
}
