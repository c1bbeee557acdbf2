/** Conversion between the versions of a CRD, by way of a hub version. */
import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, groupOf, type KubeObject, keyOf } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { HttpError } from "./http-error.ts";
import type { Conversion } from "./types.ts";

const CONVERSION_VERSION = "apiextensions.k8s.io/v1";

export interface ConversionReview {
  apiVersion: typeof CONVERSION_VERSION;
  kind: "ConversionReview";
  response: {
    uid: string;
    convertedObjects: KubeObject[];
    result: { status: "Success" | "Failure"; message?: string };
  };
}

/** Answers a ConversionReview; a failure of one object fails the review as a whole, with its message (CORE-345). */
export function convertReview(
  conversions: readonly Conversion[],
  body: unknown,
  log: Logger,
): ConversionReview {
  const review = body as { apiVersion?: unknown; kind?: unknown; request?: ConversionRequest } | null;
  if (review?.apiVersion !== CONVERSION_VERSION || review.kind !== "ConversionReview") {
    throw new HttpError(400, `body is not a ConversionReview of ${CONVERSION_VERSION}`);
  }
  const request = review.request;
  if (typeof request?.uid !== "string") throw new HttpError(400, "ConversionReview has no request.uid");
  const answer = (response: Omit<ConversionReview["response"], "uid">): ConversionReview => ({
    apiVersion: CONVERSION_VERSION,
    kind: "ConversionReview",
    response: { uid: request.uid, ...response },
  });
  try {
    const objects = (request.objects ?? []).map((object) =>
      convert(conversions, object, request.desiredAPIVersion, log),
    );
    return answer({ convertedObjects: objects, result: { status: "Success" } });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return answer({ convertedObjects: [], result: { status: "Failure", message } });
  }
}

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects?: KubeObject[];
}

/** Converts one object to another version of its group; throws with the object's kind and name when it cannot. */
export function convert(
  conversions: readonly Conversion[],
  object: KubeObject,
  desired: string,
  log: Logger,
): KubeObject {
  const name = `${object.kind} ${object.metadata.name ?? ""}`;
  const group = groupOf(object.apiVersion);
  if (groupOf(desired) !== group)
    throw new Error(`${name}: cannot convert from group ${group} to ${desired}`);
  if (object.apiVersion === desired) throw new Error(`${name}: is already of ${desired}`);
  const conversion = conversions.find(({ kind }) => kind.group === group && kind.kind === object.kind);
  if (conversion === undefined) throw new Error(`${name}: no conversion is known for this kind`);

  const hub = apiVersionOf(conversion.kind);
  const ctx = { log: log.with({ kind: object.kind, ...keyOf(object) }) };
  const copy = structuredClone(object);
  const inHub =
    object.apiVersion === hub ? copy : spokeOf(conversion, object.apiVersion, name).toHub(copy, ctx);
  inHub.apiVersion = hub;
  const result = desired === hub ? inHub : spokeOf(conversion, desired, name).fromHub(inHub, ctx);
  result.apiVersion = desired;
  requireSameIdentity(object, result, name);
  return result;
}

function spokeOf(conversion: Conversion, apiVersion: string, name: string): Conversion["spokes"][number] {
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const spoke = conversion.spokes.find((one) => one.version === version);
  if (spoke === undefined) throw new Error(`${name}: no conversion is known for version ${version}`);
  return spoke;
}

/** The API server refuses a conversion that touches metadata other than labels and annotations. */
function requireSameIdentity(before: KubeObject, after: KubeObject, name: string): void {
  const { labels: _l1, annotations: _a1, ...was } = before.metadata;
  const { labels: _l2, annotations: _a2, ...is } = after.metadata;
  if (!isDeepStrictEqual(was, is))
    throw new Error(`${name}: the conversion changed metadata beyond labels and annotations`);
}

/** Annotation that keeps the fields for which a version has no place. */
export const CONVERSION_DATA_ANNOTATION = "quartet.io/conversion-data";

/** Stores fields that the target version lacks, as JSON in an annotation; `undefined` removes it. */
export function stashConversionData(object: KubeObject, data: unknown): void {
  const { [CONVERSION_DATA_ANNOTATION]: _old, ...annotations } = object.metadata.annotations ?? {};
  if (data !== undefined) annotations[CONVERSION_DATA_ANNOTATION] = JSON.stringify(data);
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations;
  else delete object.metadata.annotations;
}

/** Takes the stored fields out of the annotation again; `undefined` when there are none or they are not JSON. */
export function takeConversionData(object: KubeObject): unknown {
  const text = object.metadata.annotations?.[CONVERSION_DATA_ANNOTATION];
  stashConversionData(object, undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
