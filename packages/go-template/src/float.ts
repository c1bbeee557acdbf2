/** Floating-point numbers as Go writes them. */

/** More digits than any 64-bit floating-point number has behind or before its point; zeros follow. */
const MAX_EXACT = 1100;

export type FloatVerb = "b" | "e" | "E" | "f" | "g" | "G" | "x" | "X";

interface Digits {
  /** Significant digits without the point. */
  readonly digits: string;
  /** Exponent of the first digit. */
  readonly exponent: number;
}

/**
 * Formats a number with the verb; a precision of -1 asks for the fewest digits that read back as the same number.
 * Negative numbers have their sign, others none except `+Inf`.
 */
export function formatFloat(value: number, verb: FloatVerb, precision: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return sign + formatPositive(Math.abs(value), verb, precision);
}

function formatPositive(value: number, verb: FloatVerb, precision: number): string {
  switch (verb) {
    case "b":
      return binary(value);
    case "x":
      return hexadecimal(value, precision);
    case "X":
      return hexadecimal(value, precision).toUpperCase();
    case "f":
      return fixed(value, precision);
    case "e":
    case "E":
      return scientific(precision < 0 ? shortest(value) : rounded(value, precision + 1), verb, precision);
    case "g":
    case "G":
      return general(value, verb, precision);
  }
}

function general(value: number, verb: "g" | "G", precision: number): string {
  const wanted = precision === 0 ? 1 : precision;
  const isShortest = wanted < 0;
  const number = isShortest ? shortest(value) : rounded(value, wanted);
  const digits = number.digits.replace(/0+$/, "") || "0";
  const { exponent } = number;
  let limit = isShortest ? 6 : wanted;
  if (!isShortest && limit > digits.length && digits.length >= exponent + 1) limit = digits.length;
  if (exponent < -4 || exponent >= limit) {
    return scientific({ digits, exponent }, verb === "g" ? "e" : "E", digits.length - 1);
  }
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

function scientific({ digits, exponent }: Digits, verb: "e" | "E", precision: number): string {
  const places = precision < 0 ? digits.length - 1 : precision;
  const fraction = digits.slice(1).padEnd(places, "0");
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits[0]}${fraction === "" ? "" : `.${fraction}`}${verb}${exponent < 0 ? "-" : "+"}${power}`;
}

function fixed(value: number, precision: number): string {
  if (precision < 0) {
    const { digits, exponent } = shortest(value);
    if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
    const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
    return digits.length > exponent + 1 ? `${whole}.${digits.slice(exponent + 1)}` : whole;
  }
  const exact = Math.min(precision, MAX_EXACT);
  const text = scaled(value, exact)
    .toString()
    .padStart(exact + 1, "0");
  if (precision === 0) return text;
  return `${text.slice(0, -exact)}.${text.slice(-exact).padEnd(precision, "0")}`;
}

/** The fewest digits that read back as the same number. */
function shortest(value: number): Digits {
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  return { digits: mantissa.replace(".", ""), exponent: Number(exponent) };
}

/** So many significant digits, rounded half to even on the exact value. */
function rounded(value: number, count: number): Digits {
  if (value === 0) return { digits: "0".repeat(Math.min(count, MAX_EXACT)), exponent: 0 };
  const exact = Math.min(count, MAX_EXACT);
  let { exponent } = shortest(value);
  let digits = scaled(value, exact - 1 - exponent).toString();
  if (digits.length < exact) {
    exponent -= 1;
    digits = scaled(value, exact - 1 - exponent).toString();
  }
  if (digits.length > exact) {
    exponent += 1;
    digits = digits.slice(0, exact);
  }
  return { digits, exponent };
}

/** value * 10^power as an integer, rounded half to even. */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = parts(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  const up = twice > denominator || (twice === denominator && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

/** value = mantissa * 2^exponent, as the bits say. */
function parts(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const fraction = bits & ((1n << 52n) - 1n);
  const biased = Number((bits >> 52n) & 0x7ffn);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

function binary(value: number): string {
  const { mantissa, exponent } = parts(value);
  return `${mantissa}p${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
}

function hexadecimal(value: number, precision: number): string {
  let { mantissa, exponent } = parts(value);
  if (mantissa === 0n) exponent = 0;
  else {
    const shift = BigInt(53 - mantissa.toString(2).length);
    mantissa <<= shift;
    exponent += 52 - Number(shift);
  }
  // 1.hhhh with 13 digits, then rounded half to even to the digits asked for.
  let fraction = 13;
  if (precision >= 0 && precision < 13) {
    const drop = BigInt(4 * (13 - precision));
    const rest = mantissa & ((1n << drop) - 1n);
    const half = 1n << (drop - 1n);
    mantissa >>= drop;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
    fraction = precision;
    if (mantissa >> BigInt(4 * fraction) > 1n) {
      mantissa >>= 1n;
      exponent += 1;
    }
  }
  const digits = mantissa.toString(16).padStart(fraction + 1, "0");
  let behind = digits.slice(1).padEnd(Math.max(precision, 0), "0");
  if (precision < 0) behind = behind.replace(/0+$/, "");
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `0x${digits[0]}${behind === "" ? "" : `.${behind}`}p${exponent < 0 ? "-" : "+"}${power}`;
}
