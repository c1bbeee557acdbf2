/** The administrator that a Secret describes, and whether it has to be written to the database. */
import { createHash } from "node:crypto";
import { type DatabaseProblem, hasPostgres, secretText } from "../database/target.ts";
import { EVENT_CODES, type StepStatus } from "../status/outcome.ts";
import type { NacosSpec } from "./settings.ts";
import type { FoundSource } from "./source.ts";

/** Keys of the Secret (as in the peer). */
const DEFAULT_USERNAME_KEY = "username";
const DEFAULT_HASH_KEY = "passwordHash";
/** Length of the user name's column in Nacos's schema. */
const MAX_USERNAME_LENGTH = 50;
/** bcrypt as Nacos reads it: version, cost, then 22 characters of salt and 31 of hash. */
const BCRYPT = /^\$2[aby]\$(?<cost>0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;
/** Cost that Nacos itself uses; a lower one is worth a warning. */
const SOUND_COST = 10;
/** Length of a checksum in hexadecimal characters (as in the peer). */
const CHECKSUM_LENGTH = 16;

/** User and hash of a Secret that is fit for the database. */
export interface AdminCredentials {
  readonly username: string;
  readonly passwordHash: string;
  readonly resourceVersion: string;
  /** Tells whether something has changed; it reveals neither name nor hash. */
  readonly checksum: string;
  /** The hash is cheaper to attack than Nacos's own. */
  readonly weak: boolean;
}

export type AdminStatus = NonNullable<StepStatus["admin"]>;

/** True when the resource has an administrator to be kept, and a database to keep it in. */
export function hasAdmin(spec: NacosSpec): boolean {
  return hasPostgres(spec) && Boolean(spec.adminCredentialsSecretRef?.name);
}

/** What the Secret holds, or why it cannot be used; the texts hold nothing of it. */
export function adminCredentials(
  { adminCredentialsSecretRef: ref }: NacosSpec,
  found: FoundSource,
): AdminCredentials | DatabaseProblem {
  const what = `spec.adminCredentialsSecretRef: Secret ${ref?.name}`;
  const usernameKey = ref?.usernameKey || DEFAULT_USERNAME_KEY;
  const hashKey = ref?.passwordHashKey || DEFAULT_HASH_KEY;
  const username = secretText(what, found, usernameKey);
  if (typeof username !== "string") return username;
  const passwordHash = secretText(what, found, hashKey);
  if (typeof passwordHash !== "string") return passwordHash;
  const length = [...username].length;
  if (length === 0 || length > MAX_USERNAME_LENGTH) {
    return invalid(what, usernameKey, `must have 1 to ${MAX_USERNAME_LENGTH} characters, it has ${length}`);
  }
  if (/\p{Cc}/u.test(username))
    return invalid(what, usernameKey, "holds a line break or another control character");
  const cost = BCRYPT.exec(passwordHash)?.groups?.cost;
  if (cost === undefined) {
    return invalid(
      what,
      hashKey,
      "is no bcrypt hash such as $2a$10$… of 60 characters; a line break at its end counts",
    );
  }
  return {
    username,
    passwordHash,
    resourceVersion: (found.state === "present" && found.object.metadata.resourceVersion) || "",
    checksum: checksumOf(username, passwordHash),
    weak: Number(cost) < SOUND_COST,
  };
}

/** First 16 hexadecimal characters of the SHA-256 of name and hash (as in the peer). */
export function checksumOf(username: string, passwordHash: string): string {
  return createHash("sha256").update(`${username}:${passwordHash}`).digest("hex").slice(0, CHECKSUM_LENGTH);
}

/** Checksum that a rotation leaves in the status: the spec's when it gives one. */
export function targetChecksum(spec: NacosSpec, { checksum }: AdminCredentials): string {
  return spec.adminSecretChecksum || checksum;
}

/** True when the administrator has to be written: by the spec's checksum alone if it gives one, else by the Secret. */
export function isRotationDue(
  spec: NacosSpec,
  status: Readonly<AdminStatus> | undefined,
  credentials: AdminCredentials,
): boolean {
  if (targetChecksum(spec, credentials) !== status?.lastSecretChecksum) return true;
  return !spec.adminSecretChecksum && status.lastResult !== "Success";
}

function invalid(what: string, key: string, problem: string): DatabaseProblem {
  const message = `${what}: key ${key} ${problem}; the database is left as it is`;
  return { reason: "AdminSecretInvalid", message, code: EVENT_CODES.badParameter };
}
