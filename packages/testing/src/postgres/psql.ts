/** SQL over the server's own command-line client: independent of the client library under test. */
import { execFile } from "node:child_process";

/** Limit of one call in milliseconds. */
const CALL_LIMIT_MS = 60_000;

/** Lets the harness write where the server's default forbids it. */
const WRITABLE = "set default_transaction_read_only = off";

export interface PsqlTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** A function that runs SQL and resolves with its rows: unaligned, without headers. Rejects with psql's message. */
export function psqlOf(psql: string, target: PsqlTarget): (sql: string, database: string) => Promise<string> {
  return (sql, database) =>
    new Promise((resolve, reject) => {
      const env = {
        ...process.env,
        PGHOST: target.host,
        PGPORT: String(target.port),
        PGUSER: target.user,
        PGPASSWORD: target.password,
        PGDATABASE: database,
        PGAPPNAME: "harness",
        PGCLIENTENCODING: "UTF8",
      };
      const args = ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-"];
      const child = execFile(psql, args, { env, timeout: CALL_LIMIT_MS }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout.trimEnd());
        else reject(new Error(`psql: ${stderr.trim() || error.message}`));
      });
      // The error of a client that ended early is in its message.
      child.stdin?.on("error", () => {});
      child.stdin?.end(`${WRITABLE};\n${sql}`);
    });
}

/** A name as SQL text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
