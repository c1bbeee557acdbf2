/** The contract of backends. Keys and values are byte strings; keys are logical: `/` between parts, one in front. */

/** What one read gives. */
export interface Snapshot {
  /** All keys of the ranges: each range's own key and the keys below it. */
  readonly values: ReadonlyMap<string, string>;
  /** Position of the read where the backend counts; changes up to it are in the values. */
  readonly revision?: number;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** A watch told of a change at this position: the values as they were then or later will do, from wherever they are known. */
  readonly atLeast?: number;
}

/** These keys changed, at the position where the backend counts; without keys anything may have. */
export interface Change {
  readonly keys?: readonly string[];
  /** What is below the keys may have changed too. */
  readonly withBelow?: boolean;
  readonly revision?: number;
}

export interface WatchEvents {
  /** The watch is armed: what is changed from now on is told. `resumed` if nothing was missed since the last time. */
  readonly onReady: (state: { resumed: boolean }) => void;
  readonly onChange: (change: Change) => void;
  /** What an operator should know, e.g. of a server that tells of no changes. */
  readonly onNotice: (level: "info" | "warn" | "error", message: string) => void;
}

export interface Backend {
  /** Kind and nodes, for messages. */
  readonly label: string;
  /** Reads all ranges completely, or rejects with a BackendError. */
  read(ranges: readonly string[], options: ReadOptions): Promise<Snapshot>;
  /**
   * Follows the ranges until the signal aborts; rejects when the connection is lost. Absent where the backend tells of no
   * changes. Called again after a failure: it may then go on from where it was.
   */
  watch?(ranges: readonly string[], events: WatchEvents, signal: AbortSignal): Promise<void>;
  /** Its values never change while the agent runs. */
  readonly constant?: boolean;
  /** Rejects when the backend cannot be asked. */
  health(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Whether a range holds secrets: differences of its file are not shown. */
  isSecret?(range: string): boolean;
  /** New files with its secrets are for their owner alone, unless their mode says otherwise. */
  readonly keepsPrivate?: boolean;
}

/** Whether a key belongs to a range: it is the range's own, or below it. */
export const belongs = (key: string, range: string): boolean =>
  range === "/" || key === range || (key.startsWith(range) && key[range.length] === "/");

/** Tells of keys whether they belong to any of the ranges, however many these are. */
export function within(ranges: Iterable<string>): (key: string) => boolean {
  const chosen = new Set(ranges);
  // By length, and not by the separators of the key, of which a hostile one has a million.
  const lengths = [...new Set([...chosen].map(({ length }) => length))];
  const isStart = (key: string, length: number): boolean =>
    (length === key.length || key[length] === "/") && chosen.has(key.slice(0, length));
  return (key) => chosen.has("/") || lengths.some((length) => isStart(key, length));
}

/** The ranges without duplicates and without those that lie below another. */
export function outermost(ranges: Iterable<string>): string[] {
  const sorted = [...new Set(ranges)].sort();
  const chosen = new Set<string>();
  return sorted.filter((range) => {
    for (let at = range.length; at > 0; at = range.lastIndexOf("/", at - 1)) {
      if (chosen.has(range.slice(0, at))) return false;
    }
    if (chosen.has("/")) return false;
    chosen.add(range);
    return true;
  });
}
