/** Admission webhooks. */
import type { Call } from "../call.ts";
import type { KubeObject } from "../object.ts";

export interface Admission {
  /** The object as the mutating webhooks leave it; the same object when none changed it. */
  mutate(call: Call, object: KubeObject, old: KubeObject | undefined): Promise<KubeObject>;
  /** Throws when a validating webhook refuses. */
  validate(call: Call, object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
}
