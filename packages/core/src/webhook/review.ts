/** Reading and answering of AdmissionReview and ConversionReview bodies; pure. */
import { HttpError } from "./http-error.ts";
import type { AdmissionRequest } from "./types.ts";

const ADMISSION_VERSION = "admission.k8s.io/v1";

/** `response` of an AdmissionReview v1. */
export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  status?: {
    code: number;
    reason?: string;
    message?: string;
    details?: { causes: StatusCause[]; name?: string; kind?: string };
  };
  patchType?: "JSONPatch";
  /** Base64 of a JSON patch. */
  patch?: string;
  warnings?: string[];
}

interface StatusCause {
  reason: string;
  message: string;
  field: string;
}

export interface AdmissionReview {
  apiVersion: typeof ADMISSION_VERSION;
  kind: "AdmissionReview";
  response: AdmissionResponse;
}

/** The request of an AdmissionReview v1; anything else is an HTTP 400. */
export function admissionRequestOf(body: unknown): AdmissionRequest {
  const review = body as { apiVersion?: unknown; kind?: unknown; request?: AdmissionRequest } | null;
  if (review?.apiVersion !== ADMISSION_VERSION || review.kind !== "AdmissionReview") {
    throw new HttpError(400, `body is not an AdmissionReview of ${ADMISSION_VERSION}`);
  }
  if (typeof review.request?.uid !== "string" || review.request.uid === "") {
    throw new HttpError(400, "AdmissionReview has no request.uid");
  }
  return review.request;
}

/** Wraps a response for the API server. */
export function admissionReview(response: AdmissionResponse): AdmissionReview {
  return { apiVersion: ADMISSION_VERSION, kind: "AdmissionReview", response };
}

/** Longest warning, in characters (CORE-338). */
const MAX_WARNING = 256;
/** Most text of all warnings together, in characters (Kubernetes cuts beyond it). */
const MAX_WARNINGS = 4096;

/** Warnings as they may travel: on one line, cut, and not too many. */
export function cleanWarnings(warnings: readonly string[]): string[] {
  const clean: string[] = [];
  let total = 0;
  for (const warning of warnings) {
    const lines = warning.split(/[\r\n]/).map((part) => part.trim());
    const line = lines.filter((part) => part !== "").join(" ");
    const cut = line.length > MAX_WARNING ? `${line.slice(0, MAX_WARNING - 1)}…` : line;
    if (cut === "" || total + cut.length > MAX_WARNINGS) continue;
    total += cut.length;
    clean.push(cut);
  }
  return clean;
}
