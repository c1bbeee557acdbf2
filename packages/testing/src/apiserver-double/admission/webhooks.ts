/** Admission by webhooks: mutating ones in order, then all validating ones. */
import { randomUUID } from "node:crypto";
import { jsonPatch } from "../apply/json-patch.ts";
import type { Call } from "../call.ts";
import { decodeObject } from "../decode.ts";
import {
  cloneJson,
  isRecord,
  items,
  type JsonObject,
  parseJson,
  record,
  records,
  sameJson,
  text,
} from "../json.ts";
import type { KubeObject } from "../object.ts";
import { apiVersionOf, type ResourceType } from "../registry.ts";
import type { Server } from "../server.ts";
import { badRequest, Failure } from "../status.ts";
import type { Admission } from "./admission.ts";
import { type Operation, versionSeen } from "./match.ts";
import type { WebhookClient } from "./webhook-client.ts";

const MUTATING = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING = "validatingwebhookconfigurations.admissionregistration.k8s.io";
const DEFAULT_TIMEOUT_SECONDS = 10;

/** A webhook that is to be called, and the version in which it sees the object. */
interface Hook {
  hook: JsonObject;
  seen: ResourceType;
}

interface Review {
  call: Call;
  operation: Operation;
  object: KubeObject | undefined;
  old: KubeObject | undefined;
}

const kindNames = ({ group, version, kind }: ResourceType): JsonObject => ({ group, version, kind });
const resourceNames = ({ group, version, plural }: ResourceType): JsonObject => ({
  group,
  version,
  resource: plural,
});

/** An object of one version in another. */
async function inVersion(object: KubeObject, from: ResourceType, to: ResourceType): Promise<KubeObject> {
  if (from.version === to.version) return object;
  const stored = (await from.toStorage?.(object)) ?? object;
  const read = await to.fromStorage?.([stored]);
  return { ...(read?.[0] ?? stored), apiVersion: apiVersionOf(to) };
}

/** The request of a review whose objects are in the version `seen`. */
function requestOf({ call, operation, object, old }: Review, seen: ResourceType, uid: string): JsonObject {
  const { type, user } = call;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      kind: kindNames(seen),
      resource: resourceNames(seen),
      requestKind: kindNames(type),
      requestResource: resourceNames(type),
      ...(call.subresource === ""
        ? {}
        : { subResource: call.subresource, requestSubResource: call.subresource }),
      name: (object ?? old)?.metadata.name ?? call.name,
      ...(type.namespaced ? { namespace: call.namespace } : {}),
      operation,
      userInfo: {
        username: user.name,
        uid: user.uid,
        groups: user.groups,
        ...(user.extra ? { extra: user.extra } : {}),
      },
      object: object ?? null,
      oldObject: old ?? null,
      dryRun: call.dryRun,
      options: {
        kind: `${operation[0]}${operation.slice(1).toLowerCase()}Options`,
        apiVersion: "meta.k8s.io/v1",
        ...(call.query.has("fieldManager") && { fieldManager: call.query.get("fieldManager") }),
      },
    },
  };
}

function refuseDryRun(hook: JsonObject, call: Call): void {
  if (!call.dryRun || hook.sideEffects === "None" || hook.sideEffects === "NoneOnDryRun") return;
  throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
}

function denied(hook: JsonObject, response: JsonObject): Failure {
  const { code, reason, message, details } = record(response.status);
  const why = text(message) || text(reason);
  const explained = why === "" ? "denied the request without explanation" : `denied the request: ${why}`;
  return new Failure(
    // a refusal that gives no code of its own is a bad request
    typeof code === "number" && code >= 400 ? code : 400,
    text(reason),
    `admission webhook ${JSON.stringify(hook.name)} ${explained}`,
    isRecord(details) ? details : undefined,
  );
}

/** The review of a webhook: its objects in the version that it sees. */
async function reviewFor({ seen }: Hook, review: Review): Promise<Review> {
  const { call, object, old } = review;
  return {
    ...review,
    object: object && (await inVersion(object, call.type, seen)),
    old: old && (await inVersion(old, call.type, seen)),
  };
}

/** The response of a webhook, `undefined` when it failed and may be ignored. The objects are in the version it sees. */
async function ask(
  client: WebhookClient,
  { hook, seen }: Hook,
  review: Review,
): Promise<JsonObject | undefined> {
  refuseDryRun(hook, review.call);
  const uid = randomUUID();
  const seconds = Number(hook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS);
  let response: JsonObject;
  try {
    const answer = await client.call(hook.clientConfig, requestOf(review, seen, uid), seconds * 1000);
    if (!isRecord(answer.response)) throw new Error("expected response, got none");
    if (answer.response.uid !== uid) {
      throw new Error(`expected response.uid="${uid}", got "${text(answer.response.uid)}"`);
    }
    response = answer.response;
  } catch (error) {
    if (hook.failurePolicy === "Ignore") return undefined;
    const why = error instanceof Error ? error.message : String(error);
    const message = `failed calling webhook ${JSON.stringify(hook.name)}: failed to call webhook: ${why}`;
    throw new Failure(500, "InternalError", `Internal error occurred: ${message}`, {
      causes: [{ reason: "", message }],
    });
  }
  review.call.warnings.push(...items(response.warnings).map(text));
  if (response.allowed !== true) throw denied(hook, response);
  return response;
}

function operationOf(object: KubeObject | undefined, old: KubeObject | undefined): Operation {
  if (object === undefined) return "DELETE";
  return old === undefined ? "CREATE" : "UPDATE";
}

/** The object as the response changes it, in the version that the webhook sees. */
function patched(server: Server, { hook, seen }: Hook, object: KubeObject, response: JsonObject): KubeObject {
  const encoded = text(response.patch);
  if (encoded === "") return object;
  if (response.patchType !== "JSONPatch") {
    throw new Failure(
      500,
      "InternalError",
      `Internal error occurred: webhook ${text(hook.name)}: patchType must be JSONPatch`,
    );
  }
  const patch = parseJson(Buffer.from(encoded, "base64").toString("utf8"));
  const result = jsonPatch(cloneJson(object) as unknown as JsonObject, items(patch));
  return decodeObject(server, seen, record(result)).object;
}

export function createAdmission(server: () => Server, client: WebhookClient): Admission {
  const hooksOf = (collection: string, { call, operation, object, old }: Review): Hook[] =>
    server()
      .store.list(collection)
      .flatMap((configuration) => records(configuration.webhooks))
      .flatMap((hook) => {
        const seen = versionSeen(server(), hook, call, operation, object, old);
        return seen === undefined ? [] : [{ hook, seen }];
      });

  return {
    async mutate(call, object, old) {
      const operation = operationOf(object, old);
      const hooks = hooksOf(MUTATING, { call, operation, object, old });
      let current = object;
      /** What each webhook left behind: one that asks for it is called again when a later one changed that. */
      const left = new Map<Hook, KubeObject>();
      const run = async (hook: Hook): Promise<void> => {
        const review = await reviewFor(hook, { call, operation, object: current, old });
        const response = await ask(client, hook, review);
        if (response === undefined) return;
        const next = patched(server(), hook, review.object!, response);
        if (!sameJson(next, review.object)) current = await inVersion(next, hook.seen, call.type);
        left.set(hook, current);
      };
      for (const hook of hooks) await run(hook);
      for (const hook of hooks) {
        if (hook.hook.reinvocationPolicy === "IfNeeded" && left.has(hook) && left.get(hook) !== current)
          await run(hook);
      }
      return current;
    },
    async validate(call, object, old) {
      const operation = operationOf(object, old);
      const review: Review = { call, operation, object, old };
      const asked = async (hook: Hook): Promise<unknown> => ask(client, hook, await reviewFor(hook, review));
      // a delete has nothing to mutate, but mutating webhooks may refuse it
      if (operation === "DELETE") for (const hook of hooksOf(MUTATING, review)) await asked(hook);
      const outcomes = await Promise.allSettled(hooksOf(VALIDATING, review).map(asked));
      const refused = outcomes.find((outcome) => outcome.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}
