/** The host policies of all tunnels, as they are now (TUN-650 to TUN-654). */
import type { SourceReader } from "@quartet/core";
import { NAMESPACE } from "@quartet/core/kinds";
import type { Source } from "../desired/document.ts";
import { type CompiledGrants, compileGrants, hostPolicy, limitSource } from "../desired/host-policy.ts";
import { refOf, refText } from "../desired/targets.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import type { World } from "./world.ts";

type Labels = Readonly<Record<string, string>>;

/** Marks what a source may not claim. */
export type HostLimit = (source: Source) => Source;

/** Limits by the identifier of a tunnel. */
export type HostLimits = (tunnelId: string | undefined) => HostLimit;

/** Reads the policies and the labels of namespaces; what it prepares of a policy is kept as long as that is there. */
export function createHostLimits(): (cache: SourceReader, world: World) => Promise<HostLimits> {
  const known = new WeakMap<object, CompiledGrants>();
  return async (cache, world) => {
    const spaces = await cache.list(NAMESPACE);
    let labels: ReadonlyMap<string, Labels> | undefined;
    const labelsOf = (name: string): Labels => {
      labels ??= new Map(spaces.map(({ metadata }) => [metadata.name ?? "", metadata.labels ?? {}]));
      return labels.get(name) ?? {};
    };
    const policyOf = (tunnel: Cached<AnyTunnel>) => {
      const grants = tunnel.spec?.hostPolicy;
      if (grants === undefined) return [];
      const compiled = known.get(grants) ?? compileGrants(grants);
      known.set(grants, compiled);
      return [hostPolicy(compiled, refText(refOf(tunnel)), labelsOf)];
    };
    return (tunnelId) => {
      // One that is being deleted still has its say: its sources outlive it.
      const objects = world.tunnels.filter(({ status }) => tunnelId && status?.tunnelId === tunnelId);
      if (objects.length === 0) return (source) => source;
      const policies = objects.flatMap(policyOf);
      return (source) => limitSource(source, policies);
    };
  };
}
