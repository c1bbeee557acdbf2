/** Secrets of HashiCorp Vault as a source: key-value engines of both versions, and others as far as they are read by GET. */
import { textOf } from "@quartet/go-template";
import type { BackendSettings, Environment } from "../../config/settings.ts";
import { BackendError } from "../../errors.ts";
import { type Backend, belongs } from "../backend.ts";
import { createHttpNodes, encodePath, type HttpAnswer } from "../http.ts";
import { answerOf } from "./answer.ts";
import { createLogin } from "./login.ts";
import { addSecret, type SecretData } from "./secrets.ts";

const FORBIDDEN = 403;
const NOT_FOUND = 404;
/** There is none, or the engine has no such thing: most cannot be listed. */
const NOTHING_THERE: ReadonlySet<number> = new Set([NOT_FOUND, 405]);
/** Folders within each other, and secrets of one read. */
const MAX_DEPTH = 32;
const MAX_SECRETS = 10_000;
/** A secret with a lease is asked for again when this part of its time is over. */
const LEASE_PART = 2 / 3;
const MILLIS = 1000;

/** A key-value engine of version 2 has its values and its lists below words that paths do not name. */
interface Mount {
  readonly path: string;
  readonly isVersion2: boolean;
}

export function createVaultBackend(settings: BackendSettings, environment: Environment): Backend {
  const nodes = createHttpNodes(settings);
  const login = createLogin(settings, environment, nodes);
  const namespace = environment.VAULT_NAMESPACE;
  const mounts = new Map<string, Mount>();
  /** Secrets with a lease: asking again would make another one. */
  const leased = new Map<string, { readonly data: SecretData; readonly until: number }>();

  const ask = async (path: string, signal: AbortSignal): Promise<HttpAnswer> => {
    for (let tries = 0; ; tries++) {
      const token = await login.token(signal);
      const headers = { "x-vault-token": token, ...(namespace ? { "x-vault-namespace": namespace } : {}) };
      const answer = await nodes.ask({ path: `/v1${path}`, headers, signal });
      if (answer.status === FORBIDDEN && tries === 0 && (await login.refused(signal))) continue;
      if (answer.status === FORBIDDEN) {
        throw new BackendError(`permission denied for ${decodeURIComponent(path)}`, { onlyThisRange: true });
      }
      if (answer.status !== 200 && !NOTHING_THERE.has(answer.status)) {
        throw new BackendError(
          `vault: HTTP ${answer.status} for ${path}: ${answer.text.trim().slice(0, 200)}`,
        );
      }
      return answer;
    }
  };
  const mountOf = async (path: string, signal: AbortSignal): Promise<Mount> => {
    for (const mount of mounts.values())
      if (path === mount.path || path.startsWith(`${mount.path}/`)) return mount;
    const answer = await ask(`/sys/internal/ui/mounts${encodePath(path)}`, signal).catch((error: unknown) => {
      // Who may not see where the engine is mounted can still read it: as in version 1, by its path.
      if (error instanceof BackendError && error.onlyThisRange) return undefined;
      throw error;
    });
    if (answer?.status !== 200) return { path: "", isVersion2: false };
    const { data } = answerOf<{ data: { path: string; options?: { version?: string } | null } }>(answer.text);
    const mount = { path: `/${data.path.replace(/\/$/, "")}`, isVersion2: data.options?.version === "2" };
    mounts.set(mount.path, mount);
    return mount;
  };
  /** The path of a secret's values, or of the names below it. */
  const apiPath = ({ path: mount, isVersion2 }: Mount, path: string, word: "data" | "metadata"): string => {
    const rest = path.slice(mount.length);
    return isVersion2 && !rest.startsWith("/data/") ? `${mount}/${word}${rest}` : path;
  };
  const readOne = async (
    mount: Mount,
    path: string,
    signal: AbortSignal,
  ): Promise<SecretData | undefined> => {
    const known = leased.get(path);
    if (known !== undefined && known.until > performance.now()) return known.data;
    const answer = await ask(encodePath(apiPath(mount, path, "data")), signal);
    if (answer.status !== 200) return undefined;
    const { data, lease_id, lease_duration } = answerOf<{
      data: SecretData | null;
      lease_id?: string;
      lease_duration?: number;
    }>(answer.text);
    const inner = mount.isVersion2 ? (data?.data as SecretData | null | undefined) : data;
    if (inner === null || inner === undefined) return undefined;
    if (lease_id && lease_duration) {
      leased.set(path, { data: inner, until: performance.now() + lease_duration * MILLIS * LEASE_PART });
    }
    return inner;
  };
  const namesBelow = async (mount: Mount, path: string, signal: AbortSignal): Promise<readonly string[]> => {
    const answer = await ask(`${encodePath(apiPath(mount, path, "metadata"))}?list=true`, signal).catch(
      (error: unknown) => {
        // A policy may allow to read a secret and not to list what is below it.
        if (error instanceof BackendError && error.onlyThisRange) return undefined;
        throw error;
      },
    );
    if (answer?.status !== 200) return [];
    const { keys } = answerOf<{ data?: { keys?: unknown } }>(answer.text).data ?? {};
    return Array.isArray(keys) ? keys.filter((name) => typeof name === "string") : [];
  };
  const readRange = async (
    range: string,
    signal: AbortSignal,
    values: Map<string, string>,
  ): Promise<void> => {
    const mount = await mountOf(range, signal);
    const seen = new Set<string>();
    const waiting: { path: string; depth: number }[] = [{ path: range, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, depth } = next;
      if (seen.has(path)) continue;
      seen.add(path);
      if (seen.size > MAX_SECRETS || depth > MAX_DEPTH)
        throw new BackendError(
          `vault: more than ${MAX_SECRETS} secrets below ${textOf(range)}: name a narrower key`,
        );
      if (path !== mount.path) {
        const data = await readOne(mount, path, signal);
        if (data !== undefined) addSecret(path, data, values);
      }
      // Only a mounted engine can be listed; a key of a secret is none.
      for (const name of await namesBelow(mount, path, signal)) {
        const below = `${path}/${Buffer.from(name).toString("latin1").replace(/\/$/, "")}`;
        waiting.push({ path: below, depth: depth + 1 });
      }
    }
  };
  return {
    label: `vault ${settings.nodes.join(", ")}`,
    isSecret: () => true,
    read: async (ranges, { signal }) => {
      if (ranges.includes("/"))
        throw new BackendError("vault: the key / is every secret: name the path of a mount, e.g. /secret");
      const values = new Map<string, string>();
      for (const range of ranges) await readRange(range, signal, values);
      return { values: new Map([...values].filter(([key]) => ranges.some((range) => belongs(key, range)))) };
    },
    health: async (signal) => {
      // 200 is a node that works, 429 and 473 one that stands by.
      const { status, text } = await nodes.ask({
        path: "/v1/sys/health?standbyok=true&perfstandbyok=true",
        signal,
      });
      if (status !== 200) throw new BackendError(`vault: HTTP ${status} ${text.trim().slice(0, 200)}`);
    },
    close: async () => nodes.close(),
  };
}
