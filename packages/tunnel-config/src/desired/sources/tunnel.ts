/** What a Tunnel or ClusterTunnel contributes to its own configuration (section 7.1). */
import type { AnyTunnel, Cached } from "../../kinds.ts";
import { DEFAULT_FALLBACK } from "../aggregate.ts";
import { serviceProblem } from "../check-rule.ts";
import type { Source, Unknown } from "../document.ts";
import { CA_DIRECTORY, optionsOf, overlay } from "./origin.ts";

const PRIORITY = 10;

/** The source of a tunnel. A fallback that cannot be served is left out: {@link fallbackProblem} says why. */
export function tunnelSource(tunnel: Cached<AnyTunnel>): Source {
  const { metadata, spec, kind } = tunnel;
  const target = spec?.fallbackTarget ?? "";
  const fallback =
    target === "" || target === DEFAULT_FALLBACK || serviceProblem(target) !== undefined ? undefined : target;
  const simple = {
    ...(spec?.noTlsVerify === true && { noTLSVerify: true }),
    ...(spec?.originCaPool && { caPool: `${CA_DIRECTORY}/tls.crt` }),
  };
  const originRequest = overlay(simple, optionsOf(spec?.originRequest as Unknown | undefined));
  return {
    kind,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    name: metadata.name ?? "",
    generation: metadata.generation ?? 0,
    priority: PRIORITY,
    ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
    settings: {
      warpRouting: spec?.enableWarpRouting === true,
      ...(fallback !== undefined && { fallbackTarget: fallback }),
      ...(originRequest !== undefined && { originRequest }),
    },
    rules: [],
  };
}

/** Why the fallback cannot be served, or nothing (TUN-405). */
export function fallbackProblem({ spec }: Cached<AnyTunnel>): string | undefined {
  const target = spec?.fallbackTarget ?? "";
  return target === "" ? undefined : serviceProblem(target);
}
