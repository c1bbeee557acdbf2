/** TAccount: defaulting and validation (M-041 to 045, V-061). */
import { createHash } from "node:crypto";
import type { DeepReadonly } from "@quartet/core";
import { isMap } from "@quartet/pod-template";
import type { TAccount } from "../api.gen.ts";
import { type Denial, invalid, newOffence, type Offence } from "./denial.ts";

const PASSWORD = /^[\x21-\x7e]{6,32}$/;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The text whose bcrypt hash is stored: lower-case hex of the password's SHA-1. */
export function passwordDigest(password: string): string {
  return createHash("sha1").update(password, "utf8").digest("hex");
}

/**
 * The account without its password, or why it is refused. The text never names the password.
 * @param hash bcrypt hash of {@link passwordDigest}, when there is a password
 */
export async function mutateAccount(
  object: TAccount,
  old: DeepReadonly<TAccount> | undefined,
  hash: (digest: string) => Promise<string>,
): Promise<TAccount | string> {
  const { annotations } = object.metadata;
  if (annotations !== undefined) {
    delete annotations[LAST_APPLIED];
    if (Object.keys(annotations).length === 0) delete object.metadata.annotations;
  }
  const authentication = object.spec?.authentication;
  if (!isMap(authentication)) return object;
  const { password } = authentication;
  // Null is left to the schema.
  if (password !== undefined && password !== null) {
    if (typeof password !== "string" || !PASSWORD.test(password)) {
      return "password should match pattern ^[\\x21-\\x7e]{6,32}$";
    }
    authentication.bcryptPassword = await hash(passwordDigest(password));
    delete authentication.password;
    authentication.tokens = [];
  } else if (old?.spec.authentication.bcryptPassword !== authentication.bcryptPassword) {
    authentication.tokens = [];
  }
  return object;
}

/** Name of a user's account. */
export function accountName(username: string): string {
  return createHash("md5").update(username, "utf8").digest("hex");
}

/** Why an account is refused. */
export function validateAccount(
  account: DeepReadonly<TAccount>,
  old: DeepReadonly<TAccount> | undefined,
): Denial {
  if (account.metadata.name !== accountName(account.spec.username)) {
    return invalid("taccount", "unexpected resource name");
  }
  return newOffence(offences(account), old && offences(old));
}

/** Members that the peer's schema means to ask for. */
function offences({ spec }: DeepReadonly<TAccount>): Offence[] {
  const tokens = (spec.authentication.tokens ?? []).flatMap(({ name, content, expirationTime }) => {
    const lacks = Object.entries({ name, content, expirationTime }).find(([, value]) => !value)?.[0];
    const id = `token ${name} ${expirationTime} ${lacks}`;
    return lacks === undefined
      ? []
      : [{ id, text: invalid("taccount", `spec.authentication.tokens: ${lacks} is missing`) }];
  });
  const rights = (spec.authorization ?? []).flatMap(({ flag, role }) => {
    const lacks = Object.entries({ flag, role }).find(([, value]) => !value)?.[0];
    const id = `right ${flag} ${role}`;
    return lacks === undefined
      ? []
      : [{ id, text: invalid("taccount", `spec.authorization: ${lacks} is missing`) }];
  });
  return [...tokens, ...rights];
}
