/** An API server in this process: HTTPS on loopback, objects in memory. */
import type { ApiServer, Identity } from "../api-server.ts";
import { authenticated } from "./auth.ts";
import { createEngine } from "./engine.ts";
import { matches, type RequestFault } from "./faults.ts";
import { listen } from "./http/listener.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { createPki, type Pki } from "./pki.ts";

export interface DoubleOptions {
  /** Kubernetes version it claims to be. Default `v1.37.2`, the version it was compared with. */
  version?: string;
  /** Port on 127.0.0.1. Default: a free one. */
  port?: number;
  /** Time between two bookmarks of a watch, ms. Default 60 000, as the real server. */
  bookmarkIntervalMs?: number;
  /** Events kept per resource; older resource versions are answered with 410. Default 1000. */
  watchWindow?: number;
  /** Rights come from Role and ClusterRole objects (`system:masters` may do everything). Default true. */
  rbac?: boolean;
  /** Dependents follow their owners. Default true. */
  garbageCollection?: boolean;
  /** Watches may begin with the current state (`sendInitialEvents`). Default true; false plays Kubernetes 1.33. */
  watchList?: boolean;
  /** Certificates to use instead of fresh ones. */
  pki?: Pki;
}

export interface Double extends ApiServer {
  readonly target: "double";
  readonly pki: Pki;
  /** `auth` chooses the login: client certificate (default) or bearer token. */
  kubeconfig(options?: Identity & { server?: string; auth?: "certificate" | "token" }): Promise<string>;
  /** A bearer token that logs in as an identity. */
  token(identity?: Identity): string;
  /** Makes every resource version before now too old to watch or list from. */
  expire(): void;
  /** Takes a fault in; the returned function takes it back. */
  inject(fault: RequestFault): () => void;
  /** Ends all running watches, as a restart of the server would; `connections` cuts idle ones too. */
  dropWatches(options?: { connections?: boolean }): void;
  /** The double's own time. */
  readonly clock: { now(): number; advance(ms: number): void };
  /** Resource version of the newest write. */
  resourceVersion(): number;
}

/** The Kubernetes version whose behaviour the double was compared with. */
export const DOUBLE_VERSION = "v1.37.2";
/** The real server's time between bookmarks, ms. */
const BOOKMARK_MS = 60_000;
const DEFAULT_USER = "quartet-admin";
const DEFAULT_GROUPS = ["system:masters"];

/** Starts a double. It is ready when the promise resolves; `stop()` ends it and its connections. */
export async function startDouble(options: DoubleOptions = {}): Promise<Double> {
  const pki = options.pki ?? (await createPki());
  let port = 0;
  const engine = createEngine({
    version: options.version ?? DOUBLE_VERSION,
    bookmarkMs: options.bookmarkIntervalMs ?? BOOKMARK_MS,
    rbac: options.rbac ?? true,
    garbageCollection: options.garbageCollection ?? true,
    watchList: options.watchList ?? true,
    watchWindow: options.watchWindow,
    address: () => `127.0.0.1:${port}`,
  });
  const { server, users, faults, log } = engine;
  const listener = await listen(engine.handler, pki, options.port ?? 0);
  port = listener.port;
  const url = `https://127.0.0.1:${port}`;

  const token = ({ user = DEFAULT_USER, groups = DEFAULT_GROUPS }: Identity = {}): string =>
    users.issue(authenticated(user, groups));

  return {
    target: "double",
    url,
    ca: pki.authority.cert,
    pki,
    version: server.settings.version,
    clock: { now: server.clock.now, advance: server.clock.advance },
    token,
    expire: server.store.expire,
    inject: faults.inject,
    resourceVersion: server.store.current,
    dropWatches({ connections = false } = {}) {
      for (const stream of [...server.streams]) stream.cut();
      if (connections) listener.cutConnections();
    },
    async kubeconfig({
      user = DEFAULT_USER,
      groups = DEFAULT_GROUPS,
      server: target,
      auth = "certificate",
    } = {}) {
      const credentials =
        auth === "token" ? { token: token({ user, groups }) } : await pki.authority.client(user, groups);
      return kubeconfigText({ server: target ?? url, ca: pki.authority.cert, user, credentials });
    },
    async requests({ since, ...wanted } = {}) {
      return log.filter(
        (record) => record.code !== 0 && record.at >= (since ?? 0) && matches(record, wanted),
      );
    },
    async stop() {
      engine.stop();
      await listener.close();
    },
  };
}
