/** Requests by path: what of them is a write, and of which object. */
import type { Kind, ObjectKey } from "../object.ts";
import { anyBody } from "./answer-body.ts";
import type { ApiRequest } from "./attempts.ts";
import { InvalidRequestError } from "./errors.ts";
import { JSON_TYPE, poolOf, type Session } from "./session.ts";
import type { Client, WriteInfo } from "./types.ts";
import { tellHooks } from "./write.ts";

/** Requests that ask and store nothing, though most are sent by POST. */
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\//;
const READS: readonly string[] = ["GET", "HEAD", "OPTIONS"];
const VERBS: Readonly<Record<string, WriteInfo["verb"]>> = { POST: "create", PUT: "update", PATCH: "patch" };
/** Subresources of a Namespace itself; any other word behind its name is a resource within it. */
const OF_NAMESPACE: readonly string[] = ["status", "finalize"];

/** True for requests that change nothing that is stored. */
export function isReadOnly(method: string, path: string): boolean {
  return READS.includes(method) || REVIEWS.test(path);
}

/** Any request. One that may change something passes the hooks like the writes of the other verbs. */
export function rawVerb(session: Session): Client["raw"] {
  return async (method, path, body, options = {}) => {
    const info = isReadOnly(method, path) ? undefined : rawWrite(method, path);
    const request: ApiRequest = {
      ...rawRequest(method, path, session.userAgent),
      ...(info && { pool: poolOf(info.kind) }),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      ...(info && {
        beforeSend: () => {
          for (const hook of session.hooks) hook.beforeWrite?.(info);
        },
      }),
    };
    const answer = anyBody(request, await session.requester.send(request));
    if (info !== undefined) tellHooks(session, namedBy(answer, info), answer);
    return answer;
  };
}

/** A request by path, without a body. */
export function rawRequest(method: string, path: string, agent: string): ApiRequest {
  if (!path.startsWith("/")) {
    throw new InvalidRequestError(`path ${JSON.stringify(path)}: must begin with a slash`);
  }
  return {
    verb: method.toLowerCase(),
    method,
    path,
    pool: "requests",
    accept: `${JSON_TYPE}, */*;q=0.1`,
    userAgent: agent,
    repeatable: method === "GET" ? "reads" : "never",
  };
}

/**
 * What a path writes. The name of the kind stands in no path: it is `""` until an answer tells it. A path of no resource
 * is a write of an unnamed kind, whose plural is the path.
 */
export function rawWrite(method: string, path: string): WriteInfo {
  const [before = "", query = ""] = path.split("?", 2);
  const dryRun = new URLSearchParams(query).get("dryRun") === "All";
  const place = placeOf(before.split("/").slice(1).map(decoded));
  const { kind, key, subresource } = place ?? {
    kind: { group: "", version: "", kind: "", plural: before, namespaced: false },
    key: { namespace: "", name: "" },
    subresource: undefined,
  };
  const verb = VERBS[method] ?? (key.name === "" ? "deletecollection" : "delete");
  return { verb, kind, key, dryRun, ...(subresource !== undefined && { subresource }) };
}

function placeOf(segments: string[]): Pick<WriteInfo, "kind" | "key" | "subresource"> | undefined {
  const [root, ...rest] = segments;
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : rest.shift();
  const version = rest.shift();
  if (group === undefined || version === undefined) return undefined;
  const isInNamespace =
    rest[0] === "namespaces" && rest.length > 2 && !(group === "" && OF_NAMESPACE.includes(rest[2]!));
  const namespace = isInNamespace ? rest[1]! : "";
  const [plural, name = "", ...below] = isInNamespace ? rest.slice(2) : rest;
  if (plural === undefined || plural === "") return undefined;
  const kind: Kind = { group, version, kind: "", plural, namespaced: namespace !== "" };
  const key: ObjectKey = { namespace, name };
  return { kind, key, ...(below.length > 0 && { subresource: below.join("/") }) };
}

/** A segment as it is meant; the server judges one that is badly encoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The write with the name of its kind, where the answer is an object of it rather than of a subresource. */
function namedBy(answer: unknown, info: WriteInfo): WriteInfo {
  const { apiVersion, kind } = (answer ?? {}) as { apiVersion?: unknown; kind?: unknown };
  const { group, version } = info.kind;
  const own = group === "" ? version : `${group}/${version}`;
  if (typeof kind === "string" && apiVersion === own && (group !== "" || kind !== "Status")) {
    // The hooks know the write by its identity.
    info.kind = { ...info.kind, kind };
  }
  return info;
}
