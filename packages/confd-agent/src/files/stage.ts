/** Candidates beside their destinations: written whole, checked, then put in place. */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../errors.ts";
import { flush } from "./flush.ts";

/** Leftovers of a crash are removed when they are older than this, in milliseconds. */
const LEFTOVER_AGE_MS = 600_000;
const RANDOM_BYTES = 6;
const STAGE_NAME = /^[0-9a-f]{12}$/;

export interface Attributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export interface Stage {
  readonly path: string;
  /** Not beside the destination: it cannot be renamed onto it. */
  readonly elsewhere: boolean;
  /** Why the owner could not be set, if so. */
  readonly ownerProblem?: string;
  /** Flushes its content to the disk, under whatever name it stands by then. */
  flush(): Promise<void>;
  /** To be called when it is not needed any more; the file stays. */
  close(): void;
}

export interface StageOptions {
  readonly target: string;
  readonly content: Buffer;
  readonly attributes: Attributes;
  /** Where candidates go that cannot stand beside their destination; empty is the system's folder. */
  readonly stageDir: string;
}

/** Folders that cannot take a new file, while a file in them can still be written. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Writes a candidate; on failure nothing of it is left. */
export function writeStage(options: StageOptions): Stage {
  const { target } = options;
  try {
    return writeIn(dirname(target), false, options);
  } catch (error) {
    if (!NO_ROOM.has(codeOf(error)) || !isWritable(target)) throw error;
    return writeIn(options.stageDir === "" ? tmpdir() : options.stageDir, true, options);
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function writeIn(folder: string, elsewhere: boolean, options: StageOptions): Stage {
  const { target, content, attributes } = options;
  const path = join(folder, `.${basename(target)}.${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const writer = openSync(path, "wx", 0o600);
  let reader: number | undefined;
  try {
    // What is open for writing cannot be run, as a check may want to.
    reader = openSync(path, "r");
    const file = reader;
    const ownerProblem = setOwner(writer, attributes);
    fchmodSync(writer, attributes.mode);
    writeFileSync(writer, content);
    return {
      path,
      elsewhere,
      ...(ownerProblem === undefined ? {} : { ownerProblem }),
      flush: () => flush(file),
      close: () => closeSync(file),
    };
  } catch (error) {
    if (reader !== undefined) closeSync(reader);
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(writer);
  }
}

/** Sets the owner where it differs; what goes wrong is the caller's to judge. */
function setOwner(file: number, { uid, gid }: Attributes): string | undefined {
  const now = fstatSync(file);
  if (now.uid === uid && now.gid === gid) return undefined;
  try {
    fchownSync(file, uid, gid);
    return undefined;
  } catch (error) {
    return `cannot set owner ${uid}:${gid}: ${codeOf(error)}`;
  }
}

/** Removes old candidates of a destination, all or only those of a crash. What cannot be removed stays. */
export function removeLeftovers(target: string, { onlyOld }: { onlyOld: boolean }): void {
  const folder = dirname(target);
  const start = `.${basename(target)}.`;
  for (const name of namesIn(folder)) {
    if (!name.startsWith(start) || !STAGE_NAME.test(name.slice(start.length))) continue;
    const path = join(folder, name);
    try {
      if (!onlyOld || Date.now() - statSync(path).mtimeMs > LEFTOVER_AGE_MS) rmSync(path, { force: true });
    } catch {
      // It is gone, or not ours to remove.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
