/**
 * The order of rules (section 8.1). The first rule that fits serves a request, so a rule must stand before a broader one
 * that would take its requests. Among those that may come next the smallest by priority and hostname does.
 */

import type { SourceRule } from "./document.ts";
import { type PathRank, pathRank } from "./path-kind.ts";

/** A rule with what decides its place. */
export interface PlacedRule {
  readonly rule: SourceRule;
  /** Normal form; empty for every host. */
  readonly hostname: string;
  readonly priority: number;
  /** Key of its source, and its index there. */
  readonly source: string;
  readonly index: number;
}

interface Node extends PlacedRule {
  readonly rank: PathRank;
}

/** Rules of one host, divided into groups that must follow each other. */
interface Host {
  readonly groups: Node[][];
  /** Rules of more specific hosts that are still to come. */
  waits: number;
  /** Rules of the current group that are still to come. */
  left: number;
}

/** The rules in the order of the configuration, whatever the order they are given in (TUN-603). */
export function orderRules(rules: readonly PlacedRule[]): PlacedRule[] {
  const hosts = hostsOf(rules);
  const ready = createHeap(compareSeed);
  const release = (host: Host): void => {
    const group = host.groups.shift() ?? [];
    host.left = group.length;
    for (const node of group) ready.push(node);
  };
  const broader = (name: string): Host[] => broaderNames(name).flatMap((other) => hosts.get(other) ?? []);
  for (const [name, host] of hosts) {
    const count = host.groups.reduce((sum, group) => sum + group.length, 0);
    for (const other of broader(name)) other.waits += count;
  }
  for (const host of hosts.values()) if (host.waits === 0) release(host);
  const ordered: PlacedRule[] = [];
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    ordered.push(node);
    const host = hosts.get(node.hostname);
    if (host === undefined) continue;
    host.left -= 1;
    if (host.left === 0) release(host);
    for (const other of broader(node.hostname)) {
      other.waits -= 1;
      if (other.waits === 0) release(other);
    }
  }
  return ordered;
}

function hostsOf(rules: readonly PlacedRule[]): Map<string, Host> {
  const nodes = rules.map((placed): Node => ({ ...placed, rank: pathRank(placed.rule) }));
  nodes.sort((a, b) => compareRank(a.rank, b.rank));
  const hosts = new Map<string, Host>();
  for (const node of nodes) {
    const host = hosts.get(node.hostname) ?? { groups: [], waits: 0, left: 0 };
    hosts.set(node.hostname, host);
    const last = host.groups.at(-1);
    if (last?.[0] !== undefined && compareRank(last[0].rank, node.rank) === 0) last.push(node);
    else host.groups.push([node]);
  }
  return hosts;
}

/** Names that take every request of this one: wildcards above it, and the empty name. */
function broaderNames(name: string): string[] {
  if (name === "") return [];
  const labels = (name.startsWith("*.") ? name.slice(2) : name).split(".");
  return [...labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join(".")}`), ""];
}

function compareRank(a: PathRank, b: PathRank): number {
  return a.rank - b.rank || b.length - a.length;
}

/** Priority, hostname, path, then what tells any two rules apart (TUN-601). */
function compareSeed(a: Node, b: Node): number {
  return (
    a.priority - b.priority ||
    compareBytes(a.hostname, b.hostname) ||
    compareRank(a.rank, b.rank) ||
    compareBytes(a.rule.path ?? "", b.rule.path ?? "") ||
    compareBytes(a.source, b.source) ||
    a.index - b.index
  );
}

/** Order of two texts by their bytes. */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A heap: the smallest goes first. */
function createHeap<T>(compare: (a: T, b: T) => number): { push(item: T): void; pop(): T | undefined } {
  const items: T[] = [];
  const less = (a: number, b: number): boolean => compare(items[a] as T, items[b] as T) < 0;
  const swap = (a: number, b: number): void => {
    [items[a], items[b]] = [items[b] as T, items[a] as T];
  };
  return {
    push(item) {
      items.push(item);
      for (let at = items.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (!less(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    pop() {
      const first = items[0];
      const last = items.pop();
      if (items.length === 0 || last === undefined) return first;
      items[0] = last;
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let least = at;
        if (left < items.length && less(left, least)) least = left;
        if (right < items.length && less(right, least)) least = right;
        if (least === at) return first;
        swap(at, least);
        at = least;
      }
    },
  };
}
