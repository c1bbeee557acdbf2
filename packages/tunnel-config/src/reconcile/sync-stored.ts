/** The ConfigMaps of tunnels as they are found. */
import type { ReconcileContext } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject } from "@quartet/core/kinds";
import { CONFIG_KEY, LABELS } from "../constants.ts";
import { type ConfigDocument, DocumentError, parseDocument } from "../desired/document.ts";
import type { Cached } from "../kinds.ts";
import type { StoredConfig } from "./sync-store.ts";

/** What a ConfigMap says of a tunnel. */
export function readStored(object: Cached<ConfigObject> | undefined, tunnelId: string): StoredConfig {
  if (object === undefined) return { object, document: { sources: {} } };
  const label = object.metadata.labels?.[LABELS.tunnelId];
  if (label !== tunnelId)
    return { object, document: { sources: {} }, foreign: `its label names tunnel ${label}` };
  const text = object.data?.[CONFIG_KEY];
  if (text === undefined) return { object, document: { sources: {} } };
  try {
    const document = parseDocument(text);
    if (document.tunnelId === undefined || document.tunnelId === tunnelId) return { object, document };
    return { object, document, foreign: `config.json names tunnel ${document.tunnelId}` };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { object, document: { sources: {} }, broken: text };
  }
}

/** Documents of all tunnels, by identifier. */
export async function configsOf({
  cache,
}: Pick<ReconcileContext, "cache">): Promise<ReadonlyMap<string, ConfigDocument>> {
  const found = new Map<string, ConfigDocument>();
  for (const object of await cache.list(CONFIG_MAP)) {
    const id = object.metadata.labels?.[LABELS.tunnelId];
    if (id === undefined) continue;
    const { document, broken } = readStored(object, id);
    if (broken === undefined) found.set(id, document);
  }
  return found;
}
