/** Environment of the Nacos container as far as the operator sets it. */

import type { EnvVar } from "@quartet/core/kinds";
import { databaseEnv } from "./database.ts";
import { type EnvSource, fromSecret } from "./env.ts";
import { authSecretName, headlessServiceName } from "./names.ts";
import { CLIENT_PORT } from "./ports.ts";
import { PEER_REVISION, type TemplateRevision } from "./revision.ts";
import type { NacosSpec, Settings } from "./settings.ts";

/** Life of an access token in seconds (Nacos and peer). */
export const DEFAULT_TOKEN_EXPIRE_SECONDS = "18000";
/** Key of the JWT signing key in a Secret. */
export const AUTH_TOKEN_KEY = "token";
/** Keys of the server identity Secret (as in the peer). */
export const DEFAULT_IDENTITY_KEYS = { key: "identity_key", value: "identity_value" } as const;

/** Variables that the operator sets, in their fixed order; `taken` are names that the user defines. */
export function operatorEnv(
  settings: Settings,
  revision: TemplateRevision,
  taken: ReadonlySet<string>,
): EnvVar[] {
  const { spec } = settings;
  const mode = spec.function_mode ?? "";
  return [
    { name: "PREFER_HOST_MODE", value: "hostname" },
    ...(mode === "" || mode === "all" ? [] : [{ name: "FUNCTION_MODE", value: mode }]),
    ...authEnv(settings),
    ...(revision === PEER_REVISION ? [] : identityEnv(spec).filter(({ name }) => !taken.has(name))),
    ...databaseEnv(spec),
    ...memberEnv(settings),
  ];
}

function memberEnv(settings: Settings): EnvVar[] {
  if (settings.type === "standalone") return [{ name: "MODE", value: "standalone" }];
  return [
    { name: "NACOS_REPLICAS", value: String(settings.replicas) },
    { name: "NACOS_SERVERS", value: memberList(settings) },
  ];
}

/** Addresses of all nodes, by ordinal. */
function memberList({ name, namespace, clusterDomain, replicas }: Settings): string {
  const host = (ordinal: number): string =>
    `${name}-${ordinal}.${headlessServiceName(name)}.${namespace}.svc.${clusterDomain}:${CLIENT_PORT.port}`;
  return Array.from({ length: replicas }, (_, ordinal) => host(ordinal)).join(" ");
}

function authEnv({ name, spec }: Settings): EnvVar[] {
  const { certification = {} } = spec;
  if (certification.enabled !== true) return [];
  return [
    { name: "NACOS_AUTH_ENABLE", value: "true" },
    {
      name: "NACOS_AUTH_TOKEN_EXPIRE_SECONDS",
      value: certification.token_expire_seconds || DEFAULT_TOKEN_EXPIRE_SECONDS,
    },
    { name: "NACOS_AUTH_TOKEN", ...authToken(name, certification) },
    { name: "NACOS_AUTH_CACHE_ENABLE", value: String(certification.cache_enabled ?? false) },
  ];
}

function authToken(
  name: string,
  { token, tokenSecretRef }: NonNullable<NacosSpec["certification"]>,
): EnvSource {
  if (tokenSecretRef?.name) return fromSecret(tokenSecretRef.name, tokenSecretRef.key || AUTH_TOKEN_KEY);
  return token ? { value: token } : fromSecret(authSecretName(name), AUTH_TOKEN_KEY);
}

function identityEnv({ identitySecretRef: ref }: NacosSpec): EnvVar[] {
  if (!ref?.name) return [];
  const { name, keyKey, valueKey } = ref;
  return [
    { name: "NACOS_AUTH_IDENTITY_KEY", ...fromSecret(name, keyKey || DEFAULT_IDENTITY_KEYS.key) },
    { name: "NACOS_AUTH_IDENTITY_VALUE", ...fromSecret(name, valueKey || DEFAULT_IDENTITY_KEYS.value) },
  ];
}
