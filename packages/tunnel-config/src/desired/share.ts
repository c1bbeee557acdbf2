/**
 * Shares the room of a ConfigMap among the namespaces whose sources it holds (TUN-319): one of them that fills it is held
 * back itself, and nobody else.
 */
import { type Aggregate, aggregate } from "./aggregate.ts";
import {
  type ConfigDocument,
  type Rejection,
  type Source,
  type Sources,
  serialiseDocument,
  sorted,
} from "./document.ts";
import { compareBytes } from "./order.ts";

/** Largest document that is stored, in bytes: the API server takes 1 MiB of a whole object, keys and marks included. */
export const MAX_DOCUMENT: number = 1000 * 1024;
/** Shares of it that sources get, until what is said of them, such as conflicts, has room as well. */
const SHARES = [0.95, 0.75, 0.5, 0.25] as const;
/** Sources that are named of a namespace, at most; for the others these speak. */
const MAX_TOLD = 20;

export interface Shared {
  readonly sources: Sources;
  readonly desired: Aggregate;
  /** Sources that are left out, or stay as they were. */
  readonly rejected: readonly Rejection[];
}

/**
 * What of the sources has room. Too large together, each namespace gets as much as the others, but for what those leave:
 * what is served already comes first in it, then what was created first.
 * @param accepted sources of the last transmission
 */
export function shareOut(document: ConfigDocument, wanted: Sources, accepted: Sources): Shared {
  let shared: Shared = { sources: wanted, desired: aggregate(wanted), rejected: [] };
  for (const share of SHARES) {
    if (sizeOf(document, shared) <= MAX_DOCUMENT) return shared;
    shared = within(MAX_DOCUMENT * share, wanted, accepted);
  }
  return shared;
}

/** Size of the document in bytes. */
export function documentSize(document: ConfigDocument): number {
  return Buffer.byteLength(serialiseDocument(document));
}

function sizeOf(document: ConfigDocument, { sources, desired, rejected }: Shared): number {
  const { conflicts } = desired;
  return documentSize({ ...document, sources, conflicts, rejected: [...desired.rejected, ...rejected] });
}

function within(room: number, wanted: Sources, accepted: Sources): Shared {
  const byNamespace = Map.groupBy(Object.keys(wanted), (key) => wanted[key]?.namespace ?? "");
  const parts = [...byNamespace].map(([namespace, keys]) => ({
    namespace,
    keys,
    size: keys.reduce((sum, key) => sum + sizeOfSource(key, wanted[key]), 0),
  }));
  parts.sort((a, b) => a.size - b.size || compareBytes(a.namespace, b.namespace));
  const sources: Record<string, Source> = {};
  const rejected: Rejection[] = [];
  let left = room;
  parts.forEach((part, index) => {
    const share = Math.min(part.size, Math.floor(left / (parts.length - index)));
    left -= share;
    // What belongs to no namespace is the owner's own: settings.
    const chosen =
      part.namespace === "" ? pick(part.keys, wanted) : chosenOf(part.keys, wanted, accepted, share);
    Object.assign(sources, chosen);
    rejected.push(...leftOut(part, wanted, chosen, share));
  });
  return { sources, desired: aggregate(sources), rejected };
}

function pick(keys: readonly string[], wanted: Sources): Sources {
  return Object.fromEntries(keys.flatMap((key) => (wanted[key] === undefined ? [] : [[key, wanted[key]]])));
}

function chosenOf(keys: readonly string[], wanted: Sources, accepted: Sources, room: number): Sources {
  const chosen: Record<string, Source> = {};
  let left = room;
  const offer = (key: string, source: Source | undefined): void => {
    const more = sizeOfSource(key, source) - sizeOfSource(key, chosen[key]);
    if (source === undefined || more > left) return;
    chosen[key] = source;
    left -= more;
  };
  const inOrder = [...keys].sort(
    (a, b) => compareBytes(wanted[a]?.createdAt ?? "", wanted[b]?.createdAt ?? "") || compareBytes(a, b),
  );
  for (const key of inOrder) offer(key, accepted[key]);
  for (const key of inOrder) offer(key, wanted[key]);
  return chosen;
}

function leftOut(
  { namespace, keys, size }: { namespace: string; keys: readonly string[]; size: number },
  wanted: Sources,
  chosen: Sources,
  share: number,
): Rejection[] {
  const missing = keys.filter((key) => chosen[key] !== wanted[key]).sort(compareBytes);
  const reason =
    `the objects of namespace ${namespace} take ${kib(size)} KiB of the tunnel, which has ${kib(share)} for them, ` +
    `and ${missing.length} of them have no room; spread the hosts over several tunnels`;
  return missing
    .slice(0, MAX_TOLD)
    .map((source) => ({ source, hostname: "", path: "", reason, cause: "ConfigTooLarge" }));
}

const kib = (bytes: number): number => Math.ceil(bytes / 1024);

/** What a source takes of the document, in bytes: key, indentation and separators included. */
function sizeOfSource(key: string, source: Source | undefined): number {
  if (source === undefined) return 0;
  const text = JSON.stringify(sorted({ [key]: source }), null, 2);
  return Buffer.byteLength(text) + 2 * text.split("\n").length;
}
