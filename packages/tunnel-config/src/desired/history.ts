/** Configurations that were transmitted, kept so that one of them can be sent again (TUN-660 to TUN-663). */
import { gunzipSync, gzipSync } from "node:zlib";
import { aggregate, hashOf, hostnamesOf, type TunnelConfig } from "./aggregate.ts";
import { type ConfigDocument, type HistoryEntry, isMap } from "./document.ts";

/** Configurations that are kept. */
const MAX_ENTRIES = 10;
/** Largest text of all of them, in bytes: it is written with each change of the tunnel. */
const MAX_TEXT = 256 * 1024;
/** Largest configuration that is unpacked, in bytes: twice what a ConfigMap holds of sources. */
const MAX_CONFIG = 2 * 1024 * 1024;

/** Reads what is kept; of what cannot be read nothing is. */
export function parseHistory(text: string | undefined): readonly HistoryEntry[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/**
 * Text of the newest entries that fit.
 * @param entries the newest first
 * @param room bytes that the ConfigMap has left
 */
export function serialiseHistory(entries: readonly HistoryEntry[], room: number): string | undefined {
  for (let count = entries.length; count > 0; count -= 1) {
    const text = JSON.stringify(entries.slice(0, count), null, 1);
    if (Buffer.byteLength(text) <= Math.min(MAX_TEXT, room)) return text;
  }
  return undefined;
}

/** An entry for a configuration. */
export function historyEntry(config: TunnelConfig, version: number, at: string): HistoryEntry {
  const body = gzipSync(JSON.stringify(config), { level: 9 }).toString("base64");
  return { version, at, rules: config.ingress.length - 1, hash: hashOf(config), body };
}

/** What is kept after a transmission. The same configuration twice in a row is one, under its last version. */
export function withEntry(history: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  const rest = history.filter(
    ({ version, hash }, index) => version !== entry.version && (index > 0 || hash !== entry.hash),
  );
  return [entry, ...rest].slice(0, MAX_ENTRIES);
}

/** The configuration of an entry; nothing when it cannot be read or is not the one that was transmitted. */
export function configOf({ body, hash }: HistoryEntry): TunnelConfig | undefined {
  try {
    const text = gunzipSync(Buffer.from(body, "base64"), { maxOutputLength: MAX_CONFIG }).toString();
    const config: unknown = JSON.parse(text);
    if (!isMap(config) || !Array.isArray(config.ingress) || hashOf(config) !== hash) return undefined;
    return config as unknown as TunnelConfig;
  } catch {
    return undefined;
  }
}

/** What was transmitted last, as far as the document tells: the version that it is held at, else what its sources make. */
export function transmittedOf(document: ConfigDocument): {
  readonly config: TunnelConfig;
  readonly hostnames: readonly string[];
} {
  const held = document.frozen === undefined ? undefined : configOf(document.frozen);
  return held === undefined
    ? aggregate(document.sources)
    : { config: held, hostnames: hostnamesOf(held.ingress) };
}

function isEntry(value: unknown): value is HistoryEntry {
  if (!isMap(value)) return false;
  const { version, at, rules, hash, body } = value;
  const texts = [at, hash, body].every((one) => typeof one === "string");
  return texts && Number.isSafeInteger(version) && Number.isSafeInteger(rules);
}
