/** The ConfigMap of a tunnel. */
import { apiVersionOf, type Client, mutable, type ObjectKey, type OwnerReference } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject } from "@quartet/core/kinds";
import {
  ANNOTATIONS,
  BROKEN_KEY,
  CONFIG_KEY,
  CONFIG_TYPE,
  GROUP,
  HISTORY_KEY,
  LABELS,
} from "../constants.ts";
import { type ConfigDocument, type HistoryEntry, serialiseDocument, sorted } from "../desired/document.ts";
import { parseHistory, serialiseHistory } from "../desired/history.ts";
import { refOf, refText } from "../desired/targets.ts";
import { type AnyTunnel, type Cached, CLUSTER_TUNNEL } from "../kinds.ts";

/** What stands in the ConfigMap at the begin of a pass. */
export interface StoredConfig {
  readonly object: Cached<ConfigObject> | undefined;
  readonly document: ConfigDocument;
  /** Text that is no document. */
  readonly broken?: string;
  /** Why the ConfigMap is not that of this tunnel. */
  readonly foreign?: string;
}

export interface StoreOptions {
  readonly key: ObjectKey;
  readonly client: Client;
  readonly stored: StoredConfig;
  /** Tunnel objects that live. */
  readonly owners: readonly Cached<AnyTunnel>[];
  readonly operatorNamespace: string;
  /** What is kept of former configurations; absent where that is what the ConfigMap holds. */
  readonly history?: readonly HistoryEntry[] | undefined;
}

/** Values of a ConfigMap together, in bytes: the API server takes 1 MiB. */
const MAX_DATA = 1020 * 1024;

/** Writes the document; nothing when the ConfigMap says so already. A conflict is thrown: the next pass looks anew. */
export async function saveDocument(options: StoreOptions, document: ConfigDocument): Promise<void> {
  const { key, client, stored } = options;
  const next = withData(stored.object === undefined ? empty(key) : mutable(stored.object), options, document);
  if (stored.object === undefined) await client.create(CONFIG_MAP, next);
  else if (textOf(next) !== textOf(stored.object)) await client.update(CONFIG_MAP, next);
}

/** Text of an object, whatever the order of its members. */
function textOf(object: unknown): string {
  return JSON.stringify(sorted(object));
}

function empty(key: ObjectKey): ConfigObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key } };
}

function withData(object: ConfigObject, options: StoreOptions, document: ConfigDocument): ConfigObject {
  const { key, stored, owners, operatorNamespace } = options;
  const tunnelId = key.name.replace(/^tunnel-config-/, "");
  const labels = { ...object.metadata.labels, [LABELS.tunnelId]: tunnelId, [LABELS.type]: CONFIG_TYPE };
  const { references, owner } = ownership(object, owners, operatorNamespace);
  const { [ANNOTATIONS.owner]: _, ...annotations } = object.metadata.annotations ?? {};
  const { [HISTORY_KEY]: kept, [BROKEN_KEY]: brokenBefore, ...others } = object.data ?? {};
  const data: Record<string, string> = {
    ...others,
    [CONFIG_KEY]: serialiseDocument({ ...document, tunnelId }),
  };
  const broken = stored.broken ?? brokenBefore;
  // Like the history, it never keeps a document from being stored.
  if (broken !== undefined && sizeOf([broken, ...Object.values(data)]) <= MAX_DATA) data[BROKEN_KEY] = broken;
  const history = historyText(options.history, kept, MAX_DATA - sizeOf(Object.values(data)));
  if (history !== undefined) data[HISTORY_KEY] = history;
  const { ownerReferences: __, annotations: ___, ...metadata } = object.metadata;
  const noted = owner === undefined ? annotations : { ...annotations, [ANNOTATIONS.owner]: owner };
  return {
    ...object,
    metadata: {
      ...metadata,
      labels,
      ...(Object.keys(noted).length > 0 && { annotations: noted }),
      ...(references.length > 0 && { ownerReferences: references }),
    },
    data,
  };
}

/** The history never keeps a document from being stored: the oldest entries make room (TUN-660). */
function historyText(
  entries: readonly HistoryEntry[] | undefined,
  kept: string | undefined,
  room: number,
): string | undefined {
  if (entries === undefined && sizeOf([kept ?? ""]) <= room) return kept;
  return serialiseHistory(entries ?? parseHistory(kept), room);
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/**
 * References to the owners that may own the ConfigMap; the first is the controller. A Tunnel of another namespace may
 * not, the garbage collector would delete the ConfigMap: it is named by an annotation (TUN-309, D5).
 */
function ownership(object: ConfigObject, owners: readonly Cached<AnyTunnel>[], operatorNamespace: string) {
  const eligible = owners.filter(
    ({ metadata }) => (metadata.namespace ?? operatorNamespace) === operatorNamespace,
  );
  const ours = eligible.map((owner, index): OwnerReference => {
    const { name = "", uid = "" } = owner.metadata;
    const controls = index === 0 ? { controller: true, blockOwnerDeletion: true } : {};
    return { apiVersion: apiVersionOf(CLUSTER_TUNNEL), kind: owner.kind, name, uid, ...controls };
  });
  const foreign = (object.metadata.ownerReferences ?? []).filter(
    ({ apiVersion }) => !apiVersion.startsWith(`${GROUP}/`),
  );
  const outside = owners.find((owner) => !eligible.includes(owner));
  const owner = outside === undefined || eligible.length > 0 ? undefined : refText(refOf(outside));
  return { references: [...ours, ...foreign], owner };
}
