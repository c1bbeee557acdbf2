/** What the status says of errors of a database: a code and words of our own, for a server's words may quote values. */
import { EVENT_CODES } from "../status/outcome.ts";
import type { DatabaseProblem } from "./target.ts";

/** Reason of work that took too long. */
const TIMEOUT = "Timeout";

/** A failure of a connection or of what ran on it. Its text holds no credentials. */
export class DatabaseError extends Error {
  /** CamelCase, fit for a condition. */
  readonly reason: string;
  /** SQLSTATE of a failure that the server reported. */
  readonly sqlState: string | undefined;
  /** What the status must not tell, for the log: it would make the operator a scanner of the network. */
  readonly detail: string | undefined;

  constructor(
    reason: string,
    message: string,
    more: { readonly sqlState?: string; readonly detail?: string } = {},
  ) {
    super(message);
    this.name = "DatabaseError";
    this.reason = reason;
    this.sqlState = more.sqlState;
    this.detail = more.detail;
  }
}

/** The failure as a step reports it. */
export function problemOf({ reason, message }: DatabaseError): DatabaseProblem {
  return { reason, message, code: EVENT_CODES.system };
}

/** The time is over. */
export function timeoutError(timeoutMs: number): DatabaseError {
  const remedy = "see to the server, or raise spec.pgInit.timeoutSeconds";
  return new DatabaseError(
    TIMEOUT,
    `timeout: the database did not finish within ${timeoutMs / 1_000} s; ${remedy}`,
  );
}

/** Nobody has answered as a PostgreSQL server does. A port that is closed, filtered or another service is told alike. */
function unreachable(server: string, detail: string): DatabaseError {
  const message = `no PostgreSQL server answers at ${server}; the operator's log has the cause`;
  return new DatabaseError("DatabaseUnreachable", message, { detail });
}

/** The time is over, and there is no connection. */
export function silentError(server: string, timeoutMs: number): DatabaseError {
  return unreachable(server, `no login within ${timeoutMs / 1_000} s`);
}

/** SQLSTATE → reason and words. Codes: appendix A of PostgreSQL's manual. */
const BY_STATE: Readonly<Record<string, readonly [reason: string, text: string]>> = {
  "25006": ["DatabaseReadOnly", "the server is read-only"],
  "28000": [
    "LoginRefused",
    "the login is refused; look at the credentials Secret and the server's pg_hba.conf",
  ],
  "28P01": ["LoginRefused", "the password or user name is wrong; correct the credentials Secret"],
  "3D000": ["DatabaseNotFound", "the database does not exist; create it, or correct spec.postgres.database"],
  "3F000": ["PermissionDenied", "there is no schema to create tables in; look at the user's search_path"],
  "42501": ["PermissionDenied", "the user lacks a permission; grant it CREATE on the schema"],
  "42P01": ["SchemaMissing", "a table is missing; initialise the schema"],
  "53300": ["DatabaseUnavailable", "the server has no free connections"],
  "57P01": ["DatabaseUnavailable", "the server is being stopped"],
  "57P03": ["DatabaseUnavailable", "the server is starting up or being stopped"],
  "57014": [TIMEOUT, "timeout: the server has cancelled the statement"],
};
/** The same by class, the first two characters. */
const BY_CLASS: Readonly<Record<string, readonly [reason: string, text: string]>> = {
  "08": ["DatabaseUnavailable", "the connection has failed"],
  "23": ["StatementFailed", "existing rows contradict the schema"],
  "42": ["StatementFailed", "existing objects contradict the schema"],
  "53": ["DatabaseUnavailable", "the server lacks resources"],
  "57": ["DatabaseUnavailable", "an operator has intervened"],
  "58": ["DatabaseUnavailable", "the server's system has failed"],
};
/** Parts of error codes that tell TLS from sockets. */
const TLS_CODE = /CERT|TLS|SSL|ISSUER|SIGNATURE|ALTNAME/;
/** How the client library begins what it says of a login by password; it gives no code. */
const LOGIN_EXCHANGE = "SASL";

/** Reduces an error of the client library. `server` is `host:port`. */
export function databaseError(error: unknown, server: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const code = codeOf(error);
  if (code !== undefined && isSqlState(error, code)) {
    const [reason, text] = BY_STATE[code] ??
      BY_CLASS[code.slice(0, 2)] ?? ["StatementFailed", "the server has refused a statement"];
    return new DatabaseError(reason, `SQLSTATE ${code}: ${text}`, { sqlState: code });
  }
  if (code !== undefined && TLS_CODE.test(code)) {
    return new DatabaseError("TlsFailed", `${code}: the server's certificate at ${server} is not accepted`);
  }
  if (error instanceof Error && error.message.startsWith(LOGIN_EXCHANGE)) {
    return new DatabaseError("LoginRefused", "the login exchange has failed; correct the credentials Secret");
  }
  return unreachable(server, code ?? "the connection ended");
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]+$/.test(code) ? code : undefined;
}

/** Errors of the server carry a severity beside the code; `EPERM` and the like do not. */
function isSqlState(error: unknown, code: string): boolean {
  return code.length === 5 && typeof (error as { severity?: unknown }).severity === "string";
}
