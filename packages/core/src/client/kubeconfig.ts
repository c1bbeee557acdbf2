/** Connections by kubeconfig files. The only file that evaluates code of `@kubernetes/client-node`. */
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { dirname, isAbsolute, join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import type { Cluster, User } from "@kubernetes/client-node/dist/config_types.js";
import { parse } from "yaml";
import type { Clock } from "../clock.ts";
import { redactText } from "../observe/redact.ts";
import type { Logger } from "../observe/types.ts";
import type { Connection } from "./connection.ts";
import {
  bearer,
  fixedIdentity,
  type Identity,
  type IdentitySource,
  renewingCredentials,
  tlsInputs,
  tokenIdentity,
} from "./credentials.ts";
import { ConfigurationError, CredentialsError } from "./errors.ts";
import { type ExecSpec, execIdentity } from "./exec-plugin.ts";
import { fileValue } from "./files.ts";
import { type Environment, isLoopback, proxyFor } from "./proxy.ts";

export interface KubeconfigOptions {
  /** Existing files; the first to set a value wins, as with kubectl. */
  files: readonly string[];
  /** Context to use instead of the current one. */
  context: string | undefined;
  env: Environment;
  clock: Clock;
  log: Logger | undefined;
}

/** Fields of a user that the loader does not know. */
interface RawUser {
  tokenFile?: string;
  as?: string;
  "as-uid"?: string;
  "as-groups"?: string[];
  "as-user-extra"?: Record<string, string[]>;
}

interface RawCluster {
  extensions?: { name?: string; extension?: unknown }[];
}

interface RawConfig {
  users?: { name?: string; user?: RawUser | null }[];
  clusters?: { name?: string; cluster?: RawCluster }[];
}

interface Loaded {
  config: KubeConfig;
  /** Raw content of the files with their folders, in order. */
  raw: { folder: string; content: RawConfig }[];
}

/** Connection for a context of kubeconfig files. Throws `ConfigurationError` that names file, field and remedy. */
export async function kubeconfigConnection(options: KubeconfigOptions): Promise<Connection> {
  const where = options.files.join(", ");
  const loaded = await load(options.files);
  const { config, raw } = loaded;
  const contextName = options.context ?? config.getCurrentContext() ?? "";
  const context = config.getContextObject(contextName);
  if (context === null) {
    const problem =
      contextName === "" ? "sets no current-context" : `has no context ${JSON.stringify(contextName)}`;
    throw new ConfigurationError(`kubeconfig ${where} ${problem}; name one of its contexts`);
  }
  config.setCurrentContext(contextName);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ConfigurationError(
      `kubeconfig ${where}: context ${JSON.stringify(contextName)} names cluster ${JSON.stringify(context.cluster)}, which does not exist`,
    );
  }
  const server = serverOf(cluster, where);
  const user = config.getCurrentUser();
  if (user === null && context.user) {
    throw new ConfigurationError(
      `kubeconfig ${where}: context ${JSON.stringify(contextName)} names user ${JSON.stringify(context.user)}, which does not exist`,
    );
  }
  const rawUser = find(
    raw,
    (content) => content.users?.find((entry) => entry.name === user?.name)?.user ?? undefined,
  );
  const tls = tlsOf(cluster, user, options, where);
  const identity = identityOf({ loaded, cluster, user, rawUser, options, where });
  return {
    server,
    source: `kubeconfig ${where}, context ${contextName}`,
    namespace: context.namespace,
    serviceAccount: undefined,
    proxy: proxyFor(server, cluster.proxyUrl, options.env),
    ...renewingCredentials(identity, tls, impersonation(rawUser?.value)),
  };
}

async function load(files: readonly string[]): Promise<Loaded> {
  const { KubeConfig: Loader } = await import("@kubernetes/client-node/dist/config.js");
  const config = new Loader();
  const raw: Loaded["raw"] = [];
  for (const file of files) {
    const text = configured(`kubeconfig ${file} cannot be read`, () => readFileSync(file, "utf8"));
    const one = new Loader();
    try {
      const content = parse(text) as RawConfig | null;
      if (content === null) continue;
      if (typeof content !== "object") throw new Error("not a mapping");
      raw.push({ folder: dirname(file), content });
      one.loadFromString(text);
    } catch (error) {
      throw new ConfigurationError(`kubeconfig ${file} is not valid: ${safeReason(error)}`);
    }
    one.makePathsAbsolute(dirname(file));
    merge(config, one);
  }
  return { config, raw };
}

/** Value of `read`; what it throws becomes the reason of a `ConfigurationError`. */
function configured<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigurationError(`${problem}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** kubectl's rule: of equal names, and of the current context, the first file's value counts. */
function merge(target: KubeConfig, more: KubeConfig): void {
  for (const cluster of more.clusters)
    if (target.getCluster(cluster.name) === null) target.addCluster(cluster);
  for (const user of more.users) if (target.getUser(user.name) === null) target.addUser(user);
  for (const context of more.contexts) {
    if (target.getContextObject(context.name) === null) target.addContext(context);
  }
  if (!target.getCurrentContext()) target.setCurrentContext(more.getCurrentContext());
}

/** Parsers quote the text that they stumble over, which may be a token; only the position is passed on. */
function safeReason(error: unknown): string {
  const position = error as { name?: string; linePos?: [{ line: number; col: number }] };
  if (position.name === "YAMLParseError") return `YAML error in line ${position.linePos?.[0].line ?? "?"}`;
  return error instanceof Error && /^(clusters|users|contexts)\[\d+\]/.test(error.message)
    ? error.message
    : "it does not have the form of a kubeconfig";
}

function serverOf(cluster: Cluster, where: string): URL {
  const server = URL.parse(cluster.server);
  const shown = redactText(cluster.server);
  if (server === null || (server.protocol !== "https:" && server.protocol !== "http:")) {
    throw new ConfigurationError(`kubeconfig ${where}: server ${shown} is not an https:// URL`);
  }
  if (server.protocol === "http:" && !isLoopback(server.hostname) && !cluster.skipTLSVerify) {
    throw new ConfigurationError(
      `kubeconfig ${where}: server ${shown} would send credentials in clear text; use https://, or set insecure-skip-tls-verify: true if that is wanted`,
    );
  }
  return server;
}

/** CA and client certificate; those in files are read again while running. */
function tlsOf(cluster: Cluster, user: User | null, options: KubeconfigOptions, where: string) {
  const inline = (data: string | undefined): Buffer | undefined =>
    data ? Buffer.from(data, "base64") : undefined;
  const sources = [
    { name: "ca" as const, data: inline(cluster.caData), file: cluster.caFile },
    { name: "cert" as const, data: inline(user?.certData), file: user?.certFile },
    { name: "key" as const, data: inline(user?.keyData), file: user?.keyFile },
  ].filter(({ data, file }) => data !== undefined || file);
  const fromFiles = sources.filter(({ data }) => data === undefined);
  const fixed = Object.fromEntries(
    sources.flatMap(({ name, data }) => (data === undefined ? [] : [[name, data]])),
  );
  const verify = { servername: cluster.tlsServerName, rejectUnauthorized: !cluster.skipTLSVerify };
  return configured(`kubeconfig ${where}: CA, client certificate or key is unusable`, () =>
    fileValue(
      fromFiles.map(({ file }) => file ?? ""),
      (contents) => {
        const read = Object.fromEntries(fromFiles.map(({ name }, index) => [name, contents[index]]));
        return tlsInputs({ ...fixed, ...read }, verify);
      },
      options.clock,
      options.log,
    ),
  );
}

interface IdentityInput {
  loaded: Loaded;
  cluster: Cluster;
  user: User | null;
  rawUser: { value: RawUser; folder: string } | undefined;
  options: KubeconfigOptions;
  /** The kubeconfig's files, for messages. */
  where: string;
}

function identityOf({ loaded, cluster, user, rawUser, options, where }: IdentityInput): IdentitySource {
  const { clock, log, env } = options;
  if (user === null) return fixedIdentity({});
  const folder = rawUser?.folder ?? ".";
  const tokenFile = rawUser?.value.tokenFile;
  if (tokenFile) {
    const path = isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile);
    return configured(`kubeconfig ${where}: tokenFile ${path} is unusable`, () =>
      tokenIdentity(fileValue([path], ([content]) => bearer(content), clock, log)),
    );
  }
  if (user.token) return fixedIdentity({ authorization: `Bearer ${user.token}` });
  if (user.username) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64");
    return fixedIdentity({ authorization: `Basic ${pair}` });
  }
  if (user.exec) {
    const spec = user.exec as ExecSpec;
    if (!spec.command) {
      throw new ConfigurationError(
        `kubeconfig ${where}: user ${JSON.stringify(user.name)}: exec names no command`,
      );
    }
    return execIdentity({ spec, directory: folder, cluster: clusterInfo(cluster, loaded), env, clock, log });
  }
  return user.authProvider ? providerIdentity(loaded.config) : fixedIdentity({});
}

/** `spec.cluster` of an ExecCredential. */
function clusterInfo(cluster: Cluster, loaded: Loaded): Record<string, unknown> {
  const rawCluster = find(
    loaded.raw,
    (content) => content.clusters?.find((entry) => entry.name === cluster.name)?.cluster,
  );
  const extension = rawCluster?.value.extensions?.find(
    ({ name }) => name === "client.authentication.k8s.io/exec",
  );
  const caData = cluster.caFile ? readFileSync(cluster.caFile).toString("base64") : undefined;
  return {
    server: cluster.server,
    "tls-server-name": cluster.tlsServerName,
    "insecure-skip-tls-verify": cluster.skipTLSVerify || undefined,
    "certificate-authority-data": cluster.caData ?? caData,
    "proxy-url": cluster.proxyUrl,
    config: extension?.extension,
  };
}

/** Old `auth-provider` users (OIDC and others): the loader keeps their tokens fresh. */
function providerIdentity(config: KubeConfig): IdentitySource {
  let last: Identity = {};
  return {
    async get() {
      const request: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(request);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new CredentialsError(`auth-provider of the kubeconfig's user failed: ${reason}`);
      }
      const authorization = (request.headers as Record<string, string> | undefined)?.Authorization ?? "";
      if (authorization !== (last.authorization ?? "")) last = authorization === "" ? {} : { authorization };
      return last;
    },
  };
}

/** Headers that ask the server to act as somebody else; one line per group and per value. */
function impersonation(user: RawUser | undefined): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  if (user?.as) headers["impersonate-user"] = user.as;
  if (user?.["as-uid"]) headers["impersonate-uid"] = user["as-uid"];
  if (user?.["as-groups"]?.length) headers["impersonate-group"] = user["as-groups"];
  for (const [key, values] of Object.entries(user?.["as-user-extra"] ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key)}`] = values;
  }
  return headers;
}

/** First hit among the files, with the folder of its file. */
function find<T>(
  raw: Loaded["raw"],
  pick: (content: RawConfig) => T | undefined,
): { value: T; folder: string } | undefined {
  for (const { content, folder } of raw) {
    const value = pick(content);
    if (value !== undefined) return { value, folder };
  }
  return undefined;
}
