/** The patches of a DaemonSet, compiled: which of them a node gets, in which order (DSP-501 to 505, 1041). */
import { createHash } from "node:crypto";
import type { Labels, NodePatch } from "../api.ts";
import { canonicalJson } from "./canonical.ts";
import { compileSelector, type LabelMatcher } from "./selector.ts";

/** Hexadecimal digits of a patch hash. */
const HASH_LENGTH = 16;

/**
 * The patches that a node's labels select, as bits of a mask: bit i stands for the patch that is applied i-th. Nodes of
 * one mask share one effective template.
 */
export type PatchMask = number;

/** Patches that one mask stands for. */
export interface PatchMatch {
  readonly mask: PatchMask;
  /** Indexes into the list of the DaemonSet, in application order. */
  readonly indexes: readonly number[];
  readonly patches: readonly NodePatch[];
  /** Hash of the bodies in application order; empty without any (DSP-602). */
  readonly combinedHash: string;
}

export interface PatchSet {
  /** Hash of the whole list with selectors and priorities. */
  readonly listHash: string;
  /** Indexes of patches whose selector cannot be compiled; they match nothing. */
  readonly invalid: readonly number[];
  /** Mask of a node; one comparison of labels for each patch. */
  maskOf(labels: Labels): PatchMask;
  /** What a mask stands for; computed once. */
  match(mask: PatchMask): PatchMatch;
}

/** First digits of the SHA-256 of a text. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_LENGTH);
}

/** Indexes in application order: ascending priority, equal ones as listed; the last one applied wins (D4). */
export function applicationOrder(patches: readonly NodePatch[]): number[] {
  const priority = (index: number): number => patches[index]?.priority ?? 0;
  return patches.map((_, index) => index).sort((a, b) => priority(a) - priority(b) || a - b);
}

/** H_p: the hash of patch bodies in the order in which they are applied; empty for none (DSP-602). */
export function combinedHash(patches: readonly NodePatch[]): string {
  if (patches.length === 0) return "";
  return shortHash(patches.map(({ patch }) => `${canonicalJson(patch)}\n`).join(""));
}

/** @param patches at most 10 (DSP-335) */
export function compilePatches(patches: readonly NodePatch[]): PatchSet {
  const order = applicationOrder(patches);
  const matchers = order.map((index) => compileSelector(patches[index]!.selector));
  const known = new Map<PatchMask, PatchMatch>();
  return {
    listHash: shortHash(canonicalJson(patches)),
    invalid: order.filter((_, place) => matchers[place] === undefined).sort((a, b) => a - b),
    maskOf: (labels) => maskOf(matchers, labels),
    match(mask) {
      const found = known.get(mask);
      if (found !== undefined) return found;
      const indexes = order.filter((_, place) => (mask & (1 << place)) !== 0);
      const matching = indexes.map((index) => patches[index]!);
      const match = { mask, indexes, patches: matching, combinedHash: combinedHash(matching) };
      known.set(mask, match);
      return match;
    },
  };
}

function maskOf(matchers: readonly (LabelMatcher | undefined)[], labels: Labels): PatchMask {
  return matchers.reduce((mask, matches, place) => (matches?.(labels) ? mask | (1 << place) : mask), 0);
}
