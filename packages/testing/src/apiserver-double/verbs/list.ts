/** GET of an object or a collection. */
import type { Answer, Call } from "../call.ts";
import { type KubeObject, keyOf } from "../object.ts";
import { matcherOf } from "../selectors.ts";
import type { Server } from "../server.ts";
import { badRequest, type Cause, Failure, forbiddenField, invalid, notFound } from "../status.ts";
import { viewOf } from "../view.ts";
import { present, presentOne } from "./stored.ts";

const LIST_OPTIONS = { group: "meta.k8s.io", kind: "ListOptions" };
const CONTINUE_VERSION = "meta.k8s.io/v1";
/** What the server suggests when it cannot show a resource version yet, seconds. */
const RETRY_SECONDS = 1;

const TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export async function get(server: Server, call: Call): Promise<Answer> {
  const { type } = call;
  const stored = server.store.get(type.collection, keyOf(type.namespaced ? call.namespace : "", call.name));
  if (stored === undefined) throw notFound(type, call.name);
  return { code: 200, text: viewOf(server, call).one(await presentOne(type, stored)) };
}

interface Token {
  /** Resource version of the snapshot; -1 = whatever is current. */
  rv: number;
  /** Key of the last object that was shown. */
  start: string;
}

function encodeToken({ rv, start }: Token): string {
  return Buffer.from(JSON.stringify({ v: CONTINUE_VERSION, rv, start })).toString("base64url");
}

function decodeToken(token: string): Token {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as Token & {
      v: string;
    };
    if (v === CONTINUE_VERSION && typeof rv === "number" && typeof start === "string") return { rv, start };
  } catch {
    // falls through to the common refusal
  }
  throw badRequest("continue key is not valid: illegal base64 data or unknown version");
}

/** The resource version of a request as a number, `undefined` for something else. */
export function parseVersion(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** What is wrong with a resource version that is no number. */
export function versionProblem(text: string): string {
  const quoted = JSON.stringify(text);
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
}

export function tooLarge(wanted: number, current: number): Failure {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  return new Failure(
    504,
    "Timeout",
    message,
    {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: RETRY_SECONDS,
    },
    { headers: { "retry-after": String(RETRY_SECONDS) } },
  );
}

function checkOptions(call: Call): void {
  const { query } = call;
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  const field = "resourceVersionMatch";
  const causes: Cause[] = [];
  if (match !== "") {
    if (version === "")
      causes.push(
        forbiddenField(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if ((query.get("continue") ?? "") !== "") {
      causes.push(forbiddenField(field, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
      causes.push({ reason: "FieldValueNotSupported", message, field });
    }
    if (match === "Exact" && version === "0") {
      causes.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if ((query.get("sendInitialEvents") ?? "") !== "") {
    causes.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (causes.length > 0) throw invalid(LIST_OPTIONS, "", causes);
}

interface Snapshot {
  rv: number;
  objects: KubeObject[];
}

function expired(start: string): Failure {
  return new Failure(410, "Expired", TOO_OLD, undefined, {
    metadata: { continue: encodeToken({ rv: -1, start }) },
  });
}

function continued(server: Server, call: Call, namespace: string | undefined): Snapshot & { start: string } {
  const { rv, start } = decodeToken(call.query.get("continue")!);
  const { store } = server;
  if ((call.query.get("resourceVersion") ?? "") !== "" && call.query.get("resourceVersion") !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  if (rv === -1) return { rv: store.current(), objects: store.list(call.type.collection, namespace), start };
  const objects = store.listAt(call.type.collection, rv, namespace);
  if (objects === undefined) throw expired(start);
  return { rv, objects, start };
}

function fresh(server: Server, call: Call, namespace: string | undefined): Snapshot {
  const { store } = server;
  const text = call.query.get("resourceVersion") ?? "";
  const wanted = text === "" ? 0 : parseVersion(text);
  if (wanted === undefined) throw badRequest(`invalid resource version: ${versionProblem(text)}`);
  if (wanted > store.current()) throw tooLarge(wanted, store.current());
  // without a match, a limited list at a resource version is exact, as it always was
  const limited = (call.query.get("limit") ?? "") !== "";
  const match = call.query.get("resourceVersionMatch") ?? "";
  if (wanted > 0 && (match === "Exact" || (match === "" && limited))) {
    const objects = store.listAt(call.type.collection, wanted, namespace);
    if (objects === undefined) {
      throw new Failure(410, "Expired", `The resourceVersion for the provided list is too old.`);
    }
    return { rv: wanted, objects };
  }
  return { rv: store.current(), objects: store.list(call.type.collection, namespace) };
}

/** The objects a collection request is about, with the metadata of the list. */
export async function select(
  server: Server,
  call: Call,
): Promise<{ objects: readonly KubeObject[]; metadata: Record<string, unknown> }> {
  checkOptions(call);
  const namespace = call.type.namespaced && call.namespace !== "" ? call.namespace : undefined;
  const following = (call.query.get("continue") ?? "") !== "";
  const snapshot = following
    ? continued(server, call, namespace)
    : { ...fresh(server, call, namespace), start: "" };
  const matcher = matcherOf(call);
  const keyed = (object: KubeObject): string => keyOf(object.metadata.namespace, object.metadata.name);
  let objects = snapshot.objects;
  if (matcher !== undefined) objects = objects.filter(matcher);
  if (following) objects = objects.filter((object) => keyed(object) > snapshot.start);
  // a list from the cache (version 0) is never cut
  const cached = call.query.get("resourceVersion") === "0" && !following;
  const limit = cached ? 0 : Number(call.query.get("limit") ?? 0);
  const metadata: Record<string, unknown> = { resourceVersion: String(snapshot.rv) };
  // lists of custom resources always show the token
  if (call.type.custom !== undefined) metadata.continue = "";
  if (limit > 0 && objects.length > limit) {
    const page = objects.slice(0, limit);
    metadata.continue = encodeToken({ rv: snapshot.rv, start: keyed(page.at(-1)!) });
    if (matcher === undefined) metadata.remainingItemCount = objects.length - limit;
    objects = page;
  }
  return { objects: await present(call.type, objects), metadata };
}

export async function list(server: Server, call: Call): Promise<Answer> {
  const view = viewOf(server, call);
  const { objects, metadata } = await select(server, call);
  return { code: 200, text: view.list(objects, metadata) };
}
