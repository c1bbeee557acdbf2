/** Growing pauses after failures. */

/** Pauses vary by this part up and down, so that many agents do not come back at once. */
const JITTER = 0.2;

/** The pause before the next try after so many failures in a row (from 1), in milliseconds. */
export function backoffDelay(failures: number, first: number, longest: number): number {
  const plain = Math.min(first * 2 ** Math.min(failures - 1, 30), longest);
  return plain * (1 - JITTER + 2 * JITTER * Math.random());
}
