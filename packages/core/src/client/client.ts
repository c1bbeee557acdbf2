/** The client: verbs over JSON objects, towards one API server. */
import { type Clock, systemClock } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { jsonBody } from "./answer-body.ts";
import type { Connection } from "./connection.ts";
import { deleteVerbs } from "./delete-verbs.ts";
import { createDiscovery } from "./discovery.ts";
import type { ClientObserver } from "./observer.ts";
import { rawRequest, rawVerb } from "./raw.ts";
import { readVerbs } from "./read-verbs.ts";
import { createRequester, type Requester } from "./requester.ts";
import type { Session } from "./session.ts";
import { type StatusContext, statusVerbs } from "./status.ts";
import type { Client, ClientHooks, Discovery, ServerVersion, WriteOptions } from "./types.ts";
import { userAgent } from "./user-agent.ts";
import { writeVerbs } from "./write-verbs.ts";

export interface ClientOptions {
  connection: Connection;
  /** Version of the program, for the user agent. */
  version: string;
  /** Name of the controller that the requests belong to. */
  controller?: string;
  hooks?: ClientHooks;
  clock?: Clock;
  /** Requests per second of the whole process; -1, the default, sets no limit (CORE-112). Leases are not limited. */
  qps?: number;
  /** Requests that may be sent at once under `qps`. Default: `qps`, at least 1. */
  burst?: number;
  /** Asks for gzip answers. Default false: next to the API server it costs more CPU than it saves. */
  compression?: boolean;
  log?: Logger;
  observer?: ClientObserver;
  /** `fieldValidation` of writes to built-in kinds that name none. Default `Warn`, the server's own default. */
  fieldValidation?: WriteOptions["fieldValidation"];
  /** Limit of Lease requests in milliseconds: max(1 s, half the renew deadline). Default 5 000. */
  leaseTimeoutMs?: number;
}

/** What all facades of one client share. */
interface Shared {
  requester: Requester;
  discovery: Discovery;
  log: Logger | undefined;
  version: string;
  fieldValidation: NonNullable<WriteOptions["fieldValidation"]>;
  toldStatusless: Set<string>;
}

/** Opens a client; sockets are opened with the first request. Close it with {@link Client.close}. */
export function createClient(options: ClientOptions): Client {
  const clock = options.clock ?? systemClock;
  const qps = options.qps ?? -1;
  const requester = createRequester({
    connection: options.connection,
    clock,
    qps,
    burst: options.burst ?? Math.max(1, Math.ceil(qps)),
    compression: options.compression ?? false,
    log: options.log,
    observer: options.observer,
    leaseTimeoutMs: options.leaseTimeoutMs,
  });
  const agent = userAgent(options.version);
  const read = async (path: string): Promise<unknown> => {
    const request = rawRequest("GET", path, agent);
    return jsonBody(request, await requester.send(request));
  };
  const shared: Shared = {
    requester,
    discovery: createDiscovery(read, clock),
    log: options.log,
    version: options.version,
    fieldValidation: options.fieldValidation ?? "Warn",
    toldStatusless: new Set(),
  };
  return facade(shared, options.controller, options.hooks === undefined ? [] : [options.hooks]);
}

/** The verbs under one controller's name. */
function facade(shared: Shared, controller: string | undefined, hooks: readonly ClientHooks[]): Client {
  const { requester, discovery } = shared;
  const session: Session = {
    requester,
    userAgent: userAgent(shared.version, controller),
    fieldManager: controller === undefined ? "quartet" : `quartet-${controller}`,
    hooks,
    log: shared.log,
    fieldValidation: shared.fieldValidation,
  };
  const writes = writeVerbs(session);
  const context: StatusContext = { session, verbs: writes, discovery, told: shared.toldStatusless };

  const raw = rawVerb(session);
  return {
    ...readVerbs(session),
    ...writes,
    ...deleteVerbs(session),
    ...statusVerbs(context),
    raw,
    discovery,
    serverVersion: async () => parseVersion(await raw("GET", "/version")),
    forController: (name, own) => facade(shared, name, own === undefined ? hooks : [...hooks, own]),
    close: () => requester.close(),
  };
}

/** Numbers of a version answer: some servers write `37+`. */
function parseVersion(body: unknown): ServerVersion {
  const { gitVersion, major, minor } = body as { gitVersion: string; major: string; minor: string };
  return { gitVersion, major: Number.parseInt(major, 10), minor: Number.parseInt(minor, 10) };
}
