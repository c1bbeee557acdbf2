/** Writes the administrator to Nacos's tables. */
import type { AdminCredentials } from "../desired/admin.ts";
import type { Database } from "./connection.ts";
import { preflight } from "./init.ts";

/** Role that Nacos gives to administrators. */
const ADMIN_ROLE = "ROLE_ADMIN";
/** User of Nacos's own schema scripts, and the hash that they give it: of the password "nacos", publicly known. */
const DEFAULT_USER = "nacos";
const DEFAULT_HASH = "$2a$10$EuWPZHzz32dJN7jexM34MOeYirDdFAZm2kuWj7VEOJhhZkDrxfvUu";
/** Key of the advisory lock: "nacadm" as ASCII. Everybody who writes an administrator takes it. */
const LOCK_KEY = "121364558210157";

/** What the tables hold besides the administrator. */
export interface AdminFindings {
  /** Nacos's default user has its publicly known password. */
  readonly defaultPassword: boolean;
  /** Further users with the role of administrators. */
  readonly otherAdmins: number;
}

/**
 * Sets the user's hash, enables it and gives it the role, all or nothing; other users are left alone.
 * @throws DatabaseError
 */
export async function rotateAdmin(database: Database, admin: AdminCredentials): Promise<AdminFindings> {
  await preflight(database);
  return database.transaction(async () => {
    await database.query(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    const { username, passwordHash } = admin;
    const updated = await database.query(
      "update users set password = $2, enabled = true where username = $1 returning username",
      [username, passwordHash],
    );
    if (updated.length === 0) {
      await database.query("insert into users (username, password, enabled) values ($1, $2, true)", [
        username,
        passwordHash,
      ]);
    }
    const role = [username, ADMIN_ROLE];
    const roles = await database.query("select 1 from roles where username = $1 and role = $2", role);
    if (roles.length === 0) {
      await database.query("insert into roles (username, role) values ($1, $2)", role);
    }
    return inspectAdmins(database, username);
  });
}

/** Looks at the users without changing any. */
export async function inspectAdmins(database: Database, username: string): Promise<AdminFindings> {
  const defaults = await database.query("select 1 from users where username = $1 and password = $2", [
    DEFAULT_USER,
    DEFAULT_HASH,
  ]);
  const [others] = await database.query<{ count: number }>(
    "select count(distinct username)::int as count from roles where role = $1 and username <> $2",
    [ADMIN_ROLE, username],
  );
  return { defaultPassword: defaults.length > 0, otherAdmins: others?.count ?? 0 };
}
