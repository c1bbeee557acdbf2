/** Pools of keep-alive sockets: one for the requests of each sender, one for watches, one for leases. */
import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import type { Clock } from "../clock.ts";
import type { TlsMaterial } from "./connection.ts";
import { openTunnel } from "./proxy.ts";

export type PoolName = "requests" | "watches" | "leases";

/**
 * Sockets for the requests of one sender, opened as they are needed. CORE-106. Measured: a thousand pods of a DaemonSet
 * are created in 9.2 s with 16, in 7.4 s with 32 and in 5.1 s with 64.
 */
export const MAX_REQUEST_SOCKETS = 64;
/** Renewing and reading a Lease at the same time; never more. */
const MAX_LEASE_SOCKETS = 2;
/** Idle sockets are closed after this time; client-go's transport has the same. CORE-106. */
const FREE_SOCKET_MS = 90_000;
/** First TCP keep-alive probe after this silence, as in client-go's dialer. CORE-106. */
const KEEP_ALIVE_PROBE_MS = 30_000;
/** Limit of connect plus TLS handshake, a proxy's part included. CORE-109. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface PoolOptions {
  server: URL;
  proxy: URL | undefined;
  clock: Clock;
  /** Idle sockets are closed after this time. Default 90 000. */
  freeSocketMs?: number;
}

export interface Pools {
  /**
   * The pool's agent for this TLS material. New material makes new agents; the old ones run dry.
   * @param sender whose requests they are: a controller whose requests hang takes no sockets of others
   */
  agent(pool: PoolName, tls: TlsMaterial, sender: string): HttpAgent;
  /** Destroys every socket. */
  close(): void;
}

/** Agents by pool and, for requests, by sender. */
type AgentSet = Map<string, HttpAgent>;

const MAX_SOCKETS: Readonly<Record<PoolName, number>> = {
  requests: MAX_REQUEST_SOCKETS,
  watches: Number.POSITIVE_INFINITY,
  leases: MAX_LEASE_SOCKETS,
};

/** Opens the pools towards one server. */
export function createPools(options: PoolOptions): Pools {
  let current: { tls: TlsMaterial; agents: AgentSet } | undefined;
  const retired = new Set<AgentSet>();

  const setOf = (tls: TlsMaterial): AgentSet => {
    if (current?.tls === tls) return current.agents;
    if (current !== undefined) retire(current.agents, retired);
    const agents: AgentSet = new Map();
    current = { tls, agents };
    return agents;
  };

  return {
    agent(pool, tls, sender) {
      const agents = setOf(tls);
      const id = pool === "requests" ? `${pool} ${sender}` : pool;
      let agent = agents.get(id);
      if (agent === undefined) {
        agent = createAgent(options, tls, MAX_SOCKETS[pool]);
        agents.set(id, agent);
      }
      return agent;
    },
    close() {
      for (const agents of [...retired, ...(current === undefined ? [] : [current.agents])]) {
        for (const agent of agents.values()) agent.destroy();
      }
    },
  };
}

/** Closes idle sockets now and busy ones as soon as they are idle; sets without sockets are forgotten. */
function retire(agents: AgentSet, retired: Set<AgentSet>): void {
  for (const set of retired) if (isEmpty(set)) retired.delete(set);
  for (const agent of agents.values()) {
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }
  retired.add(agents);
}

function isEmpty(agents: AgentSet): boolean {
  return [...agents.values()].every((agent) => Object.keys(agent.sockets).length === 0);
}

function createAgent(options: PoolOptions, tls: TlsMaterial, maxSockets: number): HttpAgent {
  const common: AgentOptions = {
    keepAlive: true,
    keepAliveMsecs: KEEP_ALIVE_PROBE_MS,
    maxSockets,
    timeout: options.freeSocketMs ?? FREE_SOCKET_MS,
    scheduling: "lifo",
  };
  // A parsed context instead of PEM texts: Node would put those into the pool key of every request.
  const secure: HttpsAgentOptions = {
    ...common,
    secureContext: tls.secureContext,
    servername: tls.servername,
    rejectUnauthorized: tls.rejectUnauthorized,
  };
  const agent = options.server.protocol === "https:" ? new HttpsAgent(secure) : new HttpAgent(common);
  const direct = agent.createConnection.bind(agent);
  agent.createConnection = (target, callback) => {
    if (options.proxy === undefined) {
      const socket = direct(target) as Socket;
      supervise(socket, options);
      return socket;
    }
    tunnelled(options, options.proxy, target as HttpsAgentOptions, (error, socket) => {
      // The type wants a stream even beside an error; Node looks at the error first.
      callback?.(error, socket as Duplex);
    });
    return undefined;
  };
  return agent;
}

/** Sets the socket's options and ends it when it is not ready in time. */
function supervise(socket: Socket, options: PoolOptions): void {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
  const ready = options.server.protocol === "https:" ? "secureConnect" : "connect";
  const cancel = options.clock.setTimer(CONNECT_TIMEOUT_MS, () => socket.destroy(connectTimeout()));
  socket.once(ready, cancel);
  socket.once("close", cancel);
}

function tunnelled(
  options: PoolOptions,
  proxy: URL,
  target: HttpsAgentOptions,
  done: (error: Error | null, socket: Socket | undefined) => void,
): void {
  const abort = new AbortController();
  const cancel = options.clock.setTimer(CONNECT_TIMEOUT_MS, () => abort.abort(connectTimeout()));
  openTunnel(proxy, options.server, abort.signal).then(
    (tunnel) => {
      cancel();
      tunnel.setNoDelay(true);
      tunnel.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
      if (options.server.protocol !== "https:") return done(null, tunnel);
      const socket = tlsConnect({ ...target, socket: tunnel });
      supervise(socket, options);
      done(null, socket);
    },
    (error: unknown) => {
      cancel();
      done(error instanceof Error ? error : new Error(String(error)), undefined);
    },
  );
}

function connectTimeout(): Error {
  const message = `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`;
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}
