/** Where the operator's own PostgreSQL connection goes, by the spec and the Secrets that it names. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { NacosSpec } from "../desired/settings.ts";
import type { FoundSource } from "../desired/source.ts";
import { EVENT_CODES, type StepFailure } from "../status/outcome.ts";

/** Port of PostgreSQL. */
const DEFAULT_PORT = "5432";
/** Default of libpq. */
const DEFAULT_SSL_MODE = "prefer";
/** Keys of the credentials Secret (as in the peer). */
const DEFAULT_USERNAME_KEY = "username";
const DEFAULT_PASSWORD_KEY = "password";
/** Key of a CA certificate, as cert-manager and others name it. */
const DEFAULT_CA_KEY = "ca.crt";
/** Limit for connecting and running the script, in seconds (the peer's documented default), and its bounds. */
const DEFAULT_TIMEOUT_SECONDS = 20;
const MAX_TIMEOUT_SECONDS = 600;
const MAX_PORT = 65_535;
/** Host names, of whatever script. */
const HOST_NAME = /^[\p{L}\p{N}_.-]+$/u;
/** Longest DNS name in characters. */
const MAX_HOST_LENGTH = 253;
/** Longest name of a database or user that PostgreSQL keeps, in bytes (NAMEDATALEN). */
const MAX_IDENTIFIER_BYTES = 63;
/** Largest bundle of CA certificates in characters; that of a whole operating system has about 220 000. */
const MAX_CA_LENGTH = 262_144;
const CERTIFICATE_BEGIN = "-----BEGIN CERTIFICATE-----";
const CERTIFICATE_END = "-----END CERTIFICATE-----";

export type SslMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";
const SSL_MODES: readonly SslMode[] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** Why the database cannot be used; the texts hold no credentials. */
export type DatabaseProblem = Pick<StepFailure, "reason" | "message" | "code">;

/** Everything that a connection needs. */
export interface PostgresTarget {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly sslMode: SslMode;
  readonly timeoutMs: number;
  readonly user: string;
  readonly password: string;
  /** Certificates of CAs, PEM. */
  readonly caPem?: string;
}

/** Reads a Secret of the resource's namespace. */
export type ReadSecret = (name: string) => FoundSource;

/** True when the operator has a connection of its own. */
export function hasPostgres({ postgres }: NacosSpec): boolean {
  return Boolean(postgres?.host);
}

/** Names of the Secrets that the connection needs. */
export function postgresSecrets(spec: NacosSpec): string[] {
  if (!hasPostgres(spec)) return [];
  const { credentialsSecretRef, caSecretRef } = spec.postgres ?? {};
  const names = [credentialsSecretRef?.name, caSecretRef?.name].filter((name) => name !== undefined);
  return [...new Set(names.filter((name) => name !== ""))];
}

/**
 * The connection with its defaults and its Secrets, or what is wrong with the spec, and else which of the Secrets cannot
 * be used. Only for specs that {@link hasPostgres}.
 */
export function postgresTarget(
  { postgres = {}, pgInit = {} }: NacosSpec,
  read: ReadSecret,
): PostgresTarget | DatabaseProblem {
  const { host = "", database = "", credentialsSecretRef: login, caSecretRef } = postgres;
  const port = postgres.port || DEFAULT_PORT;
  const sslMode = (postgres.sslMode || DEFAULT_SSL_MODE) as SslMode;
  const seconds = pgInit.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS;
  // Not quoted: a URL may hold a password.
  if (host.length > MAX_HOST_LENGTH || (!HOST_NAME.test(host) && isIP(host) === 0)) {
    return invalid("host", "must be one host name or address, not a path or a URL");
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > MAX_PORT) {
    return invalid("port", `must be a number from 1 to ${MAX_PORT}`);
  }
  if (database === "") return invalid("database", "is needed when host is set");
  const fault = identifierFault(database);
  if (fault !== undefined) return invalid("database", fault);
  if (!login?.name) return invalid("credentialsSecretRef.name", "is needed when host is set");
  if (!SSL_MODES.includes(sslMode)) return invalid("sslMode", `must be one of ${SSL_MODES.join(", ")}`);
  const verifies = sslMode === "verify-ca" || sslMode === "verify-full";
  if (verifies && !caSecretRef?.name) return invalid("caSecretRef.name", `is needed for ${sslMode}`);
  if (seconds < 1 || seconds > MAX_TIMEOUT_SECONDS) {
    return postgresInvalid("spec.pgInit.timeoutSeconds", `must be from 1 to ${MAX_TIMEOUT_SECONDS}`);
  }
  const credentials = credentialsOf(login, read);
  if (isDatabaseProblem(credentials)) return credentials;
  const authority = caSecretRef?.name ? authorityOf(caSecretRef, read) : {};
  if (isDatabaseProblem(authority)) return authority;
  const timeoutMs = seconds * 1_000;
  return { host, port: Number(port), database, sslMode, timeoutMs, ...credentials, ...authority };
}

type Postgres = NonNullable<NacosSpec["postgres"]>;

function credentialsOf(
  { name, usernameKey, passwordKey }: NonNullable<Postgres["credentialsSecretRef"]>,
  read: ReadSecret,
): Pick<PostgresTarget, "user" | "password"> | DatabaseProblem {
  const what = `spec.postgres.credentialsSecretRef: Secret ${name}`;
  const found = read(name ?? "");
  const userKey = usernameKey || DEFAULT_USERNAME_KEY;
  const user = secretText(what, found, userKey);
  if (typeof user !== "string") return user;
  const password = secretText(what, found, passwordKey || DEFAULT_PASSWORD_KEY);
  if (typeof password !== "string") return password;
  const fault = user === "" ? "is empty" : identifierFault(user);
  return fault === undefined ? { user, password } : keyProblem(what, userKey, fault);
}

function authorityOf(
  { name, key }: NonNullable<Postgres["caSecretRef"]>,
  read: ReadSecret,
): Pick<PostgresTarget, "caPem"> | DatabaseProblem {
  const what = `spec.postgres.caSecretRef: Secret ${name}`;
  const caKey = key || DEFAULT_CA_KEY;
  const caPem = secretText(what, read(name ?? ""), caKey);
  if (typeof caPem !== "string") return caPem;
  if (caPem.length > MAX_CA_LENGTH) {
    return keyProblem(what, caKey, `holds more than ${MAX_CA_LENGTH} characters`);
  }
  // Without any, the server would be verified by the CAs of the operator's own system.
  return holdsCertificates(caPem) ? { caPem } : keyProblem(what, caKey, "holds no PEM certificate");
}

/** What is wrong with the name of a database or user. It is sent as it is, to whatever listens there. */
function identifierFault(name: string): string | undefined {
  if (/\p{Cc}/u.test(name)) return "must not hold control characters";
  if (Buffer.byteLength(name) <= MAX_IDENTIFIER_BYTES) return undefined;
  return `must have at most ${MAX_IDENTIFIER_BYTES} bytes`;
}

/** True when there are certificates, and all of them can be read. */
function holdsCertificates(pem: string): boolean {
  try {
    return certificatesIn(pem).map((text) => new X509Certificate(text)).length > 0;
  } catch {
    return false;
  }
}

/** Each certificate of a PEM text; one without an end is left out. */
function certificatesIn(pem: string): string[] {
  const found: string[] = [];
  let begin = pem.indexOf(CERTIFICATE_BEGIN);
  while (begin !== -1) {
    const end = pem.indexOf(CERTIFICATE_END, begin);
    if (end === -1) break;
    found.push(pem.slice(begin, end + CERTIFICATE_END.length));
    begin = pem.indexOf(CERTIFICATE_BEGIN, end);
  }
  return found;
}

/** True for the second kind of the answers above. */
export function isDatabaseProblem(value: object): value is DatabaseProblem {
  return "reason" in value;
}

/** A field of the spec that keeps the operator from connecting. */
export function postgresInvalid(field: string, message: string): DatabaseProblem {
  return {
    reason: "PostgresConfigInvalid",
    message: `${field} ${message}`,
    code: EVENT_CODES.badParameter,
  };
}

function invalid(field: string, message: string): DatabaseProblem {
  return postgresInvalid(`spec.postgres.${field}`, message);
}

/**
 * Text of a Secret's key, exactly as it is stored: a password may end in a space.
 * @param what field and Secret, for messages
 */
export function secretText(what: string, found: FoundSource, key: string): string | DatabaseProblem {
  if (found.state === "absent") {
    const message = `${what} does not exist; create it or correct the reference`;
    return { reason: "SecretNotFound", message, code: EVENT_CODES.system };
  }
  if (found.state === "unreadable") {
    const message = `${what} cannot be read: ${found.message}`;
    return { reason: "SecretUnreadable", message, code: EVENT_CODES.system };
  }
  const value = found.object.data?.[key];
  if (value === undefined) return keyProblem(what, key, "is missing");
  const bytes = Buffer.from(value, "base64");
  const text = bytes.toString("utf8");
  // The protocol ends texts with a zero byte.
  const usable = Buffer.from(text, "utf8").equals(bytes) && !text.includes("\0");
  return usable ? text : keyProblem(what, key, "holds bytes that are no UTF-8 text");
}

function keyProblem(what: string, key: string, problem: string): DatabaseProblem {
  const message = `${what}: key ${key} ${problem}; correct it or the reference's key`;
  return { reason: "KeyNotFound", message, code: EVENT_CODES.badParameter };
}
