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
import type { Server } from "../server.ts";
import { badRequest, Failure } from "../status.ts";
import type { Admission } from "./admission.ts";
import { concerns, type Operation } from "./match.ts";
import type { WebhookClient } from "./webhook-client.ts";

const MUTATING = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING = "validatingwebhookconfigurations.admissionregistration.k8s.io";
const DEFAULT_TIMEOUT_SECONDS = 10;

interface Review {
  call: Call;
  operation: Operation;
  object: KubeObject | undefined;
  old: KubeObject | undefined;
}

function requestOf({ call, operation, object, old }: Review, uid: string): JsonObject {
  const { type, user } = call;
  const { group, version, kind, plural } = type;
  const of = { group, version, kind };
  const resource = { group, version, resource: plural };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      kind: of,
      resource,
      requestKind: of,
      requestResource: resource,
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

/** The response of a webhook, `undefined` when it failed and may be ignored. */
async function ask(client: WebhookClient, hook: JsonObject, review: Review): Promise<JsonObject | undefined> {
  refuseDryRun(hook, review.call);
  const uid = randomUUID();
  const seconds = Number(hook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS);
  let response: JsonObject;
  try {
    const answer = await client.call(hook.clientConfig, requestOf(review, uid), seconds * 1000);
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

function patched(
  server: Server,
  hook: JsonObject,
  call: Call,
  object: KubeObject,
  response: JsonObject,
): KubeObject {
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
  return decodeObject(server, call.type, record(result)).object;
}

export function createAdmission(server: () => Server, client: WebhookClient): Admission {
  const hooksOf = (collection: string, review: Review): JsonObject[] =>
    server()
      .store.list(collection)
      .flatMap((configuration) => records(configuration.webhooks))
      .filter((hook) =>
        concerns(server().store, hook, review.call, review.operation, review.object, review.old),
      );

  return {
    async mutate(call, object, old) {
      const operation = operationOf(object, old);
      const hooks = hooksOf(MUTATING, { call, operation, object, old });
      let current = object;
      /** What each webhook left behind: one that asks for it is called again when a later one changed that. */
      const left = new Map<JsonObject, KubeObject>();
      const run = async (hook: JsonObject): Promise<void> => {
        const response = await ask(client, hook, { call, operation, object: current, old });
        if (response === undefined) return;
        const next = patched(server(), hook, call, current, response);
        if (!sameJson(next, current)) current = next;
        left.set(hook, current);
      };
      for (const hook of hooks) await run(hook);
      for (const hook of hooks) {
        if (hook.reinvocationPolicy === "IfNeeded" && left.has(hook) && left.get(hook) !== current)
          await run(hook);
      }
      return current;
    },
    async validate(call, object, old) {
      const operation = operationOf(object, old);
      const review: Review = { call, operation, object, old };
      // a delete has nothing to mutate, but mutating webhooks may refuse it
      if (operation === "DELETE")
        for (const hook of hooksOf(MUTATING, review)) await ask(client, hook, review);
      const outcomes = await Promise.allSettled(
        hooksOf(VALIDATING, review).map((hook) => ask(client, hook, review)),
      );
      const refused = outcomes.find((outcome) => outcome.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}
