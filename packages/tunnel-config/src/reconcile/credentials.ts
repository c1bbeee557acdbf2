/** CloudflareCredentials: whether Cloudflare takes them (TUN-107, TUN-108). */
import { type Clock, type Reconcile, seconds } from "@quartet/core";
import { CREDENTIALS } from "../kinds.ts";
import { type AccessOptions, accessOf, defaultCredentials } from "./access.ts";
import type { Backoff } from "./backoff.ts";
import { Problem, problemOf } from "./problem.ts";
import { reportProblem, reportReady } from "./report.ts";

const RECHECK_MS = 3_600_000;
const RETRY_MS = 300_000;

export interface SimpleOptions extends AccessOptions {
  readonly clock: Clock;
  readonly backoff: Backoff;
}

export function createCredentialsReconcile(options: SimpleOptions): Reconcile {
  return async (key, ctx) => {
    const object = await ctx.cache.get(CREDENTIALS, key);
    const id = `CloudflareCredentials/${key.name}`;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined)
      return options.backoff.reset(id);
    const now = options.clock.now();
    const run = { kind: CREDENTIALS, object, ctx, now };
    try {
      const elder = object.spec.isDefault === true ? await defaultCredentials(ctx.cache) : undefined;
      if (elder !== undefined && elder.metadata.name !== key.name) {
        throw new Problem(
          "DefaultTaken",
          `CloudflareCredentials ${elder.metadata.name} is already the default`,
        );
      }
      const { api } = await accessOf(object, ctx.cache, options);
      const checked = Date.parse(object.status?.lastValidatedTime ?? "");
      const fresh =
        object.status?.state === "Ready" &&
        object.status.observedGeneration === object.metadata.generation &&
        now - checked < RECHECK_MS;
      // After a change of the Secret the look-up is due whatever the age; nothing tells it from a restart but a failure.
      if (fresh) return { requeueAfter: checked + RECHECK_MS - now };
      const { name } = await api.account(object.spec.accountId);
      const status = { state: "Ready", validated: true, accountName: name, lastValidatedTime: seconds(now) };
      await reportReady(run, "Validated", status);
      options.backoff.reset(id);
      return { requeueAfter: RECHECK_MS };
    } catch (error) {
      const problem = problemOf(error);
      const retry =
        problem.retryAfterMs === undefined && !problem.transient && problem.reason !== "DefaultTaken"
          ? RETRY_MS
          : undefined;
      const status = { state: "Error", validated: false };
      const result = await reportProblem(run, problem, status, { store: options.backoff, id });
      return retry === undefined ? result : { requeueAfter: retry };
    }
  };
}
