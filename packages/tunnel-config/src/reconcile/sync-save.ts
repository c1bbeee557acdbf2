/** Keeps what a pass has found in the ConfigMap of the tunnel, and tells owners what became of their sources. */
import { CONFIG_MAP } from "@quartet/core/kinds";
import { openApexes } from "../desired/apex.ts";
import { unmountedCaPools } from "../desired/ca-pools.ts";
import type { ConfigDocument } from "../desired/document.ts";
import { shadowedRules } from "../desired/shadows.ts";
import { tellOutcome, tellRoom } from "./sync-events.ts";
import { type Pass, target } from "./sync-pass.ts";
import { saveDocument } from "./sync-store.ts";

/** Keeps what was found; without sources and owners there is nothing to keep (TUN-310). */
export async function saveOrDelete(current: Pass, document: ConfigDocument): Promise<void> {
  const { key, ctx, sources, collected, stored } = current;
  if (Object.keys(sources).length === 0 && collected.owners.length === 0) {
    if (stored.object !== undefined) await ctx.client.deleteIfExists(CONFIG_MAP, key);
    return;
  }
  await save(current, document);
}

/**
 * A pass that sends nothing. The sources stay those that the API took last: by them it is told what it refuses (TUN-630), and
 * what somebody else has changed (TUN-632).
 */
export function unsent(current: Pass): Pass {
  return { ...current, sources: current.stored.document.sources };
}

/** Writes the document with the sources of the pass. */
export async function save(current: Pass, document: ConfigDocument): Promise<void> {
  const { key, ctx, options, stored, collected, sources, desired } = current;
  const outcome = { ...desired, rejected: [...desired.rejected, ...current.held] };
  tellOutcome(ctx.events, collected, stored.document, outcome);
  tellRoom(ctx.events, target(current), stored.document, outcome.rejected);
  const told = [
    ...unmountedCaPools(sources, mountsCaPool(collected.owners)),
    ...shadowedRules(desired),
    ...openApexes(desired),
  ];
  options.notices.tell(key.name, ctx.events, collected, [...desired.notices, ...told]);
  const { conflicts, rejected } = outcome;
  options.metrics.holds(current.tunnelId, outcome.config.ingress.length - 1, conflicts.length);
  const next = { ...document, sources, conflicts, rejected };
  await saveDocument(
    {
      key,
      client: ctx.client,
      stored,
      owners: collected.owners,
      operatorNamespace: options.operatorNamespace,
      history: current.history,
    },
    next,
  );
}

/** Whether the pods of cloudflared have a directory of certificates. */
function mountsCaPool(owners: Pass["collected"]["owners"]): boolean {
  return owners.some(({ spec }) => Boolean(spec?.originCaPool));
}
