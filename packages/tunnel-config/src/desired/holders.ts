/** Which objects may have one tunnel of the account (TUN-224). */
import type { AnyTunnel, Cached } from "../kinds.ts";

type Tunnels = readonly Cached<AnyTunnel>[];

/** Whether an object may not have the tunnel, since objects that its namespace has no say in have it. */
export function isHeldElsewhere(
  tunnel: Cached<AnyTunnel>,
  tunnelId: string,
  all: Tunnels,
  operatorNamespace: string,
): boolean {
  if (isOfAdministrators(tunnel, operatorNamespace)) return false;
  const has = tunnel.status?.tunnelId === tunnelId;
  return all.some(
    (other) =>
      other.status?.tunnelId === tunnelId &&
      other.metadata.namespace !== tunnel.metadata.namespace &&
      (!has || isOfAdministrators(other, operatorNamespace) || isOlder(other, tunnel)),
  );
}

/** The objects, those without an identifier that may not have the one that their status names. */
export function withoutHeldElsewhere(all: Tunnels, operatorNamespace: string): Tunnels {
  const byId = Map.groupBy(all, ({ status }) => status?.tunnelId ?? "");
  return all.map((tunnel) => {
    const tunnelId = tunnel.status?.tunnelId ?? "";
    const same = byId.get(tunnelId) ?? [];
    if (tunnelId === "" || same.length < 2 || !isHeldElsewhere(tunnel, tunnelId, same, operatorNamespace))
      return tunnel;
    return { ...tunnel, status: { ...tunnel.status!, tunnelId: "" } };
  });
}

function isOfAdministrators({ metadata }: Cached<AnyTunnel>, operatorNamespace: string): boolean {
  return metadata.namespace === undefined || metadata.namespace === operatorNamespace;
}

function isOlder(a: Cached<AnyTunnel>, b: Cached<AnyTunnel>): boolean {
  const age = ({ metadata }: Cached<AnyTunnel>): string =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return age(a) < age(b);
}
