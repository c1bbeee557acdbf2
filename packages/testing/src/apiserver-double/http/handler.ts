/** One request from arrival to answer: who, what, may they, do it, write it down. */
import type { IncomingHttpHeaders } from "node:http";
import type { RequestRecord } from "../../api-server.ts";
import { ANONYMOUS, type Attributes, authorize, type Users } from "../auth.ts";
import { contentType, MAX_BODY } from "../body.ts";
import type { Answer, Call, User } from "../call.ts";
import { discovery, pageNotFound, unknownResource } from "../discovery.ts";
import type { Faults, RequestFault } from "../faults.ts";
import type { JsonObject } from "../json.ts";
import type { Server } from "../server.ts";
import { Failure, statusOf } from "../status.ts";
import { APPLY_PATCH } from "../verbs/patch.ts";
import { dispatch } from "./dispatch.ts";
import { impersonate } from "./impersonation.ts";
import { parsePath, routeOf, verbOf } from "./route.ts";

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

export function createHandler({ server, users, faults, log, address }: HandlerParts): Handler {
  const newRecord = (incoming: Incoming, path: string): RequestRecord => ({
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
  });

  /** Fills the record and prepares the work; nothing is done yet. */
  const prepare = (incoming: Incoming, record: RequestRecord, query: URLSearchParams, warnings: string[]) => {
    const { path } = record;
    const user = impersonate(authenticate(users, incoming), incoming.headers, (asker, wanted) =>
      permit(server, asker, wanted),
    );
    record.user = user.name;
    const { body } = incoming;
    if (body === undefined) {
      throw new Failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY}`);
    }
    const parts = parsePath(path);
    if (parts === undefined) {
      record.verb = incoming.method === "GET" ? "get" : record.verb;
      permit(server, user, {
        verb: record.verb,
        group: "",
        resource: "",
        subresource: "",
        namespace: "",
        name: "",
        path,
      });
      return (): Answer => discovery(server, path, address()) ?? pageNotFound();
    }
    const { group, plural, namespace, name, subresource } = parts;
    const applies = contentType(incoming) === APPLY_PATCH;
    const verb = verbOf(incoming.method, name, isWatch(query), applies);
    Object.assign(record, { verb, resource: plural, group, subresource, namespace, name });
    const wanted = {
      verb: applies && verb === "apply" ? "patch" : verb,
      group,
      resource: plural,
      subresource,
      name,
    };
    permit(server, user, {
      ...wanted,
      namespace: plural === "namespaces" && group === "" ? name : namespace,
    });
    const route = routeOf(server.registry, parts);
    if (route === undefined) {
      return (): Answer => {
        // groups of custom resources answer as if there were no such path
        const types = server.registry.all().filter((type) => type.group === group);
        if (types.every((type) => type.custom !== undefined)) return pageNotFound();
        throw unknownResource();
      };
    }
    record.dryRun = isDryRun(query);
    const call: Call = {
      ...route,
      method: incoming.method,
      path,
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
  };

  return {
    async handle(incoming) {
      const url = new URL(incoming.url, "https://double");
      const record = newRecord(incoming, url.pathname);
      const warnings: string[] = [];
      log(record);
      let answer: Answer;
      try {
        const work = prepare(incoming, record, url.searchParams, warnings);
        const fault = faults.next(record);
        if (fault?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
        if (fault?.cut === "before") return { answer: { code: 0 }, warnings, cut: true };
        answer = fault?.code === undefined ? await work() : injected(fault, fault.code);
        if (fault?.cut === "after") return { answer, warnings, cut: true };
      } catch (error) {
        answer = answerFailure(toFailure(error));
      }
      record.code = answer.code;
      return { answer, warnings };
    },
  };
}
