/** Times of the API type `MicroTime`. */

/**
 * RFC 3339 text with exactly six fraction digits, which is what the API server demands of `MicroTime` fields.
 * `ms` is milliseconds since the Unix epoch.
 */
export function microTime(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.min(999, Math.floor((ms - whole) * 1_000));
  return new Date(whole).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
}
