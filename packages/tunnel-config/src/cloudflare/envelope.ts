/** The envelope of every answer (TUN-1101), read from whatever a server sent. */

export interface ResultInfo {
  readonly page?: number;
  readonly per_page?: number;
  readonly count?: number;
  readonly total_count?: number;
  readonly total_pages?: number;
  readonly cursor?: string;
}

export interface EnvelopeBody {
  readonly success: boolean;
  readonly errors: readonly { readonly code: number; readonly message: string }[];
  readonly result: unknown;
  readonly result_info?: ResultInfo;
}

/** Errors that are read of one answer. */
const MAX_ERRORS = 20;

/** The envelope, or nothing when the text is none. */
export function readEnvelope(text: string): EnvelopeBody | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMap(value) || typeof value.success !== "boolean") return undefined;
  const info = isMap(value.result_info) ? { result_info: value.result_info as ResultInfo } : {};
  return { success: value.success, errors: errorsOf(value.errors), result: value.result ?? null, ...info };
}

/** All errors in one line. */
export function messageOfEnvelope({ errors }: EnvelopeBody): string {
  if (errors.length === 0) return "no reason given";
  return errors.map(({ code, message }) => `${message} (${code})`).join("; ");
}

function errorsOf(value: unknown): EnvelopeBody["errors"] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_ERRORS).flatMap((error: unknown) => {
    if (!isMap(error)) return [];
    const chain = Array.isArray(error.error_chain) ? errorsOf(error.error_chain) : [];
    return [{ code: Number(error.code) || 0, message: String(error.message ?? "") }, ...chain];
  });
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
