/** CloudflareDomain: the zone of a name (TUN-111). */
import { type Reconcile, seconds } from "@quartet/core";
import { DOMAIN } from "../kinds.ts";
import { resolveAccess } from "./access.ts";
import type { SimpleOptions } from "./credentials.ts";
import { Problem, problemOf } from "./problem.ts";
import { reportProblem, reportReady } from "./report.ts";

const RECHECK_MS = 3_600_000;

export function createDomainReconcile(options: SimpleOptions): Reconcile {
  return async (key, ctx) => {
    const object = await ctx.cache.get(DOMAIN, key);
    const id = `CloudflareDomain/${key.name}`;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined)
      return options.backoff.reset(id);
    const now = options.clock.now();
    const run = { kind: DOMAIN, object, ctx, now };
    const { domain, zoneId, credentialsRef } = object.spec;
    try {
      const verified = Date.parse(object.status?.lastVerifiedTime ?? "");
      const fresh =
        object.status?.state === "Ready" &&
        object.status.observedGeneration === object.metadata.generation &&
        now - verified < RECHECK_MS;
      if (fresh) return { requeueAfter: verified + RECHECK_MS - now };
      const spec = credentialsRef === undefined ? undefined : { credentialsRef };
      const { api } = await resolveAccess(spec, "", ctx.cache, options);
      const found = zoneId ? [await api.zone(zoneId)] : await api.zonesNamed(domain.toLowerCase());
      const [zone] = found;
      if (zone === undefined || found.length > 1) {
        const message =
          zone === undefined ? `no zone ${domain} in the account` : `more than one zone ${domain}`;
        throw new Problem("ZoneNotFound", message, { retryAfterMs: 300_000 });
      }
      const status = {
        state: "Ready",
        zoneId: zone.id,
        zoneName: zone.name,
        accountId: zone.account?.id ?? "",
        nameServers: zone.name_servers ?? [],
        zoneStatus: zone.status ?? "",
        lastVerifiedTime: seconds(now),
        message: "",
      };
      await reportReady(run, "Verified", status);
      options.backoff.reset(id);
      return { requeueAfter: RECHECK_MS };
    } catch (error) {
      const problem = problemOf(error);
      return reportProblem(
        run,
        problem,
        { state: "Error", message: problem.message },
        { store: options.backoff, id },
      );
    }
  };
}
