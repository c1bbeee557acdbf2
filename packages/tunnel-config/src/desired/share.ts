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
/** Shares of it that sources and what is said of them get, until the rest has room as well. */
const SHARES = [0.95, 0.75, 0.5, 0.25] as const;
/** Sources that are named of a namespace, and of all together, at most; for the others these speak. */
const MAX_TOLD = 20;
const MAX_TOLD_IN_ALL = 60;

export interface Shared {
  readonly sources: Sources;
  readonly desired: Aggregate;
  /** Sources that are left out, or stay as they were. */
  readonly rejected: readonly Rejection[];
}

/**
 * What of the sources has room. Too large together, each namespace gets as much as the others, but for what those leave:
 * what is served already comes first in it, then what was created first.
 * @param document what is stored
 * @param accepted sources of the last transmission
 * @param held what the API refuses, which is stored as well
 */
export function shareOut(
  document: ConfigDocument,
  wanted: Sources,
  accepted: Sources,
  held: readonly Rejection[],
): Shared {
  const whole = (): Shared => ({ sources: wanted, desired: aggregate(wanted), rejected: [] });
  // What is stored has room; so has what follows from it.
  if (isStored(wanted, document)) return whole();
  // A version that the tunnel is held at is beside the sources, and goes with the next transmission.
  const { frozen: _, ...rest } = document;
  const fits = ({ sources, desired, rejected }: Shared): boolean => {
    const told = { conflicts: desired.conflicts, rejected: [...desired.rejected, ...held, ...rejected] };
    return documentSize({ ...rest, sources, ...told }) <= MAX_DOCUMENT;
  };
  const sizes = new Map(Object.entries(wanted).map(([key, source]) => [key, sizeOfSource(key, source)]));
  // A tenant may ask for a hundred times what has room: nothing is made of that. (Sizes are a little too large.)
  if (sum(sizes.values()) <= 2 * MAX_DOCUMENT) {
    const all = whole();
    if (fits(all)) return all;
  }
  const cut = { wanted, accepted, sizes, said: said(wanted, sizes, held) };
  let shared = within(MAX_DOCUMENT * SHARES[0], cut);
  for (const share of SHARES.slice(1)) {
    if (fits(shared)) return shared;
    shared = within(MAX_DOCUMENT * share, cut);
  }
  return shared;
}

/** Size of the document in bytes. */
export function documentSize(document: ConfigDocument): number {
  return Buffer.byteLength(serialiseDocument(document));
}

function isStored(wanted: Sources, { sources }: ConfigDocument): boolean {
  const keys = Object.keys(wanted);
  return keys.length === Object.keys(sources).length && keys.every((key) => wanted[key] === sources[key]);
}

/** What is shared out, and by what measure. */
interface Cut {
  readonly wanted: Sources;
  readonly accepted: Sources;
  /** Bytes of the wanted sources, by key. */
  readonly sizes: ReadonlyMap<string, number>;
  readonly said: Said;
}

/** What is said of the sources of a namespace takes of its share. */
interface Said {
  /** Bytes of what the API refuses, by namespace. */
  readonly held: ReadonlyMap<string, number>;
  /** Bytes with each byte of sources, by namespace: conflicts that they lose, and rules that are left out. */
  readonly rate: ReadonlyMap<string, number>;
}

/** By a cut that does not depend on what is served: the measure has to be the same in the next pass. */
function said(wanted: Sources, sizes: ReadonlyMap<string, number>, held: readonly Rejection[]): Said {
  const none = { held: new Map(), rate: new Map() };
  const { sources, desired } = within(MAX_DOCUMENT * SHARES[0], { wanted, accepted: {}, sizes, said: none });
  const chosen = new Map<string, number>();
  for (const key of Object.keys(sources)) add(chosen, namespaceOf(key), sizes.get(key) ?? 0);
  const more = new Map<string, number>();
  for (const conflict of desired.conflicts) {
    const size = sizeOf(conflict);
    for (const loser of conflict.losers) add(more, namespaceOf(loser), size / conflict.losers.length);
  }
  for (const rejection of desired.rejected) add(more, namespaceOf(rejection.source), sizeOf(rejection));
  const refused = new Map<string, number>();
  for (const rejection of held) add(refused, namespaceOf(rejection.source), sizeOf(rejection));
  const rate = new Map([...more].map(([space, bytes]) => [space, bytes / (chosen.get(space) ?? 1)]));
  return { held: refused, rate };
}

function within(room: number, cut: Cut): Shared {
  const { wanted, said, sizes } = cut;
  const byNamespace = Map.groupBy(Object.keys(wanted), namespaceOf);
  const parts = [...byNamespace].map(([namespace, keys]) => {
    const bare = sum(keys.map((key) => sizes.get(key) ?? 0));
    const rate = 1 + (said.rate.get(namespace) ?? 0);
    const held = said.held.get(namespace) ?? 0;
    return { namespace, keys, bare, rate, held, size: bare * rate + held };
  });
  parts.sort((a, b) => a.size - b.size || compareBytes(a.namespace, b.namespace));
  const sources: Record<string, Source> = {};
  const missing: Missing[] = [];
  let left = room;
  parts.forEach(({ namespace, keys, bare, rate, held, size }, index) => {
    const share = Math.min(size, Math.floor(left / (parts.length - index)));
    left -= share;
    // What belongs to no namespace is the owner's own: settings. What has room as a whole needs no choice.
    const whole = namespace === "" || share === size;
    const chosen = whole ? pick(keys, wanted) : chosenOf(keys, cut, (share - held) / rate);
    Object.assign(sources, chosen);
    const out = keys.filter((key) => chosen[key] !== wanted[key]).sort(compareBytes);
    if (out.length > 0) missing.push({ namespace, keys: out, size: bare, share });
  });
  return { sources, desired: aggregate(sources), rejected: leftOut(missing) };
}

/** The namespace whose share a source takes, by its key; the settings of a tunnel object are its owner's. */
function namespaceOf(key: string): string {
  const [kind, namespace = "", name] = key.split("/");
  return kind === "Tunnel" || name === undefined ? "" : namespace;
}

function pick(keys: readonly string[], wanted: Sources): Sources {
  return Object.fromEntries(keys.flatMap((key) => (wanted[key] === undefined ? [] : [[key, wanted[key]]])));
}

function chosenOf(keys: readonly string[], { wanted, accepted, sizes }: Cut, room: number): Sources {
  const chosen: Record<string, Source> = {};
  const taken = new Map<string, number>();
  let left = room;
  const offer = (key: string, source: Source | undefined, size: number): void => {
    const more = size - (taken.get(key) ?? 0);
    if (source === undefined || more > left) return;
    chosen[key] = source;
    taken.set(key, size);
    left -= more;
  };
  const inOrder = [...keys].sort(
    (a, b) => compareBytes(wanted[a]?.createdAt ?? "", wanted[b]?.createdAt ?? "") || compareBytes(a, b),
  );
  for (const key of inOrder) {
    const [before, size] = [sizeOfSource(key, accepted[key]), sizes.get(key) ?? 0];
    // A change that needs no more room than what is served is taken at once: nothing can stand in its way later.
    if (accepted[key] === undefined || before < size) offer(key, accepted[key], before);
    else offer(key, wanted[key], size);
  }
  for (const key of inOrder) offer(key, wanted[key], sizes.get(key) ?? 0);
  return chosen;
}

/** Sources of a namespace that have no room, or not as they are now. */
interface Missing {
  readonly namespace: string;
  readonly keys: readonly string[];
  readonly size: number;
  readonly share: number;
}

/** What is told takes room itself: some sources of each namespace, as long as they are not too many together. */
function leftOut(missing: readonly Missing[]): Rejection[] {
  const each = Math.min(MAX_TOLD, Math.ceil(MAX_TOLD_IN_ALL / Math.max(1, missing.length)));
  const all = missing.flatMap(({ namespace, keys, size, share }) => {
    const reason =
      `the objects of namespace ${namespace} take ${kib(size)} KiB of the tunnel, which has ${kib(share)} for them, ` +
      `and ${keys.length} of them have no room; spread the hosts over several tunnels`;
    return keys
      .slice(0, each)
      .map((source): Rejection => ({ source, hostname: "", path: "", reason, cause: "ConfigTooLarge" }));
  });
  return all.slice(0, MAX_TOLD_IN_ALL);
}

const kib = (bytes: number): number => Math.ceil(bytes / 1024);

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const one of numbers) all += one;
  return all;
}

function add(to: Map<string, number>, key: string, bytes: number): void {
  to.set(key, (to.get(key) ?? 0) + bytes);
}

/** What a source takes of the document, in bytes. */
function sizeOfSource(key: string, source: Source | undefined): number {
  return source === undefined ? 0 : sizeOf({ [key]: source }, 2);
}

/** What an entry takes of the document, in bytes, indentation and separators included. */
function sizeOf(entry: object, indent = 4): number {
  const text = JSON.stringify(sorted(entry), null, 2);
  return Buffer.byteLength(text) + indent * text.split("\n").length;
}
