/** What the conditions of a tunnel object say. */
import { type Condition, findCondition } from "@quartet/core";
import { settingsWinner } from "../desired/aggregate.ts";
import { type ConfigDocument, sourceKey } from "../desired/document.ts";
import { settingsProblem } from "../desired/sources/tunnel.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import type { Wanted } from "./conditions.ts";
import { adoptedText, isExisting, type RemoteTunnel } from "./tunnel-remote.ts";

/** Whether the account holds somebody else's configuration (TUN-633, TUN-634). */
export function conflictOf(document: ConfigDocument | undefined): Wanted {
  const { reason = "NoConflict", message = "" } = document?.conflict ?? {};
  return { type: "ConfigConflict", on: document?.conflict !== undefined, reason, message };
}

/** Whose settings count, of several objects that have one tunnel (TUN-626). Told as long as there are several. */
export function settingsOf(tunnel: Cached<AnyTunnel>, document: ConfigDocument | undefined): Wanted[] {
  const type = "SettingsConflict";
  const { kind, metadata, status } = tunnel;
  const own = sourceKey({ kind, namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  const winner = settingsWinner(document?.sources ?? {}, own);
  if (winner !== undefined)
    return [{ type, on: true, reason: "SettingsIgnored", message: `those of ${winner} count` }];
  const told = findCondition(status?.conditions as Condition[] | undefined, type) !== undefined;
  return told ? [{ type, on: false, reason: "NoConflict" }] : [];
}

/** Whether those who serve the tunnel have what the account held at the last comparison (TUN-642). */
export function connectorsOf(document: ConfigDocument | undefined): Wanted[] {
  if (document?.connectors === undefined) return [];
  const type = "ConnectorsUpToDate";
  const { version, total, behind, lagging } = document.connectors;
  if (total === 0)
    return [{ type, on: false, reason: "NoConnectors", message: "no cloudflared is connected" }];
  if (behind === 0)
    return [{ type, on: true, reason: "UpToDate", message: `connectors at version ${version}: ${total}` }];
  const more = behind > lagging.length ? " and others" : "";
  const message = `not at version ${version}: ${behind} of ${total} connectors, ${lagging.join(", ")}${more}`;
  return [{ type, on: false, reason: "Lagging", message }];
}

/** What of the spec cannot be done; all the rest is. */
export function obstacleOf(
  tunnel: Cached<AnyTunnel>,
  remote: RemoteTunnel,
): Pick<Wanted, "reason" | "message"> | undefined {
  const message = settingsProblem(tunnel);
  if (message !== undefined) return { reason: "InvalidConfig", message };
  const name = tunnel.spec?.newTunnel?.name;
  if (!remote.adopted || !name || name === remote.name) return undefined;
  return { reason: "ImmutableField", message: adoptedText(remote) };
}

/** That a tunnel which the spec does not call an existing one was there before; told as long as it is so (TUN-225). */
export function adoptedOf(tunnel: Cached<AnyTunnel>, remote: RemoteTunnel): Wanted[] {
  const type = "Adopted";
  if (remote.adopted && !isExisting(tunnel))
    return [{ type, on: true, reason: "NotCreatedHere", message: adoptedText(remote) }];
  const told = findCondition(tunnel.status?.conditions as Condition[] | undefined, type) !== undefined;
  return told ? [{ type, on: false, reason: remote.adopted ? "ExistingTunnel" : "Owned" }] : [];
}

/** Whether the tunnel, its configuration and the Deployment are in place (TUN-223). */
export function readyOf(
  bad: ReturnType<typeof obstacleOf>,
  synced: boolean,
  active: boolean,
  document: ConfigDocument | undefined,
): Wanted {
  if (bad !== undefined) return { type: "Ready", on: false, ...bad };
  if (active) {
    const message = "the tunnel, its configuration and cloudflared are in place";
    return { type: "Ready", on: true, reason: "Reconciled", message };
  }
  const reason = synced ? "DeploymentPending" : "ConfigPending";
  const message = document?.lastError ?? "waiting for the first configuration";
  return { type: "Ready", on: false, reason, message };
}
