/** Candidates beside their destinations: written whole, checked, then put in place. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../errors.ts";

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
}

export interface StageOptions {
  readonly target: string;
  readonly content: Buffer;
  readonly attributes: Attributes;
  readonly flush: boolean;
  /** Where candidates go that cannot stand beside their destination; empty is the system's folder. */
  readonly stageDir: string;
}

/** Folders that cannot take a new file, while a file in them can still be written. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Writes a candidate; on failure nothing of it is left. */
export async function writeStage(options: StageOptions): Promise<Stage> {
  const { target } = options;
  try {
    return await writeIn(dirname(target), false, options);
  } catch (error) {
    if (!NO_ROOM.has(codeOf(error)) || !(await isWritable(target))) throw error;
    return await writeIn(options.stageDir === "" ? tmpdir() : options.stageDir, true, options);
  }
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  );

async function writeIn(folder: string, elsewhere: boolean, options: StageOptions): Promise<Stage> {
  const { target, content, attributes, flush } = options;
  const path = join(folder, `.${basename(target)}.${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const file = await open(path, "wx", 0o600);
  try {
    const ownerProblem = await setOwner(file, attributes);
    await file.chmod(attributes.mode);
    await file.writeFile(content);
    if (flush) await file.sync();
    await file.close();
    return { path, elsewhere, ...(ownerProblem === undefined ? {} : { ownerProblem }) };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/** Sets the owner where it differs; what goes wrong is the caller's to judge. */
async function setOwner(file: FileHandle, { uid, gid }: Attributes): Promise<string | undefined> {
  const now = await file.stat();
  if (now.uid === uid && now.gid === gid) return undefined;
  try {
    await file.chown(uid, gid);
    return undefined;
  } catch (error) {
    return `cannot set owner ${uid}:${gid}: ${codeOf(error)}`;
  }
}

/** Removes old candidates of a destination: all but the newest one when one shall be kept. */
export async function removeLeftovers(
  target: string,
  { onlyOld, except }: { onlyOld: boolean; except?: string },
): Promise<void> {
  const folder = dirname(target);
  const start = `.${basename(target)}.`;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (!name.startsWith(start) || !STAGE_NAME.test(name.slice(start.length)) || path === except) continue;
    const age =
      Date.now() -
      (await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      ));
    if (!onlyOld || age > LEFTOVER_AGE_MS) await rm(path, { force: true });
  }
}
