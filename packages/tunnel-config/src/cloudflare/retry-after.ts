/** The header Retry-After. */

/** Longest pause that is taken from a server, in seconds (TUN-1010's table). */
const MAX_SECONDS = 900;

/**
 * Milliseconds to wait: seconds or an HTTP date; a date that has passed is 0. Nothing when the header is missing or is
 * neither.
 * @param now wall-clock time in milliseconds
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d{1,10}(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  if (!Number.isFinite(seconds)) return undefined;
  return Math.round(Math.min(Math.max(0, seconds), MAX_SECONDS) * 1000);
}
