/** Times with microseconds, as Leases and Events hold them. */

/**
 * RFC 3339 text with exactly six fraction digits, the only form that the server takes in MicroTime fields
 * (`toISOString()` has three and is refused with 400).
 *
 * @param ms wall-clock milliseconds since the Unix epoch; a fraction is kept down to the microsecond
 */
export function microTime(ms: number): string {
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = String(micros - seconds * 1_000_000).padStart(6, "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, -".000Z".length)}.${fraction}Z`;
}
