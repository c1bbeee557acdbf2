/** What recorded cases of any controller are made of. */

/** Any JSON object. */
export type Json = Record<string, unknown>;

/** An object as a file gives it. */
export interface RecordedObject extends Json {
  apiVersion: string;
  kind: string;
  metadata: Json & { name: string; namespace?: string };
}

/** Ways to change an object. */
export const OPERATIONS = ["apply", "merge", "delete"] as const;

export interface Step {
  readonly op: (typeof OPERATIONS)[number];
  readonly object: RecordedObject;
}
