/** A proxy between a client and an API server that breaks what passes through it. */
import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { parse, stringify } from "yaml";
import type { ApiServer, Identity } from "../api-server.ts";
import { type CertificateAuthority, createAuthority, type KeyPair } from "../control-plane/pki.ts";
import { portAllocator } from "../control-plane/ports.ts";
import { type Exchange, forward } from "./forward.ts";
import { type ActiveRule, type FaultRule, matchesRequest, ruleBook } from "./rules.ts";
import { upstreamOf } from "./upstream.ts";

/** Which requests: as in a rule. */
export type RequestFilter = Pick<FaultRule, "path" | "method" | "watch">;

export interface FaultProxyOptions {
  upstream: ApiServer;
  /**
   * Signs the proxy's certificate. Default: the authority of the upstream where it has one, as a control plane does,
   * else a new one.
   */
  authority?: CertificateAuthority;
}

export interface FaultProxy {
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  /** Certificate of the CA that signed the proxy's certificate, PEM. */
  readonly ca: string;
  /** Kubeconfig of an identity that goes through the proxy; the server sees that identity. */
  kubeconfig(identity?: Identity): Promise<string>;
  /** Adds a rule for requests from now on. The oldest rule that applies to a request decides. */
  add(rule: FaultRule): ActiveRule;
  /** Removes all rules. */
  clear(): void;
  /** Number of requests, watches included, that are open now. */
  running(filter?: RequestFilter): number;
  /** Destroys the connections of open requests; returns how many. */
  cut(filter?: RequestFilter): number;
  /** Open requests get no byte any more, for good; returns how many. */
  freeze(filter?: RequestFilter): number;
  /** Destroys all connections and refuses new ones, until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a proxy on a loopback port of its own. Without rules it passes everything on, watches included. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { upstream } = options;
  const authority =
    options.authority ?? authorityOf(upstream) ?? (await createAuthority("quartet-fault-proxy"));
  const serving = await authority.serving("fault-proxy", ["localhost", "127.0.0.1"]);
  const allocator = portAllocator();
  const port = await allocator.allocate();
  const url = `https://127.0.0.1:${port}`;
  const access = upstreamOf(upstream);
  const rules = ruleBook();
  const exchanges = new Set<Exchange>();

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const line = { method: request.method ?? "GET", url: request.url ?? "/" };
    const fault = rules.take(line);
    try {
      const via = await access.accessFor(request.socket as TLSSocket);
      const exchange = forward({ upstreamUrl: upstream.url, via, request, response, fault, line });
      exchanges.add(exchange);
      response.on("close", () => exchanges.delete(exchange));
    } catch {
      request.socket.destroy();
    }
  };
  const listener = proxyListener(serving, upstream.ca, port, onRequest);
  await listener.up();

  const matching = (filter: RequestFilter): Exchange[] =>
    [...exchanges].filter((exchange) => matchesRequest(filter, exchange.line));
  const toEach = (filter: RequestFilter, action: (exchange: Exchange) => void): number => {
    const hit = matching(filter);
    hit.forEach(action);
    return hit.length;
  };

  return {
    url,
    ca: authority.cert,
    kubeconfig: async (identity = {}) =>
      withAuthority(await upstream.kubeconfig({ ...identity, server: url }), authority.cert),
    add: rules.add,
    clear: rules.clear,
    running: (filter = {}) => matching(filter).length,
    cut: (filter = {}) =>
      toEach(filter, (exchange) => {
        exchanges.delete(exchange);
        exchange.cut();
      }),
    freeze: (filter = {}) => toEach(filter, (exchange) => exchange.freeze()),
    down: listener.down,
    up: listener.up,
    async stop() {
      await listener.down();
      access.close();
      allocator.releaseAll();
    },
  };
}

interface Listener {
  up(): Promise<void>;
  down(): Promise<void>;
}

/** An HTTPS server that can be taken off its port, with all connections, and be put back there. */
function proxyListener(
  serving: KeyPair,
  clientCa: string,
  port: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Listener {
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      key: serving.key,
      cert: serving.cert,
      ca: clientCa,
      requestCert: true,
      // Clients without a certificate have a token; the server decides.
      rejectUnauthorized: false,
      // A resumed session would not show the client's certificate.
      secureOptions: constants.SSL_OP_NO_TICKET,
      requestTimeout: 0,
    },
    (request, response) => void onRequest(request, response),
  );
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  return {
    up: () =>
      new Promise((resolve, reject) => {
        if (server.listening) return resolve();
        server.once("error", reject);
        server.listen(port, "127.0.0.1", () => {
          server.off("error", reject);
          resolve();
        });
      }),
    down: () =>
      new Promise((resolve) => {
        if (!server.listening) return resolve();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The kubeconfig with another CA. */
function withAuthority(kubeconfig: string, caCert: string): string {
  const config = parse(kubeconfig) as { clusters: { cluster: Record<string, string> }[] };
  const ca = Buffer.from(caCert, "utf8").toString("base64");
  for (const { cluster } of config.clusters) cluster["certificate-authority-data"] = ca;
  return stringify(config);
}

function authorityOf(upstream: ApiServer): CertificateAuthority | undefined {
  return (upstream as { authority?: CertificateAuthority }).authority;
}
