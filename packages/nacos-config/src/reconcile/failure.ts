/** Turns errors of single steps into what the status says of them. No text holds the content of an object. */
import { ApiError, ConnectionError, isForbidden, isInvalid, isNamespaceTerminating } from "@quartet/core";
import { StrategicMergeError } from "@quartet/strategic-merge";
import type { Claim } from "../desired/ownership.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";

/** What a step was about, for messages: `StatefulSet demo`. */
export type Subject = string;

/**
 * The failure of a step. Errors that are no answer of the API server, such as an aborted pass or a lost lease, are
 * thrown on.
 */
export function stepFailure(subject: Subject, error: unknown): StepFailure {
  const code = EVENT_CODES.other;
  if (error instanceof ConnectionError) {
    return { code, reason: "ConnectionFailed", message: `${subject}: the API server cannot be reached` };
  }
  if (!(error instanceof ApiError)) throw error;
  const terminating: boolean = isNamespaceTerminating(error);
  if (terminating) {
    return { code, reason: "NamespaceTerminating", message: `${subject}: the namespace is being deleted` };
  }
  const { method, path } = error;
  const forbidden: boolean = isForbidden(error);
  if (forbidden) {
    const message = `${subject}: ${method} ${path} is forbidden; grant it, or lift what refuses it`;
    return { code, reason: "Forbidden", message };
  }
  return { code, reason: reasonOf(error), message: `${subject}: ${summary(error)}` };
}

/** The refusal of a pod spec that the user's input brought about. */
export function podSpecRejection(subject: Subject, error: unknown): StepFailure {
  if (error instanceof StrategicMergeError) {
    const message = `${subject}: a list of the pod has an element without the field that tells it apart`;
    return { code: EVENT_CODES.badParameter, reason: "PodSpecRejected", message, condition: "SpecValid" };
  }
  const failure = stepFailure(subject, error);
  const malformed = error instanceof ApiError && error.code === 400;
  if (!malformed && !isInvalid(error)) return failure;
  return {
    reason: "PodSpecRejected",
    message: malformed ? `${failure.message}: ${misfit(error.message)}` : failure.message,
    condition: "SpecValid",
    code: EVENT_CODES.badParameter,
  };
}

/** Which value the server could not read, and what it should be; the value itself may be in the server's words. */
function misfit(words: string): string {
  const [, field, type] = /Go struct field (?:[A-Z]\w*\.)?(\S+) of type (\S+)/.exec(words) ?? [];
  if (field !== undefined) return `${field} must be of type ${type}`;
  return words.includes("quantities") ? "a quantity is malformed" : "a value is malformed";
}

/** Status, reason and fields of a refusal, without the values that the server quotes. */
function summary(error: ApiError): string {
  const fields = error.details.causes
    .map(({ field, reason }) => [field, reason].filter(Boolean).join(" "))
    .filter((text) => text !== "");
  const list = fields.length === 0 ? "" : `: ${[...new Set(fields)].join(", ")}`;
  return `the API server answered ${error.code} ${error.reason}${list}`;
}

/** The server's reason when it is fit for a condition. */
function reasonOf(error: ApiError): string {
  return /^[A-Za-z]+$/.test(error.reason) ? error.reason : "RequestFailed";
}

/** The failure of meeting an object that cannot be touched; `undefined` for one that can. */
export function claimFailure(
  subject: Subject,
  claim: Claim,
  conflict = "ResourceConflict",
): StepFailure | undefined {
  const code = EVENT_CODES.other;
  if (claim.state === "leaving") {
    const message = `${subject} of a former resource is still there; waiting for it to go`;
    return { code, reason: "WaitingForGarbageCollection", message };
  }
  if (claim.state !== "foreign") return undefined;
  const owner = claim.owner === "unmanaged" ? "is unmanaged" : `belongs to ${claim.owner}`;
  return { code, reason: conflict, message: `${subject} exists and ${owner}; it is left alone` };
}
