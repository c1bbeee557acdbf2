/** What the objects of the cluster contribute to one tunnel, at this moment. */
import type { KubeObject, SourceReader } from "@quartet/core";
import { type Source, sourceKey } from "../desired/document.ts";
import type { OptionNotice } from "../desired/origin-request.ts";
import { bindingRef, bindingSource } from "../desired/sources/binding.ts";
import { ingressSource } from "../desired/sources/ingress.ts";
import { tunnelSource } from "../desired/sources/tunnel.ts";
import { ingressTarget, type Target } from "../desired/targets.ts";
import { type AnyTunnel, type Cached, INGRESS, TUNNEL_BINDING } from "../kinds.ts";
import { type PlacedAttachment, readGateways } from "./gateway-world.ts";
import type { World } from "./world.ts";
import { serviceLookup } from "./world.ts";

export interface Contributor {
  readonly object: Cached<KubeObject>;
  readonly source: Source;
  readonly notices: readonly OptionNotice[];
}

export interface Collected {
  /** Tunnel objects of the tunnel that are not being deleted. */
  readonly owners: readonly Cached<AnyTunnel>[];
  /** Contributions by source key. */
  readonly contributors: ReadonlyMap<string, Contributor>;
  /** Tunnel that a source is for instead of this one: its identifier, or nothing as long as that is unknown. */
  readonly elsewhere: ReadonlyMap<string, string | undefined>;
  /** Kinds whose objects cannot be seen now, though they may be there. */
  readonly unseen: ReadonlySet<string>;
}

/** Goes through all sources for one tunnel. */
export async function collect(tunnelId: string, world: World, cache: SourceReader): Promise<Collected> {
  const contributors = new Map<string, Contributor>();
  const elsewhere = new Map<string, string | undefined>();
  const service = await serviceLookup(cache);
  const owners = world.tunnels.filter(
    ({ status, metadata }) => status?.tunnelId === tunnelId && metadata.deletionTimestamp === undefined,
  );
  for (const owner of owners) {
    const source = tunnelSource(owner);
    contributors.set(sourceKey(source), { object: owner, source, notices: [] });
  }
  const place = (key: string, target: Target, contribute: () => Contributor): void => {
    if (target.state === "foreign") return;
    const id = target.state === "known" ? world.tunnel(target.ref)?.status?.tunnelId : undefined;
    if (id === tunnelId) contributors.set(key, contribute());
    else elsewhere.set(key, id);
  };
  for (const ingress of await cache.list(INGRESS)) {
    if (ingress.metadata.deletionTimestamp !== undefined) continue;
    const target = ingressTarget(ingress, world);
    const key = keyOf("Ingress", ingress);
    const config = target.state === "known" ? target.config : undefined;
    place(key, target, () => ({ object: ingress, ...ingressSource(ingress, { config, service }) }));
  }
  for (const binding of await cache.list(TUNNEL_BINDING)) {
    const ref = bindingRef(binding);
    if (ref === undefined || binding.metadata.deletionTimestamp !== undefined) continue;
    const domain = world.tunnel(ref)?.spec?.cloudflare?.domain;
    place(keyOf("TunnelBinding", binding), { state: "known", ref }, () => {
      const { source, notices } = bindingSource(binding, { domain, service });
      return { object: binding, source, notices };
    });
  }
  const gateways = await readGateways(cache, world);
  for (const route of gateways.routes) {
    const attached = gateways.attachments(route).filter(({ refusal }) => refusal === undefined);
    const here = attached.filter((one) => one.tunnelId === tunnelId);
    const key = keyOf("HTTPRoute", route);
    if (here.length > 0) contributors.set(key, { object: route, ...gateways.contribution(route, here) });
    else if (attached.some(isUnplaced)) elsewhere.set(key, undefined);
    else if (attached.some(({ target }) => target.state === "known"))
      elsewhere.set(key, attached[0]?.tunnelId);
  }
  const unseen = new Set(gateways.served ? [] : ["HTTPRoute"]);
  return { owners, contributors, elsewhere, unseen };
}

/** Whether the Gateway is ours, and its tunnel cannot be told now. */
function isUnplaced({ target, tunnelId }: PlacedAttachment): boolean {
  return target.state === "unknown" || (target.state === "known" && tunnelId === undefined);
}

function keyOf(kind: string, { metadata }: Cached<KubeObject>): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}
