/** What a Tunnel or ClusterTunnel contributes to its own configuration (section 7.1). */
import type { AnyTunnel, Cached } from "../../kinds.ts";
import { DEFAULT_FALLBACK } from "../aggregate.ts";
import { originProblem, serviceProblem } from "../check-rule.ts";
import type { Source, Unknown } from "../document.ts";
import { cleanOriginRequest } from "../origin-request.ts";
import { CA_DIRECTORY, optionsOf, overlay } from "./origin.ts";

const PRIORITY = 10;

/** The source of a tunnel. A fallback that cannot be served is left out: {@link settingsProblem} says why. */
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

/** Which of the settings cannot be used, or nothing (TUN-405). */
export function settingsProblem({ spec }: Cached<AnyTunnel>): string | undefined {
  const target = spec?.fallbackTarget ?? "";
  const problem = target === "" ? undefined : serviceProblem(target);
  if (problem !== undefined) return `spec.fallbackTarget: ${problem}`;
  const options = optionsOf(spec?.originRequest as Unknown | undefined);
  const { originRequest, notices } = cleanOriginRequest(options);
  if (notices.length > 0) return `spec.${notices.map(({ message }) => message).join("; ")}`;
  const refused = originRequest === undefined ? undefined : originProblem(originRequest);
  return refused === undefined ? undefined : `spec.originRequest: ${refused}`;
}
