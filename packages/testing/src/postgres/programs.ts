/** Finds the programs of a PostgreSQL server, and the user to run them as. */
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../control-plane/programs.ts";

/** Variable that names the folder of the programs. */
const FOLDER_VARIABLE = "QUARTET_TEST_POSTGRES";
/** Where Debian keeps the programs, one folder per version; they are not on its `PATH`. */
const DEBIAN_FOLDER = "/usr/lib/postgresql";
/** System user that packages create. */
const SYSTEM_USER = "postgres";

const PROGRAMS = ["initdb", "postgres", "psql"] as const;
type Program = (typeof PROGRAMS)[number];

/** File of each program, and the user to run the server as when it must not run as the present one. */
export interface PostgresPrograms extends Readonly<Record<Program, string>> {
  readonly user?: { readonly uid: number; readonly gid: number };
}

/**
 * Looks for the programs of a PostgreSQL server: in the folder `QUARTET_TEST_POSTGRES`, else on `PATH`, else where
 * Debian keeps them, newest version first. Throws with what to install when there are none, or no user to run them as.
 */
export function findPostgres(env: Environment = process.env): PostgresPrograms {
  const named = env[FOLDER_VARIABLE];
  const folders = named ? [named] : [...(env.PATH ?? "").split(delimiter), ...debianFolders()];
  const folder = folders.find((path) => path !== "" && PROGRAMS.every((name) => isExecutable(path, name)));
  if (folder === undefined) {
    const where = named ? `${FOLDER_VARIABLE}=${named}` : `PATH and ${DEBIAN_FOLDER}`;
    throw new Error(
      `no PostgreSQL server programs (${PROGRAMS.join(", ")}) in ${where}: install them (Debian: package postgresql), or set ${FOLDER_VARIABLE} to their folder`,
    );
  }
  const file = (name: Program): string => join(folder, name);
  const user = serverUser();
  return { initdb: file("initdb"), postgres: file("postgres"), psql: file("psql"), ...(user && { user }) };
}

/** The user that a server started by root must run as, since PostgreSQL refuses root; `undefined` for others. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((text) => text.startsWith(`${SYSTEM_USER}:`));
  const [, , uid, gid] = line?.split(":").map(Number) ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error(
      `PostgreSQL does not run as root, and there is no system user ${SYSTEM_USER}: create it (useradd --system ${SYSTEM_USER}), or run as another user`,
    );
  }
  return { uid, gid };
}

function debianFolders(): string[] {
  try {
    return readdirSync(DEBIAN_FOLDER)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN_FOLDER, version, "bin"));
  } catch {
    return [];
  }
}

function isExecutable(folder: string, name: string): boolean {
  try {
    accessSync(join(folder, name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
