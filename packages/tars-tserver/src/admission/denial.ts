/**
 * Texts of denials. Clients of the peer look for them, so they are its texts to the letter, spelling included, wherever
 * it has one; observed on K8SFramework 1.4.1.
 */

/** Why a request is refused; `undefined` when it is not. */
export type Denial = string | undefined;

export const invalid = (resource: string, problem: string): string =>
  `${resource} resource is invalid : ${problem}`;

export const immutable = (resource: string, path: string): string =>
  `${resource} resource filed "${path}" is immutable`;

export const missing = (resource: string, namespace: string, name: string): string =>
  `${resource} ${namespace}/${name} not exists`;

/** The first denial of several checks. */
export function first(...checks: readonly (() => Denial)[]): Denial {
  for (const check of checks) {
    const denial = check();
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** Something in an object that is wrong; `id` names the value, so that an old one can be told from a new one. */
export interface Offence {
  readonly id: string;
  readonly text: string;
}

/** The first offence that the old object does not have: what is there already never blocks another edit. */
export function newOffence(now: readonly Offence[], before: readonly Offence[] = []): Denial {
  const known = new Set(before.map(({ id }) => id));
  return now.find(({ id }) => !known.has(id))?.text;
}

/** The first value that occurs twice. */
export function duplicate<T>(values: readonly T[]): T | undefined {
  const seen = new Set<T>();
  for (const value of values) {
    if (seen.has(value)) return value;
    seen.add(value);
  }
  return undefined;
}
