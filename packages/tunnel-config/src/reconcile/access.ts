/** Which account and credentials an object works with (TUN-101 to TUN-110). */
import type { SourceReader } from "@quartet/core";
import type { CloudflareCredentials, Tunnel } from "../api.gen.ts";
import type { CloudflareApi } from "../cloudflare/api.ts";
import type { ApiCredentials } from "../cloudflare/credentials.ts";
import { ANNOTATIONS } from "../constants.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { type Cached, CREDENTIALS } from "../kinds.ts";
import type { PeerCheck } from "./peer.ts";
import { Problem } from "./problem.ts";
import type { Secrets } from "./secrets.ts";

/** `spec.cloudflare` of every kind. */
export type CloudflareSpec = NonNullable<NonNullable<Cached<Tunnel>["spec"]>["cloudflare"]>;

export interface Access {
  readonly api: CloudflareApi;
  /** Account, as far as it is known without a look-up. */
  readonly accountId: string | undefined;
  readonly accountName: string | undefined;
  /** How the credentials are found again; kept with the configuration. */
  readonly stored: NonNullable<ConfigDocument["credentialsRef"]>;
  readonly defaultDomain: string | undefined;
}

export interface AccessOptions {
  readonly operatorNamespace: string;
  readonly apiFor: (credentials: ApiCredentials) => CloudflareApi;
  readonly secrets: Secrets;
  readonly assertAlone: PeerCheck;
}

/** Key of the address that belongs to a global key, when the first is missing. */
const EMAIL_KEYS = ["CLOUDFLARE_EMAIL", "CLOUDFLARE_API_EMAIL"] as const;

/**
 * Access for an object; throws {@link Problem} with what is missing.
 * @param namespace of the object; empty for cluster-scoped ones
 */
export async function resolveAccess(
  spec: CloudflareSpec | undefined,
  namespace: string,
  cache: SourceReader,
  options: AccessOptions,
): Promise<Access> {
  await options.assertAlone(cache);
  const named = spec?.credentialsRef?.name;
  const base = { accountId: spec?.accountId, accountName: spec?.accountName };
  if (named === undefined && spec?.secret !== undefined) {
    const place = { namespace: namespace || options.operatorNamespace, name: spec.secret };
    const api = options.apiFor(inlineCredentials(await secretData(place, cache, options), spec));
    const tokenKey = spec.CLOUDFLARE_API_TOKEN;
    const inline = {
      secret: place.name,
      namespace: place.namespace,
      ...(tokenKey !== undefined && { tokenKey }),
    };
    return { ...base, api, stored: { inline }, defaultDomain: undefined };
  }
  const found =
    named === undefined
      ? await defaultCredentials(cache)
      : await cache.get(CREDENTIALS, { namespace: "", name: named });
  if (found === undefined) {
    const message =
      named === undefined
        ? "no default CloudflareCredentials found"
        : `there is no CloudflareCredentials ${named}`;
    throw new Problem("CredentialsNotFound", message);
  }
  assertFor(found, namespace, options.operatorNamespace);
  return {
    ...base,
    ...(await accessOf(found, cache, options)),
    accountId: spec?.accountId ?? found.spec.accountId,
  };
}

/** Credentials may be for some namespaces alone (TUN-116); cluster-scoped objects are those of administrators. */
function assertFor(
  { metadata }: Cached<CloudflareCredentials>,
  namespace: string,
  operatorNamespace: string,
): void {
  const list = metadata.annotations?.[ANNOTATIONS.namespaces];
  if (list === undefined || namespace === "" || namespace === operatorNamespace) return;
  const isListed = list.split(",").some((one) => one.trim() === namespace);
  if (isListed) return;
  const message = `CloudflareCredentials ${metadata.name} is not for namespace ${namespace}`;
  throw new Problem("CredentialsNotPermitted", message);
}

/** Access by what was stored with a configuration whose tunnel object is gone (TUN-311). */
export async function storedAccess(
  stored: ConfigDocument["credentialsRef"],
  cache: SourceReader,
  options: AccessOptions,
): Promise<Access> {
  const { name, inline } = stored ?? {};
  if (name !== undefined || inline === undefined) {
    return resolveAccess(name === undefined ? undefined : { credentialsRef: { name } }, "", cache, options);
  }
  const spec = {
    secret: inline.secret,
    ...(inline.tokenKey !== undefined && { CLOUDFLARE_API_TOKEN: inline.tokenKey }),
  };
  return resolveAccess(spec, inline.namespace, cache, options);
}

/** Access by credentials of the cluster. */
export async function accessOf(
  credentials: Cached<CloudflareCredentials>,
  cache: SourceReader,
  options: AccessOptions,
): Promise<Access> {
  const { spec, metadata } = credentials;
  const { name, namespace = options.operatorNamespace } = spec.secretRef;
  const data = await secretData({ namespace, name }, cache, options);
  const {
    apiTokenKey = "CLOUDFLARE_API_TOKEN",
    apiKeyKey = "CLOUDFLARE_API_KEY",
    emailKey = EMAIL_KEYS[0],
  } = spec.secretRef;
  const need = (key: string, what: string): string => {
    const value = data(key);
    if (value !== undefined) return value;
    throw new Problem("CredentialsInvalid", `${what} not found in secret (key: ${key})`);
  };
  const signed: ApiCredentials =
    spec.authType === "globalAPIKey"
      ? { type: "key", key: need(apiKeyKey, "API key"), email: need(emailKey, "e-mail") }
      : { type: "token", token: need(apiTokenKey, "API token") };
  return {
    api: options.apiFor(signed),
    accountId: spec.accountId,
    accountName: spec.accountName,
    stored: { name: metadata.name ?? "" },
    defaultDomain: spec.defaultDomain,
  };
}

/** Of several defaults the oldest counts (TUN-107). */
export async function defaultCredentials(
  cache: SourceReader,
): Promise<Cached<CloudflareCredentials> | undefined> {
  const all = (await cache.list(CREDENTIALS)).filter(({ spec }) => spec.isDefault === true);
  const age = ({ metadata }: Cached<CloudflareCredentials>): string =>
    `${metadata.creationTimestamp} ${metadata.name}`;
  return all.reduce<Cached<CloudflareCredentials> | undefined>(
    (oldest, one) => (oldest === undefined || age(one) < age(oldest) ? one : oldest),
    undefined,
  );
}

type SecretValue = (key: string) => string | undefined;

async function secretData(
  place: { namespace: string; name: string },
  cache: SourceReader,
  { secrets }: Pick<AccessOptions, "secrets">,
): Promise<SecretValue> {
  const secret = await secrets.read(place, cache);
  if (secret === undefined) {
    throw new Problem("CredentialsNotFound", `there is no Secret ${place.namespace}/${place.name}`);
  }
  return (key) => {
    const encoded = secret.data?.[key];
    // Line ends come with files, and no header can carry one.
    const value = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8").trim();
    return value === "" ? undefined : value;
  };
}

function inlineCredentials(data: SecretValue, spec: CloudflareSpec): ApiCredentials {
  const token = data(spec.CLOUDFLARE_API_TOKEN ?? "CLOUDFLARE_API_TOKEN");
  if (token !== undefined) return { type: "token", token };
  const key = data(spec.CLOUDFLARE_API_KEY ?? "CLOUDFLARE_API_KEY");
  const email = spec.email ?? EMAIL_KEYS.map(data).find((value) => value !== undefined);
  if (key !== undefined && email !== undefined) return { type: "key", key, email };
  throw new Problem("CredentialsInvalid", "no valid credentials found in secret");
}
