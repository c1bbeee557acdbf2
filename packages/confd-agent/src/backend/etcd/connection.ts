/** Calls to the members of an etcd cluster: one after the other until one answers, with authentication. */
import {
  type ClientDuplexStream,
  credentials,
  Client as GrpcClient,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { BackendSettings } from "../../config/settings.ts";
import { BackendError, ConfigError, messageOf } from "../../errors.ts";
import { readTlsFiles } from "../tls.ts";
import { decode, encode, type Fields, type Message } from "./wire.ts";

/** Signs of life on idle connections, in milliseconds: a dead one is found within both together. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 3000;
const AUTHENTICATE = "/etcdserverpb.Auth/Authenticate";
/** The member is away, or cut off from the others. */
const NEXT_MEMBER: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);

export type WatchStream = ClientDuplexStream<Buffer, Buffer>;

export interface EtcdConnection {
  readonly label: string;
  /** Makes a call on the first member that answers. */
  call(path: string, request: Fields, signal: AbortSignal): Promise<Message>;
  /** Opens a stream on the first member that answers. */
  stream(path: string, signal: AbortSignal): Promise<WatchStream>;
  /** What was connected is given up: the next call starts with the next member. */
  leave(): void;
  /** The token is not taken any more. */
  forgetToken(): void;
  close(): void;
}

export const isAuthError = (error: unknown): boolean =>
  codeOf(error) === status.UNAUTHENTICATED || messageOf(error).includes("invalid auth token");
export const codeOf = (error: unknown): status | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;

export function createEtcdConnection(settings: BackendSettings): EtcdConnection {
  const nodes = settings.nodes.map(parseNode);
  const secure = nodes.some(({ tls }) => tls) || settings.clientCaKeys !== "" || settings.clientCert !== "";
  if (new Set(nodes.map(({ scheme }) => scheme)).size > 1) {
    throw new ConfigError(`nodes ${settings.nodes.join(", ")}: all need the same scheme`);
  }
  let current = 0;
  let client: GrpcClient | undefined;
  let token: string | undefined;

  const connect = (): GrpcClient => {
    const { ca, cert, key } = secure ? readTlsFiles(settings) : {};
    const verify = settings.clientInsecure
      ? { rejectUnauthorized: false, checkServerIdentity: () => undefined }
      : {};
    const channel = secure
      ? credentials.createSsl(ca ?? null, key ?? null, cert ?? null, verify)
      : credentials.createInsecure();
    return new GrpcClient(nodes[current % nodes.length]!.target, channel, {
      "grpc.max_receive_message_length": -1,
      "grpc.keepalive_time_ms": KEEPALIVE_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      "grpc.initial_reconnect_backoff_ms": 100,
      // A connection of its own: one that is given up must be gone.
      "grpc.use_local_subchannel_pool": 1,
    });
  };
  const leave = (): void => {
    client?.close();
    client = undefined;
    current += 1;
  };
  /** A member that is connected; tries each once. */
  const member = async (signal: AbortSignal): Promise<GrpcClient> => {
    let problem: unknown;
    for (let tries = 0; tries < nodes.length; tries++) {
      signal.throwIfAborted();
      client ??= connect();
      try {
        await ready(client, settings.dialTimeout);
        return client;
      } catch (error) {
        problem = new BackendError(`${nodes[current % nodes.length]!.label}: ${messageOf(error)}`);
        leave();
      }
    }
    throw problem;
  };
  const metadata = (): Metadata => {
    const made = new Metadata();
    // A member without a leader refuses, so that another is asked.
    made.set("hasleader", "true");
    if (token !== undefined) made.set("token", token);
    return made;
  };
  const unary = (on: GrpcClient, path: string, request: Fields, signal: AbortSignal): Promise<Message> =>
    new Promise((resolve, reject) => {
      const stop = (): void => made.cancel();
      const made = on.makeUnaryRequest(path, encode, decode, request, metadata(), {}, (error, answer) => {
        signal.removeEventListener("abort", stop);
        if (error !== null) reject(error);
        else resolve(answer!);
      });
      signal.addEventListener("abort", stop, { once: true });
    });
  const authenticate = async (on: GrpcClient, signal: AbortSignal): Promise<void> => {
    if (settings.username === "" || token !== undefined) return;
    const name = Buffer.from(settings.username).toString("latin1");
    const password = Buffer.from(settings.password).toString("latin1");
    const answer = await unary(
      on,
      AUTHENTICATE,
      [
        [1, name],
        [2, password],
      ],
      signal,
    );
    token = answer.text(2);
  };
  /** Tries on each member, and with a new token when the old one is not taken. */
  const attempt = async <T>(signal: AbortSignal, ask: (on: GrpcClient) => Promise<T>): Promise<T> => {
    let renewed = false;
    for (let tries = 0; ; tries++) {
      const on = await member(signal);
      try {
        await authenticate(on, signal);
        return await ask(on);
      } catch (error) {
        if (signal.aborted) throw error;
        if (isAuthError(error) && token !== undefined && !renewed) {
          renewed = true;
          token = undefined;
        } else if (NEXT_MEMBER.has(codeOf(error) ?? status.OK) && tries < nodes.length) leave();
        else throw error;
      }
    }
  };
  return {
    label: `etcd ${settings.nodes.join(", ")}`,
    call: (path, request, signal) => attempt(signal, (on) => unary(on, path, request, signal)),
    stream: (path, signal) =>
      attempt(signal, async (on) =>
        on.makeBidiStreamRequest(
          path,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
          metadata(),
          {},
        ),
      ),
    leave,
    forgetToken: () => {
      token = undefined;
    },
    close: () => client?.close(),
  };
}

function ready(client: GrpcClient, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + limit, (error) => {
      if (error === undefined || error === null) return resolve();
      // The reason is with the connection, not with the wait.
      client.makeUnaryRequest(
        "/etcdserverpb.Maintenance/Status",
        encode,
        decode,
        [],
        new Metadata(),
        { deadline: Date.now() + 1000 },
        (reason: ServiceError | null) => reject(reason === null ? error : new Error(reason.details)),
      );
    });
  });
}

interface Node {
  readonly label: string;
  readonly target: string;
  readonly scheme: string;
  readonly tls: boolean;
}

function parseNode(node: string): Node {
  const match = /^(https?|unix):\/\/(.*)$/.exec(node);
  const scheme = match?.[1] ?? "http";
  const rest = (match?.[2] ?? node).replace(/\/$/, "");
  if (scheme === "unix") return { label: node, target: `unix:${rest}`, scheme, tls: false };
  if (!/^(\[[0-9a-fA-F:.]+\]|[^:/\s]+):[0-9]{1,5}$/.test(rest)) {
    throw new ConfigError(
      `node ${JSON.stringify(node)}: use host:port, http://host:port, https://host:port or unix:///path`,
    );
  }
  return { label: node, target: `dns:${rest}`, scheme, tls: scheme === "https" };
}
