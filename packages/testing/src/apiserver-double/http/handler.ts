/** One request from arrival to answer: who, what, may they, do it, write it down. */
import type { IncomingHttpHeaders } from "node:http";
import type { RequestRecord } from "../../api-server.ts";
import { ANONYMOUS, type Attributes, authorize, type Users } from "../auth.ts";
import { contentType, MAX_BODY } from "../body.ts";
import type { Answer, Call, User } from "../call.ts";
import { discovery, pageNotFound, unknownResource } from "../discovery.ts";
import type { Faults, RequestFault } from "../faults.ts";
import type { JsonObject } from "../json.ts";
import { nameSelected } from "../selectors.ts";
import type { Server } from "../server.ts";
import { Failure, statusOf } from "../status.ts";
import { APPLY_PATCH } from "../verbs/patch.ts";
import { dispatch } from "./dispatch.ts";
import { impersonate } from "./impersonation.ts";
import { type PathParts, parsePath, routeOf, verbOf } from "./route.ts";

/** A request as the listener received it. */
export interface Incoming {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** `undefined` when it is larger than the server reads. */
  body: string | undefined;
  /** User of a verified client certificate. */
  certificate: User | undefined;
  signal: AbortSignal;
}

export interface Handled {
  answer: Answer;
  warnings: readonly string[];
  /** Cut the connection instead of answering. */
  cut?: boolean;
}

export interface Handler {
  handle(incoming: Incoming): Promise<Handled>;
}

export interface HandlerParts {
  server: Server;
  users: Users;
  faults: Faults;
  log(record: RequestRecord): void;
  /** `127.0.0.1:port` of the listener. */
  address(): string;
}

function authenticate(users: Users, incoming: Incoming): User {
  const { authorization } = incoming.headers;
  if (authorization?.startsWith("Bearer ") === true) {
    const user = users.byToken(authorization.slice("Bearer ".length).trim());
    if (user === undefined) throw new Failure(401, "Unauthorized", "Unauthorized");
    return user;
  }
  return incoming.certificate ?? ANONYMOUS;
}

function answerFailure(failure: Failure): Answer {
  return { code: failure.code, headers: failure.headers, body: statusOf(failure) };
}

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Failure(500, "InternalError", `Internal error occurred: ${message}`);
}

function forbiddenRequest(user: User, wanted: Attributes): Failure {
  if (wanted.path !== undefined) {
    return new Failure(
      403,
      "Forbidden",
      `forbidden: User ${JSON.stringify(user.name)} cannot ${wanted.verb} path ${JSON.stringify(wanted.path)}`,
      {},
    );
  }
  const resource = wanted.subresource === "" ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const qualified = wanted.group === "" ? wanted.resource : `${wanted.resource}.${wanted.group}`;
  const place =
    wanted.namespace === ""
      ? " at the cluster scope"
      : ` in the namespace ${JSON.stringify(wanted.namespace)}`;
  const name = wanted.name === "" ? "" : ` ${JSON.stringify(wanted.name)}`;
  const details: JsonObject = {
    ...(wanted.name === "" ? {} : { name: wanted.name }),
    ...(wanted.group === "" ? {} : { group: wanted.group }),
    kind: wanted.resource,
  };
  const why = `User ${JSON.stringify(user.name)} cannot ${wanted.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(wanted.group)}${place}`;
  return new Failure(403, "Forbidden", `${qualified}${name} is forbidden: ${why}`, details);
}

function permit(server: Server, user: User, wanted: Attributes): void {
  if (!authorize(server, user, wanted).allowed) throw forbiddenRequest(user, wanted);
}

function isWatch(query: URLSearchParams): boolean {
  const watch = query.get("watch");
  return watch === "true" || watch === "1";
}

function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll("dryRun").filter((value) => value !== "");
  if (values.some((value) => value !== "All")) {
    throw new Failure(
      422,
      "Invalid",
      `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
      {
        group: "meta.k8s.io",
        kind: "CreateOptions",
        causes: [
          {
            reason: "FieldValueNotSupported",
            message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
            field: "dryRun",
          },
        ],
      },
    );
  }
  return values.length > 0;
}

function injected(fault: RequestFault, code: number): Answer {
  const retry = fault.retryAfterSeconds;
  const failure = new Failure(
    code,
    fault.reason ?? (code === 429 ? "TooManyRequests" : code >= 500 ? "InternalError" : ""),
    fault.message ?? "injected fault",
    retry === undefined ? undefined : { retryAfterSeconds: retry },
    { headers: retry === undefined ? {} : { "retry-after": String(retry) } },
  );
  return answerFailure(failure);
}

function newRecord(incoming: Incoming, path: string): RequestRecord {
  return {
    verb: incoming.method.toLowerCase(),
    resource: "",
    group: "",
    subresource: "",
    namespace: "",
    name: "",
    path,
    user: "",
    userAgent: incoming.headers["user-agent"] ?? "",
    code: 0,
    at: Date.now(),
    dryRun: false,
  };
}

/** What is left to do once a request is understood and permitted. */
type Work = () => Answer | Promise<Answer>;

interface Understood {
  incoming: Incoming;
  body: string;
  user: User;
  query: URLSearchParams;
  record: RequestRecord;
  warnings: string[];
}

/** Discovery, health, version: everything that is no resource. */
function preparePath({ server, address }: HandlerParts, { incoming, user, record }: Understood): Work {
  const { path } = record;
  if (incoming.method === "GET") record.verb = "get";
  const nothing = { group: "", resource: "", subresource: "", namespace: "", name: "" };
  permit(server, user, { verb: record.verb, ...nothing, path });
  return () => discovery(server, path, address()) ?? pageNotFound();
}

/** A path below a group that does not lead to a resource. */
function unknownBelow(server: Server, group: string): Answer {
  // groups of custom resources answer as if there were no such path
  const types = server.registry.all().filter((type) => type.group === group);
  if (types.every((type) => type.custom !== undefined)) return pageNotFound();
  throw unknownResource();
}

function prepareResource(parts: HandlerParts, request: Understood, path: PathParts): Work {
  const { server, users } = parts;
  const { incoming, body, user, query, record, warnings } = request;
  const { group, plural, namespace, name, subresource } = path;
  const verb = verbOf(incoming.method, name, isWatch(query), contentType(incoming) === APPLY_PATCH);
  Object.assign(record, { verb, resource: plural, group, subresource, namespace, name });
  // rights are given in namespaces; a namespace lies in itself
  const scope = plural === "namespaces" && group === "" ? name : namespace;
  const right = verb === "apply" ? "patch" : verb;
  const selected =
    verb === "list" || verb === "watch" ? nameSelected(query.get("fieldSelector") ?? "") : name;
  permit(server, user, {
    verb: right,
    group,
    resource: plural,
    subresource,
    name: selected,
    namespace: scope,
  });
  const route = routeOf(server.registry, path);
  if (route === undefined) return () => unknownBelow(server, group);
  record.dryRun = isDryRun(query);
  const call: Call = {
    ...route,
    method: incoming.method,
    path: record.path,
    query,
    headers: incoming.headers,
    body,
    user,
    verb,
    dryRun: record.dryRun,
    named: (found) => {
      record.name = found;
    },
    warnings,
    signal: incoming.signal,
  };
  return () => dispatch(server, users, call);
}

/** Fills the record and prepares the work; nothing is done yet. */
function prepare(parts: HandlerParts, request: Omit<Understood, "user" | "body">): Work {
  const { incoming, record } = request;
  const user = impersonate(authenticate(parts.users, incoming), incoming.headers, (asker, wanted) =>
    permit(parts.server, asker, wanted),
  );
  record.user = user.name;
  const { body } = incoming;
  if (body === undefined) {
    throw new Failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY}`);
  }
  const path = parsePath(record.path);
  const understood: Understood = { ...request, user, body };
  return path === undefined ? preparePath(parts, understood) : prepareResource(parts, understood, path);
}

export function createHandler(parts: HandlerParts): Handler {
  const { faults, log } = parts;
  return {
    async handle(incoming) {
      const url = new URL(incoming.url, "https://double");
      const record = newRecord(incoming, url.pathname);
      const warnings: string[] = [];
      log(record);
      let answer: Answer;
      let cut = false;
      try {
        const work = prepare(parts, { incoming, record, query: url.searchParams, warnings });
        const fault = faults.next(record);
        if (fault?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
        if (fault?.cut === "before") return { answer: { code: 0 }, warnings, cut: true };
        cut = fault?.cut === "after";
        answer = fault?.code === undefined ? await work() : injected(fault, fault.code);
      } catch (error) {
        answer = answerFailure(toFailure(error));
      }
      record.code = answer.code;
      return { answer, warnings, cut };
    },
  };
}
