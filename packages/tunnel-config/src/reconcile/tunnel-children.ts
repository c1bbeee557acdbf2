/** Secrets and Deployment of a tunnel. */
import { isControlledBy, isInvalid, type KubeObject, type ReconcileContext } from "@quartet/core";
import { type ConfigObject, DEPLOYMENT, type Deployment, SECRET } from "@quartet/core/kinds";
import type { CloudflareApi } from "../cloudflare/api.ts";
import { tokenSecretName, tunnelDeployment, tunnelLabels, tunnelSecret } from "../desired/cloudflared.ts";
import { DeployPatchError } from "../desired/deploy-patch.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import { Problem } from "./problem.ts";
import type { Secrets } from "./secrets.ts";
import { holds } from "./subset.ts";
import type { RemoteTunnel } from "./tunnel-remote.ts";

const CREDENTIALS_FILE = "credentials.json";

export interface ChildrenOptions {
  readonly tunnel: Cached<AnyTunnel>;
  readonly remote: RemoteTunnel;
  readonly namespace: string;
  readonly image: string;
  readonly ctx: ReconcileContext;
  readonly secrets: Secrets;
}

/** The Secret with the credentials file; made only by whoever knows the secret (TUN-206, TUN-210). */
export async function keepCredentials(options: ChildrenOptions): Promise<void> {
  const { remote, tunnel, namespace, ctx, secrets } = options;
  const { account, id, name, secret } = remote;
  const own = tunnel.metadata.name ?? "";
  const fileOf = (known: string): string =>
    JSON.stringify({ AccountTag: account, TunnelID: id, TunnelName: name, TunnelSecret: known });
  if (secret !== undefined) return writeSecret(options, own, CREDENTIALS_FILE, fileOf(secret));
  const legacy = await legacyCredentials(options, fileOf);
  if (legacy === undefined) return;
  const stored = await secrets.read({ namespace, name: own }, ctx.cache);
  if (decoded(stored?.data?.[CREDENTIALS_FILE]) === legacy) return;
  await writeSecret(options, own, CREDENTIALS_FILE, legacy);
}

/** Credentials of an existing tunnel that its user keeps beside the token of the API (TUN-210). */
async function legacyCredentials(
  { tunnel, namespace, ctx, secrets }: ChildrenOptions,
  fileOf: (secret: string) => string,
): Promise<string | undefined> {
  const { cloudflare: from, existingTunnel } = tunnel.spec ?? {};
  if (existingTunnel === undefined || !from?.secret) return undefined;
  const data = (await secrets.read({ namespace, name: from.secret }, ctx.cache))?.data;
  const file = decoded(data?.[from.CLOUDFLARE_TUNNEL_CREDENTIAL_FILE ?? "CLOUDFLARE_TUNNEL_CREDENTIAL_FILE"]);
  if (file !== "") return file;
  const secret = decoded(
    data?.[from.CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET ?? "CLOUDFLARE_TUNNEL_CREDENTIAL_SECRET"],
  ).trim();
  return secret === "" ? undefined : fileOf(secret);
}

function decoded(value: string | undefined): string {
  return Buffer.from(value ?? "", "base64").toString("utf8");
}

/** The token of the tunnel, from its Secret or else from the account (TUN-207). */
export async function keepToken(options: ChildrenOptions, api: CloudflareApi): Promise<string> {
  const { tunnel, remote, namespace, ctx, secrets } = options;
  const name = tokenSecretName(tunnel.metadata.name ?? "");
  const stored = await secrets.read({ namespace, name }, ctx.cache);
  const token = decoded(stored?.data?.token);
  if (stored !== undefined) assertOurs(stored, tunnel);
  if (
    token !== "" &&
    tokenTunnel(token) === remote.id &&
    holds(stored?.metadata.labels, tunnelLabels(tunnel, remote))
  )
    return token;
  const fetched =
    token !== "" && tokenTunnel(token) === remote.id
      ? token
      : await api.tunnelToken(remote.account, remote.id);
  await writeSecret(options, name, "token", fetched);
  return fetched;
}

/** Identifier of the tunnel that a token is for, or nothing. */
function tokenTunnel(token: string): string | undefined {
  try {
    return (JSON.parse(Buffer.from(token, "base64").toString("utf8")) as { t?: string }).t;
  } catch {
    return undefined;
  }
}

async function writeSecret(
  options: ChildrenOptions,
  name: string,
  key: string,
  value: string,
): Promise<void> {
  const { tunnel, remote, namespace, ctx, secrets } = options;
  const stored = await secrets.read({ namespace, name }, ctx.cache);
  if (stored !== undefined) assertOurs(stored, tunnel);
  await ctx.client.applyOwned<ConfigObject>(
    SECRET,
    tunnelSecret({ tunnel, identity: remote, namespace }, name, key, value),
  );
}

/** The Deployment; what runs stays when it cannot be made as it is wanted (TUN-232 to TUN-236). */
export async function keepDeployment(
  options: ChildrenOptions,
  token: string,
): Promise<Cached<Deployment> | undefined> {
  const { tunnel, remote, namespace, image, ctx } = options;
  const key = { namespace, name: tunnel.metadata.name ?? "" };
  const stored = await ctx.cache.get(DEPLOYMENT, key);
  if (stored !== undefined) assertOurs(stored, tunnel);
  const selector = stored?.spec.selector.matchLabels;
  let wanted: KubeObject;
  try {
    wanted = tunnelDeployment({ tunnel, identity: remote, namespace, image, token, selector });
  } catch (error) {
    if (!(error instanceof DeployPatchError)) throw error;
    throw patchProblem(error.message);
  }
  if (stored !== undefined && holds(stored, wanted)) return stored;
  try {
    return await ctx.client.applyOwned<Deployment>(DEPLOYMENT, wanted as Deployment);
  } catch (error) {
    if (!isInvalid(error)) throw error;
    throw patchProblem(`the server refuses the Deployment: ${(error as Error).message}`);
  }
}

function patchProblem(message: string): Problem {
  return new Problem("InvalidDeployPatch", message, { retryAfterMs: 300_000, event: "FailedPatch" });
}

/** An object that somebody else made is left alone. */
function assertOurs(object: Cached<KubeObject>, tunnel: Cached<AnyTunnel>): void {
  if (isControlledBy(object, tunnel)) return;
  const { kind, metadata } = object;
  const message = `${kind} ${metadata.namespace}/${metadata.name} is there already and not ours: remove it, or rename the ${tunnel.kind}`;
  throw new Problem("NameTaken", message, { transient: true });
}
