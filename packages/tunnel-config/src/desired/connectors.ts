/** Whether those who serve a tunnel have the configuration that the account holds (TUN-642). */
import type { Connector } from "../cloudflare/api.ts";
import type { ConnectorState } from "./document.ts";

/** Connectors that are named. */
const MAX_NAMED = 5;
/** Longest identifier that is kept. */
const MAX_ID = 64;

/** What the connectors of a tunnel have against a version; those without connections serve nothing and do not count. */
export function connectorState(connectors: readonly Connector[], version: number): ConnectorState {
  const live = connectors.filter(({ conns }) => (conns ?? []).length > 0);
  const behind = live.filter(({ config_version: own }) => typeof own !== "number" || own < version);
  const ids = behind.map(({ id }) => String(id).slice(0, MAX_ID)).sort();
  return { version, total: live.length, behind: behind.length, lagging: ids.slice(0, MAX_NAMED) };
}
