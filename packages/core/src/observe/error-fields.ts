/** Fields of a log line that describe an error. */
import { redactText } from "./redact.ts";

/** Deepest chain of causes that a message shows. */
const MAX_CAUSES = 5;

/**
 * `error` and `stacktrace`, and for errors of the API server `code` and `reason`. The message names the causes, as
 * `outer: inner`.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: redactText(String(error)) };
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  return {
    error: redactText(messageOf(error)),
    ...((typeof code === "number" || typeof code === "string") && { code }),
    ...(typeof reason === "string" && reason !== "" && { reason }),
    ...(error.stack !== undefined && { stacktrace: redactText(error.stack) }),
  };
}

/** Message of an error with those of its causes, and of all errors of an `AggregateError`. */
export function messageOf(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  while (current !== undefined && current !== null && parts.length < MAX_CAUSES) {
    const own = current instanceof Error ? current.message : String(current);
    const inner = current instanceof AggregateError ? current.errors.map(messageOf).join("; ") : "";
    const text = [own, inner].filter((part) => part !== "").join(": ");
    // Many errors repeat their cause's message at the end of their own.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(": ");
}
