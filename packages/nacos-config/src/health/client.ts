/** The operator's HTTP client for Nacos nodes: one question, asked of one node. */
import { get, type IncomingMessage } from "node:http";
import { type ByteBudget, type ByteLimits, createByteBudget } from "../budget.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NodeAnswer } from "./evaluate.ts";
import { parseMembers } from "./member-list.ts";
import type { NodeFacts } from "./node-facts.ts";

/** Limit of one request, connecting included, in milliseconds. */
const REQUEST_TIMEOUT_MS = 3_000;
/** What is read, in bytes: one answer, all that are under way, and what each is assured of; a member takes about 1 KiB. */
const ANSWERS: ByteLimits = { each: 1_048_576, total: 33_554_432, assured: 65_536 };

/** The budget of a process for answers of nodes. */
export function answerBudget(): ByteBudget {
  return createByteBudget(ANSWERS);
}
/** Statuses that say: this version of the API is not here. */
const ABSENT_STATUSES = [404, 410, 501];
const UNAUTHORIZED_STATUSES = [401, 403];

/** Versions of the member list's address. */
export type ApiVariant = "v1" | "v3";
const PATHS: Readonly<Record<ApiVariant, string>> = {
  v1: "/v1/core/cluster/nodes",
  v3: "/v3/admin/core/cluster/node/list",
};

/** Root URL of a node, without a trailing slash; replaceable where the pod network cannot be reached. */
export type BaseUrl = (node: Pick<NodeFacts, "podName" | "podIP">, port: number) => string;

/** Pods are asked directly. */
export const podBaseUrl: BaseUrl = ({ podIP }, port) =>
  `http://${podIP.includes(":") ? `[${podIP}]` : podIP}:${port}`;

/** How nodes are reached, and how much they may answer. */
export interface NodeAccess {
  readonly baseUrl: BaseUrl;
  readonly answers: ByteBudget;
}

export interface NodeQuery extends NodeAccess {
  readonly endpoint: Endpoint;
  /** Variants in the order in which they are tried. */
  readonly variants: readonly ApiVariant[];
  /** Header that lets the request pass without a login. */
  readonly identity?: { readonly name: string; readonly value: string } | undefined;
  readonly signal: AbortSignal;
}

/** Asks a node for its member list; tells which variant it answered. Never throws and never logs. */
export async function askNode(
  node: NodeFacts,
  query: NodeQuery,
): Promise<{ readonly answer: NodeAnswer; readonly variant?: ApiVariant }> {
  let last: NodeAnswer = { state: "failed", reason: "Unreachable", message: "was not asked" };
  for (const variant of query.variants) {
    const url = `${query.baseUrl(node, query.endpoint.port)}${query.endpoint.contextPath}${PATHS[variant]}`;
    const result = await exchange(url, query);
    if (!("status" in result)) return { answer: result };
    last = judge(result);
    if (!ABSENT_STATUSES.includes(result.status)) return { answer: last, variant };
  }
  return { answer: last };
}

interface Exchange {
  readonly status: number;
  readonly body: string;
}

function judge({ status, body }: Exchange): NodeAnswer {
  if (UNAUTHORIZED_STATUSES.includes(status)) return { state: "unauthorized", status };
  if (status !== 200) return { state: "failed", reason: "HttpStatus", message: `HTTP status ${status}` };
  const members = parseMembers(body);
  if (members !== undefined) return { state: "members", members };
  return { state: "failed", reason: "NotAMemberList", message: "the answer is no list of members" };
}

type Failed = Extract<NodeAnswer, { state: "failed" }>;

function exchange(url: string, { identity, signal, answers }: NodeQuery): Promise<Exchange | Failed> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  return new Promise((resolve) => {
    const fail = (): void => {
      const late = timeout.aborted || signal.aborted;
      resolve({
        state: "failed",
        reason: late ? "Timeout" : "Unreachable",
        message: late ? "no answer in time" : "the node cannot be reached",
      });
    };
    try {
      const headers = { accept: "application/json", ...(identity && { [identity.name]: identity.value }) };
      const request = get(url, { agent: false, headers, signal: AbortSignal.any([signal, timeout]) });
      let answered = false;
      request.on("response", (response) => {
        answered = true;
        read(response, answers).then((body) => resolve({ status: response.statusCode ?? 0, body }), fail);
      });
      request.on("error", fail);
      // A node that switches protocols unasked gets no answer read, and the connection ends without an error.
      request.on("close", () => answered || fail());
    } catch {
      fail();
    }
  });
}

async function read(response: IncomingMessage, answers: ByteBudget): Promise<string> {
  const chunks: Buffer[] = [];
  const account = answers.open();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (!account.take(chunk.length)) throw new Error("the answer is too large");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    account.close();
  }
}
