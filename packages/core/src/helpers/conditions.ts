/** Conditions of a status, as `metav1.Condition` defines them. */
import { terminalErrorIn } from "../controller/errors.ts";
import { messageOf } from "../observe/error-fields.ts";
import { redactText } from "../observe/redact.ts";

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  /** Generation of the spec that was reconciled (CORE-303). */
  observedGeneration?: number;
  /** RFC 3339, whole seconds. */
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** A condition as a controller states it; the transition time is the helper's business. */
export type ConditionInput = Omit<Condition, "lastTransitionTime" | "message"> & { message?: string };

/** Limits of the API server's schema of `metav1.Condition`; it counts code points. */
const MAX_MESSAGE = 32_768;
const MAX_REASON = 1024;
/** Half of a character; the server would store U+FFFD. */
const LONE_SURROGATE = /\p{Surrogate}/gu;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/**
 * The conditions with one of them set. The transition time moves only when the status does; the order stays, a new type
 * comes last. Setting the same again gives equal conditions, so that nothing needs to be written.
 * @param now milliseconds since the Unix epoch
 * @returns the new list and whether it differs from the old one
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  input: ConditionInput,
  now: number,
): { conditions: Condition[]; changed: boolean } {
  if (!REASON.test(input.reason) || input.reason.length > MAX_REASON) {
    throw new TypeError(
      `condition ${input.type}: reason ${JSON.stringify(input.reason)} is not a CamelCase word`,
    );
  }
  const list = [...(conditions ?? [])];
  const index = list.findIndex(({ type }) => type === input.type);
  const old = list[index];
  const message = cut(input.message ?? "");
  const stamp = old?.status === input.status ? old.lastTransitionTime : seconds(now);
  const next: Condition = { ...input, lastTransitionTime: stamp, message };
  const changed =
    old === undefined ||
    old.status !== next.status ||
    old.reason !== next.reason ||
    old.message !== next.message ||
    old.observedGeneration !== next.observedGeneration;
  if (changed) list[index < 0 ? list.length : index] = next;
  return { conditions: list, changed };
}

/** The condition of a type. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether a condition says True about this generation; one about an older generation does not count (CORE-304). */
export function isTrue(
  object: { readonly metadata: { readonly generation?: number } },
  condition: Pick<Condition, "status" | "observedGeneration"> | undefined,
): boolean {
  return (
    condition?.status === "True" && (condition.observedGeneration ?? 0) >= (object.metadata.generation ?? 0)
  );
}

/** The standard set of a controller without a peer's status shape: Ready, Reconciling, Stalled (CORE-304). */
export type Outcome =
  | { state: "ready"; reason: string; message?: string }
  | { state: "reconciling"; reason: string; message?: string }
  /** Nothing will change until the spec does. */
  | { state: "stalled"; reason: string; message?: string };

/** Sets the standard conditions after a pass over `generation`. */
export function setOutcome(
  conditions: readonly Condition[] | undefined,
  outcome: Outcome,
  generation: number,
  now: number,
): { conditions: Condition[]; changed: boolean } {
  const { state, reason, message = "" } = outcome;
  const status = (on: boolean): "True" | "False" => (on ? "True" : "False");
  const states = { Ready: "ready", Reconciling: "reconciling", Stalled: "stalled" } as const;
  let current = [...(conditions ?? [])];
  let changed = false;
  for (const [type, own] of Object.entries(states)) {
    const input = { type, status: status(state === own), reason, message, observedGeneration: generation };
    const result = setCondition(current, input, now);
    current = result.conditions;
    changed ||= result.changed;
  }
  return { conditions: current, changed };
}

/** Outcome of a reconcile that threw: stalled for a `TerminalError`, which says its reason, else to be tried again. */
export function outcomeOf(error: unknown): Outcome {
  const message = redactText(messageOf(error));
  const terminal = terminalErrorIn(error);
  return terminal === undefined
    ? { state: "reconciling", reason: "ReconcileError", message }
    : { state: "stalled", reason: terminal.reason, message };
}

/** RFC 3339 in whole seconds, as `metav1.Time` is written. */
export function seconds(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Cuts between characters: half of one would come back from the server as another text, to be written again. */
function cut(message: string): string {
  const whole = message.replace(LONE_SURROGATE, "\uFFFD");
  if (whole.length <= MAX_MESSAGE) return whole;
  const characters = [...whole];
  return characters.length <= MAX_MESSAGE ? whole : `${characters.slice(0, MAX_MESSAGE - 1).join("")}…`;
}
