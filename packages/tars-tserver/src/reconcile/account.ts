/** Takes tokens off an account when their time is over. */
import { type Clock, keyOf, mutable, type Reconcile } from "@quartet/core";
import { FIELD_MANAGER } from "../identity.ts";
import { T_ACCOUNT } from "../kinds.ts";

/** Longest delay of a timer, ms: an end further away is looked at again, by the clock as it then is. */
const LONGEST_DELAY_MS = 60_000;

/** The reconcile of accounts. */
export function createAccountReconcile(clock: Clock): Reconcile {
  return async (key, { client, cache, signal }) => {
    const account = await cache.get(T_ACCOUNT, key);
    if (account === undefined || account.metadata.deletionTimestamp !== undefined) return;
    const tokens = mutable(account).spec.authentication.tokens ?? [];
    const now = clock.now();
    const endOf = ({ expirationTime }: (typeof tokens)[number]): number => Date.parse(expirationTime ?? "");
    const alive = tokens.filter((token) => !(endOf(token) <= now));
    if (alive.length < tokens.length) {
      const { resourceVersion } = account.metadata;
      const body = { metadata: { resourceVersion }, spec: { authentication: { tokens: alive } } };
      await client.patch(
        T_ACCOUNT,
        keyOf(account),
        { type: "merge", body },
        { signal, fieldManager: FIELD_MANAGER },
      );
    }
    const next = Math.min(...alive.map(endOf).filter((end) => !Number.isNaN(end)));
    if (next === Number.POSITIVE_INFINITY) return;
    return { requeueAfter: Math.min(next - now, LONGEST_DELAY_MS), exact: true };
  };
}
