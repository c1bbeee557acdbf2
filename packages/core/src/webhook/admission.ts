/** Plays admission webhooks: decides, patches and explains. */
import fastJsonPatch from "fast-json-patch";
import { isTooDeep, NestingError } from "../nesting.ts";
import type { KubeObject } from "../object.ts";
import { type AdmissionResponse, cleanWarnings } from "./review.ts";
import type {
  AdmissionContext,
  AdmissionRequest,
  Mutate,
  Refusal,
  Validate,
  Violation,
  Webhook,
} from "./types.ts";

/**
 * Answers one admission request. Throws what the handler throws: the server turns that into an HTTP 500, so that the
 * `failurePolicy` decides (CORE-340).
 */
export async function admit(
  webhook: Webhook,
  request: AdmissionRequest,
  options: Pick<AdmissionContext, "signal" | "log" | "cache">,
): Promise<AdmissionResponse> {
  const warnings: string[] = [];
  const ctx: AdmissionContext = {
    ...options,
    dryRun: request.dryRun === true,
    request,
    old: request.oldObject ?? undefined,
    warn: (text) => warnings.push(text),
  };
  const tooDeep = refusalOfDepth(request);
  if (tooDeep !== undefined) return tooDeep;
  // What objects a handler takes follows from its rules, which the API server has applied.
  const response =
    webhook.type === "mutating"
      ? await mutate(webhook.handle as Mutate, ctx)
      : await validate(webhook.handle as Validate, ctx);
  const clean = cleanWarnings(warnings);
  return clean.length === 0 ? response : { ...response, warnings: clean };
}

async function mutate(handle: Mutate, ctx: AdmissionContext): Promise<AdmissionResponse> {
  const { request } = ctx;
  if (request.operation === "DELETE" || request.operation === "CONNECT" || !request.object)
    return allowed(request);
  const result = await handle(structuredClone(request.object), ctx);
  if ("refused" in result) return refusal(request, result);
  const patch = fastJsonPatch.compare(request.object, result);
  if (patch.length === 0) return allowed(request);
  return {
    ...allowed(request),
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch), "utf8").toString("base64"),
  };
}

async function validate(handle: Validate, ctx: AdmissionContext): Promise<AdmissionResponse> {
  const { request } = ctx;
  const object = request.operation === "DELETE" ? request.oldObject : request.object;
  if (
    !object ||
    (request.operation === "UPDATE" && passesUnchecked(object, request.oldObject ?? undefined))
  ) {
    return allowed(request);
  }
  const verdict = await handle(object, ctx);
  if ("refused" in verdict) return refusal(request, verdict);
  return verdict.length === 0 ? allowed(request) : invalid(request, object, verdict);
}

/**
 * Updates that are never refused (CORE-339): of an object that is being deleted, or whose content outside of metadata
 * and status is what it was (which covers the removal of a finalizer).
 */
function passesUnchecked(object: KubeObject, old: KubeObject | undefined): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return true;
  return old !== undefined && fastJsonPatch.compare(content(old), content(object)).length === 0;
}

function content(object: KubeObject): object {
  const { metadata: _metadata, status: _status, ...rest } = object as KubeObject & { status?: unknown };
  return rest;
}

/**
 * Refuses an object that no cache would take in (CORE-191). One that is stored already, from before there was a webhook,
 * passes: its finalizers must be removable.
 */
function refusalOfDepth(request: AdmissionRequest): AdmissionResponse | undefined {
  const { object, oldObject } = request;
  if (!object || !isTooDeep(content(object))) return undefined;
  if (oldObject && isTooDeep(content(oldObject))) return allowed(request);
  return invalid(request, object, [
    { path: "spec", message: `must not be ${new NestingError().message}; remove the innermost of them` },
  ]);
}

function refusal(request: AdmissionRequest, { refused, code = 403 }: Refusal): AdmissionResponse {
  const reason = code === 403 ? "Forbidden" : "BadRequest";
  return { uid: request.uid, allowed: false, status: { code, reason, message: refused } };
}

function invalid(
  request: AdmissionRequest,
  object: KubeObject,
  violations: readonly Violation[],
): AdmissionResponse {
  const name = request.name || object.metadata.name || object.metadata.generateName || "";
  const { kind } = request.kind;
  const list = violations.map(({ path, message }) => `${path}: ${message}`).join(", ");
  return {
    uid: request.uid,
    allowed: false,
    status: {
      code: 422,
      reason: "Invalid",
      message: `${kind} "${name}" is invalid: ${list}`,
      details: {
        name,
        kind,
        causes: violations.map(({ path, message }) => ({
          reason: "FieldValueInvalid",
          message,
          field: path,
        })),
      },
    },
  };
}

function allowed(request: AdmissionRequest): AdmissionResponse {
  return { uid: request.uid, allowed: true, status: { code: 200 } };
}
