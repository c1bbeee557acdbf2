/** Which account an object lives in (TUN-110). */
import type { SourceReader } from "@quartet/core";
import { CREDENTIALS } from "../kinds.ts";
import { type Access, type CloudflareSpec, defaultCredentials } from "./access.ts";
import { Problem } from "./problem.ts";

/** Time after which an account that was not found is looked for again, in milliseconds. */
const RETRY_MS = 300_000;

/** Identifier of the account that the access is for; asks for it when only its name is known. */
export async function accountOf({ accountId, accountName, api }: Access): Promise<string> {
  if (accountId) return accountId;
  const found = accountName === undefined ? [] : await api.accountsNamed(accountName);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.id;
  const message = found.length > 1 ? "more than one account" : "no account";
  throw new Problem("AccountNotFound", message, { retryAfterMs: RETRY_MS });
}

/** The account as far as the cluster alone tells it. */
export async function accountHint(
  spec: CloudflareSpec | undefined,
  cache: SourceReader,
): Promise<string | undefined> {
  if (spec?.accountId) return spec.accountId;
  const name = spec?.credentialsRef?.name;
  if (name === undefined && spec?.secret !== undefined) return spec.accountName;
  const found =
    name === undefined
      ? await defaultCredentials(cache)
      : await cache.get(CREDENTIALS, { namespace: "", name });
  return found?.spec.accountId;
}
