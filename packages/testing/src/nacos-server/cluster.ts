/** A simulated Nacos installation: one HTTP server for each member, all of one mind unless told otherwise. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterView, RAFT_GROUPS } from "./answers.ts";
import { answer } from "./routes.ts";
import type { NacosBehaviour, NacosMember, NacosRequest } from "./types.ts";

/** Port of the HTTP API. */
const DEFAULT_PORT = 8848;
const DEFAULT_CONTEXT_PATH = "/nacos";
/** A version whose older API is on. */
const DEFAULT_VERSION = "2.4.3";

export interface NacosClusterOptions extends Partial<NacosBehaviour> {
  /** Port of every member. Default 8848; with 0 each listens on a free one, and announces 8848 nevertheless. */
  readonly port?: number;
  /** Default `/nacos`. */
  readonly contextPath?: string;
}

export interface NacosCluster {
  /** What the nodes say and do; changes count from the next request on. */
  readonly behaviour: NacosBehaviour;
  readonly members: readonly NacosMember[];
  /** Makes exactly these the members, in this order: servers are started and stopped as needed. */
  setMembers(members: readonly NacosMember[]): Promise<void>;
  /** Requests so far. Those that hang are in it with status 0. */
  readonly requests: readonly NacosRequest[];
  /** Port of a member's server. */
  portOf(ip: string): number;
  close(): Promise<void>;
}

interface Node {
  member: NacosMember;
  readonly server: Server;
}

/** Starts an installation without members. */
export function createNacosCluster(options: NacosClusterOptions = {}): NacosCluster {
  const { port = DEFAULT_PORT, contextPath = DEFAULT_CONTEXT_PATH, ...changes } = options;
  const behaviour: NacosBehaviour = {
    version: DEFAULT_VERSION,
    versions: {},
    states: {},
    leaders: {},
    raftGroups: RAFT_GROUPS,
    auth: false,
    hung: new Set(),
    delayMs: 0,
    compatible: false,
    ...changes,
  };
  const nodes = new Map<string, Node>();
  const requests: NacosRequest[] = [];
  let order: readonly string[] = [];
  const members = (): NacosMember[] => order.flatMap((ip) => nodes.get(ip)?.member ?? []);
  const portOf = (ip: string): number =>
    (nodes.get(ip)?.server.address() as AddressInfo | null)?.port ?? port;

  const serve = async (ip: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "/";
    const { identity } = behaviour;
    const identified =
      identity !== undefined && request.headers[identity.name.toLowerCase()] === identity.value;
    const record = (status: number): void => {
      requests.push({ member: ip, method: request.method ?? "GET", path, status, identified });
    };
    if (behaviour.hung.has(ip)) return record(0);
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs);
    const view: ClusterView = { members: members(), port: port || DEFAULT_PORT, behaviour };
    const member = nodes.get(ip)?.member ?? { ip };
    const { status, body } = answer(view, member, path.split("?", 1)[0]!, contextPath, identified);
    record(status);
    response.writeHead(status, { "content-type": "application/json;charset=UTF-8" });
    response.end(body);
  };

  const start = async (member: NacosMember): Promise<void> => {
    const server = createServer((request, response) => void serve(member.ip, request, response));
    nodes.set(member.ip, { member, server });
    server.listen(port, member.ip);
    await once(server, "listening");
  };

  const stop = async (ip: string): Promise<void> => {
    const server = nodes.get(ip)?.server;
    nodes.delete(ip);
    if (server === undefined) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };

  return {
    behaviour,
    requests,
    portOf,
    get members() {
      return members();
    },
    async setMembers(wanted) {
      const ips = new Set(wanted.map(({ ip }) => ip));
      order = [...ips];
      await Promise.all([...nodes.keys()].filter((ip) => !ips.has(ip)).map(stop));
      for (const member of wanted) {
        const node = nodes.get(member.ip);
        if (node === undefined) await start(member);
        else node.member = member;
      }
    },
    close: async () => void (await Promise.all([...nodes.keys()].map(stop))),
  };
}
