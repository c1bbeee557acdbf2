/**
 * The text that stood in a file, kept beside it until the one that took its place is on the disk. A machine that crashes
 * in between may leave an empty file or zeros, for the new name may reach the disk before the new text does.
 */
import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../errors.ts";
import { digestOf, readCurrent } from "./compare.ts";

/** `.NAME.DIGEST.old`, with the digest of the text that takes its place. */
const END = /^([0-9a-f]{12})\.old$/;

export interface Former {
  /** The new text is on the disk. */
  drop(): void;
  /** Puts the old text back. */
  restore(): void;
}

/** Keeps what stands in a file under a second name; nothing where that cannot be, or could not be taken back. */
export function keepFormer(target: string, next: Buffer, uid: number): Former | undefined {
  const entry = lstatSync(target, { throwIfNoEntry: false });
  if (entry?.uid !== uid || entry.nlink !== 1) return undefined;
  const path = join(dirname(target), `.${basename(target)}.${digestOf(next)}.old`);
  const drop = (): void => rmSync(path, { force: true });
  try {
    // An agent that starts after a crash has to look for it.
    closeSync(openSync(dirname(target), "r"));
    link(target, path, drop);
  } catch {
    return undefined;
  }
  return { drop, restore: () => renameSync(path, target) };
}

function link(target: string, path: string, drop: () => void): void {
  try {
    linkSync(target, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    // Of a change to the same text that was cut off.
    drop();
    linkSync(target, path);
  }
}

/**
 * After a crash: puts the former text back where the new one did not reach the disk, and removes what is not needed.
 * Whether it was put back. Only files of the given user count, which have no other name: anyone may write in some folders.
 */
export function recoverFormer(target: string, uid: number): boolean {
  const kept = keptFor(target, uid);
  if (kept.length === 0) return false;
  const isLost = !isWhole(target, kept);
  if (isLost) renameSync(wholeOf(kept.filter(({ isTarget }) => !isTarget)).path, target);
  for (const { path } of kept) rmSync(path, { force: true });
  return isLost;
}

/** In the middle of two changes the text of the first may be lost as well; then that before it is not. */
function wholeOf(kept: readonly Kept[]): Kept {
  const digests = new Set(kept.map(({ digest }) => digest));
  return kept.find(({ path }) => digests.has(digestOf(readFileSync(path)))) ?? kept.at(-1)!;
}

function isWhole(target: string, kept: readonly Kept[]): boolean {
  const others = kept.filter(({ isTarget }) => !isTarget);
  if (others.length === 0) return true;
  const now = readCurrent(target);
  if (now === undefined) return false;
  // What a crash took was written before the old text was kept: a later text is that of others.
  if (statSync(target).mtimeMs > Math.max(...others.map(({ linkedMs }) => linkedMs))) return true;
  const digest = digestOf(now.content);
  return kept.some((one) => one.digest === digest);
}

interface Kept {
  readonly path: string;
  readonly digest: string;
  /** It is the file itself: the change went no further. */
  readonly isTarget: boolean;
  readonly mtimeMs: number;
  /** When it was kept, or later. */
  readonly linkedMs: number;
}

/** What is kept, the last first. */
function keptFor(target: string, uid: number): readonly Kept[] {
  const folder = dirname(target);
  const start = `.${basename(target)}.`;
  const inode = lstatSync(target, { throwIfNoEntry: false })?.ino;
  const found: Kept[] = [];
  for (const name of readdirSync(folder)) {
    const digest = name.startsWith(start) ? END.exec(name.slice(start.length))?.[1] : undefined;
    if (digest === undefined) continue;
    const path = join(folder, name);
    const entry = lstatSync(path);
    const isTarget = entry.ino === inode;
    const isOurs = entry.isFile() && entry.uid === uid && (entry.nlink === 1 || isTarget);
    if (isOurs) found.push({ path, digest, isTarget, mtimeMs: entry.mtimeMs, linkedMs: entry.ctimeMs });
  }
  return found.sort((a, b) => b.mtimeMs - a.mtimeMs);
}
