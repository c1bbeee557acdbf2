/** Plays admission webhooks: decides, patches and explains. */
import { isDeepStrictEqual } from "node:util";
import fastJsonPatch from "fast-json-patch";
import { inAdmission } from "../admission-context.ts";
import { isTooDeep, NestingError } from "../nesting.ts";
import type { KubeObject } from "../object.ts";
import type { BoundWebhook } from "./bind.ts";
import { type AdmissionResponse, cleanWarnings } from "./review.ts";
import type { AdmissionContext, AdmissionRequest, Mutate, Refusal, Validate, Violation } from "./types.ts";

/**
 * Answers one admission request. Throws what the handler throws: the server turns that into an HTTP 500, so that the
 * `failurePolicy` decides (CORE-340).
 */
export async function admit(
  webhook: BoundWebhook,
  request: AdmissionRequest,
  options: Pick<AdmissionContext, "signal" | "log" | "cache">,
): Promise<AdmissionResponse> {
  const warnings: string[] = [];
  const dryRun = request.dryRun === true;
  const ctx: AdmissionContext = {
    ...options,
    client: webhook.client,
    dryRun,
    request,
    old: request.oldObject ?? undefined,
    warn: (text) => warnings.push(text),
  };
  const tooDeep = refusalOfDepth(request);
  if (tooDeep !== undefined) return tooDeep;
  const response = await inAdmission(
    () => (webhook.type === "mutating" ? mutate(webhook.handle, ctx) : validate(webhook.handle, ctx)),
    { mayWrite: webhook.hasSideEffects && !dryRun, namespace: request.namespace ?? "" },
  );
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
  const { request, old } = ctx;
  const object = request.operation === "DELETE" ? request.oldObject : request.object;
  if (!object) return allowed(request);
  const change = request.operation === "UPDATE" ? changeOf(request, object, old as KubeObject) : "content";
  if (change === "nothing") return allowed(request);
  const verdict = await handle(object, ctx);
  if ("refused" in verdict) return refusal(request, verdict);
  const held = change === "metadata" ? verdict.filter(({ path }) => isMetadata(path)) : verdict;
  return held.length === 0 ? allowed(request) : invalid(request, object, held);
}

/**
 * What of an update can be held against it (CORE-339): of an object that is being deleted nothing, nor its status, its
 * finalizers or the server's own bookkeeping; with unchanged content its labels, annotations and owners alone.
 */
function changeOf(
  { subResource }: AdmissionRequest,
  object: KubeObject,
  old: KubeObject | undefined,
): "nothing" | "metadata" | "content" {
  if (object.metadata.deletionTimestamp !== undefined) return "nothing";
  if (old === undefined || !isDeepStrictEqual(content(old, subResource), content(object, subResource))) {
    return "content";
  }
  return isDeepStrictEqual(labelling(old), labelling(object)) ? "nothing" : "metadata";
}

function content(object: KubeObject, subResource: string | undefined): object {
  const { metadata: _metadata, status, ...rest } = object as KubeObject & { status?: unknown };
  return subResource === "status" ? { ...rest, status } : rest;
}

function labelling({
  metadata: { labels = {}, annotations = {}, ownerReferences = [] },
}: KubeObject): object {
  return { labels, annotations, ownerReferences };
}

function isMetadata(path: string): boolean {
  return path === "metadata" || path.startsWith("metadata.") || path.startsWith("metadata[");
}

/**
 * Refuses an object that no cache would take in (CORE-191). One that is stored already, from before there was a webhook,
 * passes: its finalizers must be removable.
 */
function refusalOfDepth(request: AdmissionRequest): AdmissionResponse | undefined {
  const { object, oldObject } = request;
  if (!object || !isTooDeep(content(object, undefined))) return undefined;
  if (oldObject && isTooDeep(content(oldObject, undefined))) return allowed(request);
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
        causes: violations.map(({ path, message, reason = "FieldValueInvalid" }) => ({
          reason,
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
