/** `quartet explain`: asks a running manager what it knows of an object. */
import { ConfigurationError, messageOf } from "@quartet/core";
import { stringify } from "yaml";
import type { LoadedSettings } from "./config/load.ts";
import { EXPLAIN_PATH } from "./servers/debug-server.ts";

/** Limit of the question in milliseconds. */
const TIMEOUT_MS = 10_000;

/** YAML of the answer for `<kind> <namespace>/<name>`. */
export async function explainText({ settings }: LoadedSettings, words: readonly string[]): Promise<string> {
  const [kind, key, ...rest] = words;
  if (kind === undefined || key === undefined || rest.length > 0) {
    throw new ConfigurationError("explain takes a kind and an object: quartet explain nacos team-a/demo");
  }
  const { address } = settings.debug;
  if (address === undefined) {
    throw new ConfigurationError("--debug-bind-address is 0: name the address at which the manager answers");
  }
  const host = address.host ?? "127.0.0.1";
  const base = `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`;
  const query = new URLSearchParams({ kind, key });
  const response = await fetch(`${base}${EXPLAIN_PATH}?${query}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Error(`no manager answers at ${base} (--debug-bind-address): ${messageOf(error)}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return stringify(JSON.parse(text));
}
