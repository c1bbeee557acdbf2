/**
 * A stand-in for Consul's key-value API as it is documented: `?recurse` by prefix, base64 values, `X-Consul-Index`,
 * blocking queries with `index` and `wait`, 404 where nothing is, 403 without a good token.
 */
import { type Reply, startServer, type TestServer } from "../http.testkit.ts";

export interface ConsulDouble extends TestServer {
  /** Writes keys in one transaction; undefined deletes. Keys have no leading slash, as in Consul. */
  put(values: Readonly<Record<string, string | undefined>>): void;
  /** Requests so far. */
  requests(): number;
  /** Answers with 500 from now on, or no longer. */
  lead(hasLeader: boolean): void;
}

export interface ConsulDoubleOptions {
  /** Token that must be sent. */
  readonly token?: string;
  /** Prefixes that the token may not read. */
  readonly denied?: readonly string[];
  readonly port?: number;
}

export async function startConsulDouble({
  token,
  denied = [],
  port,
}: ConsulDoubleOptions = {}): Promise<ConsulDouble> {
  const store = new Map<string, { value: string; index: number }>();
  const waiting = new Set<() => void>();
  /** Deletions count too: prefix to the index of its last one. */
  const graves: { key: string; index: number }[] = [];
  let index = 10;
  let count = 0;
  let hasLeader = true;
  const indexOf = (prefix: string): number => {
    const own = [...store].filter(([key]) => key.startsWith(prefix)).map(([, entry]) => entry.index);
    const gone = graves.filter(({ key }) => key.startsWith(prefix)).map((grave) => grave.index);
    return Math.max(1, ...own, ...gone);
  };
  const answer = (prefix: string, reply: Reply): void => {
    const found = [...store]
      .filter(([key]) => key.startsWith(prefix))
      .map(([Key, { value, index: ModifyIndex }]) => ({
        LockIndex: 0,
        Key,
        Flags: 0,
        Value: value === "" ? null : Buffer.from(value, "latin1").toString("base64"),
        CreateIndex: ModifyIndex,
        ModifyIndex,
      }));
    const headers = {
      "x-consul-index": String(found.length === 0 ? Math.max(indexOf(prefix), 1) : indexOf(prefix)),
    };
    if (found.length === 0) reply(404, "", headers);
    else reply(200, found, headers);
  };
  const server = await startServer(({ url, headers }, reply, response) => {
    count += 1;
    if (!hasLeader) return reply(500, "No cluster leader");
    if (url.pathname === "/v1/status/leader") return reply(200, '"127.0.0.1:8300"');
    const prefix = decodeURIComponent(url.pathname.replace("/v1/kv/", ""));
    if (token !== undefined && headers["x-consul-token"] !== token) return reply(403, "ACL not found");
    if (denied.includes(prefix)) return reply(403, "Permission denied");
    const known = Number(url.searchParams.get("index") ?? 0);
    if (known === 0 || indexOf(prefix) > known) return answer(prefix, reply);
    const look = (): void => {
      if (indexOf(prefix) <= known) return;
      waiting.delete(look);
      answer(prefix, reply);
    };
    waiting.add(look);
    response.once("close", () => waiting.delete(look));
  }, port);
  return {
    ...server,
    put: (values) => {
      index += 1;
      for (const [key, value] of Object.entries(values)) {
        if (value === undefined) {
          store.delete(key);
          graves.push({ key, index });
        } else store.set(key, { value, index });
      }
      for (const look of [...waiting]) look();
    },
    requests: () => count,
    lead: (value) => {
      hasLeader = value;
    },
  };
}
