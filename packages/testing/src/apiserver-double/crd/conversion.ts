/** Conversion between the versions of a CRD: by name alone, or by its webhook. */
import { randomUUID } from "node:crypto";
import type { WebhookClient } from "../admission/webhook-client.ts";
import { isRecord, items, type JsonObject, record, sameJson, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { Failure } from "../status.ts";
import type { Converter } from "./type.ts";

/** Time that a conversion webhook gets, ms. */
const TIMEOUT_MS = 30_000;

/** What a conversion may not touch. */
function fixedMetadata(object: JsonObject): JsonObject {
  const { labels: _labels, annotations: _annotations, ...rest } = record(object.metadata);
  return rest;
}

function checkConverted(
  objects: readonly KubeObject[],
  converted: readonly unknown[],
  apiVersion: string,
): void {
  if (converted.length !== objects.length) {
    throw new Error(`expected ${objects.length} converted objects, got ${converted.length}`);
  }
  for (const [index, object] of converted.entries()) {
    if (!isRecord(object) || object.apiVersion !== apiVersion) {
      throw new Error(
        `convertedObjects[${index}]: invalid apiVersion ${JSON.stringify(record(object).apiVersion)}`,
      );
    }
    if (!sameJson(fixedMetadata(object), fixedMetadata(objects[index] as unknown as JsonObject))) {
      throw new Error(`convertedObjects[${index}]: metadata may change in labels and annotations only`);
    }
  }
}

async function callWebhook(
  client: WebhookClient,
  crd: KubeObject,
  objects: readonly KubeObject[],
  apiVersion: string,
): Promise<KubeObject[]> {
  const spec = record(crd.spec);
  const webhook = record(record(spec.conversion).webhook);
  const uid = randomUUID();
  const different = objects.filter((object) => object.apiVersion !== apiVersion);
  try {
    const answer = await client.call(
      webhook.clientConfig,
      {
        kind: "ConversionReview",
        apiVersion: "apiextensions.k8s.io/v1",
        request: { uid, desiredAPIVersion: apiVersion, objects: different },
      },
      TIMEOUT_MS,
    );
    const response = record(answer.response);
    if (response.uid !== uid) throw new Error(`expected response.uid="${uid}", got "${text(response.uid)}"`);
    const result = record(response.result);
    if (result.status !== "Success") throw new Error(text(result.message) || "no reason given");
    const converted = items(response.convertedObjects);
    checkConverted(different, converted, apiVersion);
    const byOriginal = new Map(different.map((object, index) => [object, converted[index] as KubeObject]));
    return objects.map((object) => byOriginal.get(object) ?? object);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const kind = text(record(spec.names).kind);
    throw new Failure(
      500,
      "",
      `conversion webhook for ${objects[0]?.apiVersion}, Kind=${kind} failed: ${why}`,
    );
  }
}

/** The converter of a CRD. */
export function converterOf(client: WebhookClient, crd: KubeObject): Converter {
  const { strategy } = record(record(crd.spec).conversion);
  if (strategy === "Webhook") return (objects, apiVersion) => callWebhook(client, crd, objects, apiVersion);
  return (objects, apiVersion) =>
    objects.map((object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion }));
}
