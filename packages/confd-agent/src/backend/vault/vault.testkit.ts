/**
 * A stand-in for Vault's API as it is documented: key-value engines of both versions, an engine with leases, listing,
 * policies as refused paths, AppRole, userpass, tokens with an end and their renewal.
 */
import { startServer, type TestServer } from "../http.testkit.ts";

type Data = Readonly<Record<string, unknown>>;

export interface VaultDouble extends TestServer {
  /** Writes a secret, e.g. `secret/app`; undefined deletes it. */
  put(path: string, data: Data | undefined): void;
  /** Takes back all tokens but that of root. */
  revoke(): void;
  /** How often something was asked, e.g. `login`, `renew`, `creds`. */
  count(what: string): number;
}

export interface VaultDoubleOptions {
  /** Paths that only root may read or list. */
  readonly denied?: readonly string[];
  /** Seconds that tokens of logins live. */
  readonly ttl?: number;
}

export const ROOT_TOKEN = "root-token";

export async function startVaultDouble({
  denied = [],
  ttl = 3600,
}: VaultDoubleOptions = {}): Promise<VaultDouble> {
  const secrets = new Map<string, Data>();
  const tokens = new Set<string>();
  const counts = new Map<string, number>();
  const counted = (what: string): number => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
    return counts.get(what)!;
  };
  const auth = (): unknown => {
    const client_token = `token-${counted("login")}`;
    tokens.add(client_token);
    return { auth: { client_token, renewable: true, lease_duration: ttl } };
  };
  const namesBelow = (folder: string): string[] => {
    const below = [...secrets.keys()].filter((path) => path.startsWith(`${folder}/`));
    const names = below.map((path) => {
      const [first = "", ...rest] = path.slice(folder.length + 1).split("/");
      return rest.length === 0 ? first : `${first}/`;
    });
    return [...new Set(names)].sort();
  };
  const server = await startServer(({ method, url, headers, body }, reply) => {
    const path = decodeURIComponent(url.pathname.replace("/v1/", ""));
    const sent = body === "" ? {} : (JSON.parse(body) as Record<string, string>);
    const refuse = (): void => reply(403, { errors: ["permission denied"] });
    if (path === "sys/health") return reply(200, { initialized: true, sealed: false });
    if (path === "auth/approle/login") {
      return sent.role_id === "role" && sent.secret_id === "s3cret"
        ? reply(200, auth())
        : reply(400, { errors: ["invalid role or secret ID"] });
    }
    if (path === "auth/users/login/ann") return sent.password === "pw" ? reply(200, auth()) : refuse();
    const token = String(headers["x-vault-token"] ?? "");
    const isRoot = token === ROOT_TOKEN;
    if (!isRoot && !tokens.has(token)) return refuse();
    if (path === "auth/token/lookup-self")
      return reply(200, { data: { ttl: isRoot ? 0 : ttl, renewable: !isRoot } });
    if (path === "auth/token/renew-self") {
      counted("renew");
      return reply(200, { auth: { client_token: token, renewable: true, lease_duration: ttl } });
    }
    const mount = path.replace("sys/internal/ui/mounts/", "").split("/")[0]!;
    if (path.startsWith("sys/internal/ui/mounts/")) {
      if (mount === "old") return reply(200, { data: { path: "old/", options: { version: "1" } } });
      if (mount === "database") return reply(200, { data: { path: "database/", options: null } });
      return reply(200, { data: { path: "secret/", options: { version: "2" } } });
    }
    const isList = method === "LIST" || url.searchParams.get("list") === "true";
    const isVersion2 = mount === "secret";
    const plain = isVersion2 ? path.replace(/^secret\/(data|metadata)/, "secret") : path;
    if (!isRoot && denied.includes(isList ? `list ${plain}` : plain)) return refuse();
    if (mount === "database") {
      if (isList) return reply(405, { errors: ["1 error occurred: unsupported operation"] });
      const made = counted("creds");
      return reply(200, {
        lease_id: `database/creds/${made}`,
        lease_duration: 3600,
        data: { username: `u${made}` },
      });
    }
    if (isVersion2 && !/^secret\/(data|metadata)(\/|$)/.test(path)) return reply(404, { errors: [] });
    if (isList) {
      const keys = namesBelow(plain);
      return keys.length === 0 ? reply(404, { errors: [] }) : reply(200, { data: { keys } });
    }
    const data = secrets.get(plain);
    if (data === undefined) return reply(404, { errors: [] });
    return reply(200, { data: isVersion2 ? { data, metadata: { version: 1 } } : data });
  });
  return {
    ...server,
    put: (path, data) => {
      if (data === undefined) secrets.delete(path);
      else secrets.set(path, data);
    },
    revoke: () => tokens.clear(),
    count: (what) => counts.get(what) ?? 0,
  };
}
