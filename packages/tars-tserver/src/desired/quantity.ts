/** Kubernetes quantities in one spelling. */

const FORM = /^([+-]?)(\d{1,30}\.?\d{0,30}|\.\d{1,30})([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;
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

/** A text that is equal for equal amounts; what is no quantity stays as it is. */
export function canonicalQuantity(value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const match = FORM.exec(String(value));
  if (match === null) return value;
  const [, sign, digits = "", suffix = ""] = match;
  const [whole = "", decimals = ""] = digits.split(".");
  const power = (DECIMAL[suffix] ?? exponentOf(suffix)) - decimals.length;
  const binary = 1024n ** BigInt(BINARY.indexOf(suffix) + 1);
  let numerator = BigInt(`${sign === "-" ? "-" : ""}${whole}${decimals}`) * binary;
  if (numerator === 0n) return "0";
  let zeros = power;
  while (numerator % 10n === 0n) {
    numerator /= 10n;
    zeros += 1;
  }
  return `${numerator}e${zeros}`;
}

function exponentOf(suffix: string): number {
  return /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : 0;
}
