/** Certificates that rules name and the pods of cloudflared do not have (TUN-722). */
import type { SourceNotice } from "./aggregate.ts";
import type { Sources } from "./document.ts";

/** @param mounted whether the tunnel has a Secret with certificates */
export function unmountedCaPools(sources: Sources, mounted: boolean): SourceNotice[] {
  if (mounted) return [];
  return Object.entries(sources).flatMap(([source, { rules, settings }]) => {
    const options = [settings?.originRequest, ...(rules ?? []).map(({ originRequest }) => originRequest)];
    const pools = new Set(options.flatMap((one) => (typeof one?.caPool === "string" ? [one.caPool] : [])));
    return [...pools].map((pool) => ({
      source,
      reason: "CAPoolNotMounted",
      message: `${pool} is in no pod of cloudflared: the tunnel names no Secret in spec.originCaPool`,
    }));
  });
}
