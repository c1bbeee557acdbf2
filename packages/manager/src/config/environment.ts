/** Settings from environment variables. */
import { ConfigurationError, closest, didYouMean } from "@quartet/core";
import type { FlagText } from "./flag-values.ts";
import { ENVIRONMENT_PREFIX, environmentName, type FlagSpec } from "./flags.ts";

/** Variables with the prefix that are no flags: switches of tests and of the cache's guard. */
const OTHER_VARIABLES = /^QUARTET_(CACHE_GUARD$|TEST_|E2E_)/;

/**
 * Variables that Kubernetes sets in every pod for each Service of the namespace ("service links"). A Service named
 * `quartet-webhook` gives `QUARTET_WEBHOOK_PORT=tcp://10.0.0.1:443`, which looks just like a setting.
 */
const SERVICE_LINK =
  /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?$/;
const SERVICE_URL = /^(tcp|udp|sctp):\/\//;

/**
 * Texts of flags set by the environment, by flag name. An empty variable counts as not set. A variable with the
 * prefix that belongs to no flag is a `ConfigurationError`.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  specs: readonly FlagSpec[],
): Map<string, FlagText> {
  const found = new Map<string, FlagText>();
  const settings = specs.filter((spec) => spec.action !== true);
  for (const spec of settings) {
    for (const name of [environmentName(spec.name), ...(spec.environment ?? [])]) {
      const text = env[name];
      if (text === undefined || text === "" || isServiceLink(name, text) || found.has(spec.name)) continue;
      found.set(spec.name, { text, origin: name });
    }
  }
  const known = new Set(settings.map((spec) => environmentName(spec.name)));
  for (const [name, text = ""] of Object.entries(env)) {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || known.has(name)) continue;
    if (OTHER_VARIABLES.test(name) || isServiceLink(name, text)) continue;
    throw new ConfigurationError(
      `unknown environment variable ${name}${didYouMean(closest(name, known)) || "; --help lists all flags"}`,
    );
  }
  return found;
}

function isServiceLink(name: string, text: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith("_PORT") && SERVICE_URL.test(text));
}
