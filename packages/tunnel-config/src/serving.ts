/** Which rule of a tunnel serves a URL, of which object, and what else was asked for (TUN-638). */
import type { DeepReadonly } from "@quartet/core";
import type { ConfigObject } from "@quartet/core/kinds";
import { punycodeOf, routesOf } from "@quartet/tunnel-ingress";
import { CONFIG_KEY } from "./constants.ts";
import { aggregate } from "./desired/aggregate.ts";
import { type Conflict, parseDocument, type Rejection, type SourceRule } from "./desired/document.ts";
import { transmittedOf } from "./desired/history.ts";
import { heldText } from "./reconcile/rollback.ts";

export interface Serving {
  readonly rule: Pick<SourceRule, "hostname" | "path" | "service">;
  /** Place of the rule among all, from 1 on. */
  readonly place: number;
  readonly rules: number;
  /** `Kind/namespace/name` of the object that asked for the rule; absent for the fallback. */
  readonly source?: string;
  /** Others that asked for the same host and path as the rule. */
  readonly conflict?: Conflict;
  /** Rules for the host of the URL, or for a wildcard above it, that were left out. */
  readonly rejected: readonly Rejection[];
  /** That the tunnel is held at a former version, in words: whose rules those are is not known any more. */
  readonly held?: string;
  /** Why a later change could not be sent; what is served is what the API took last. */
  readonly lastError?: string;
}

/**
 * Answers for each URL by what the tunnel's ConfigMap holds.
 * @param urls absolute ones, such as `https://a.example.com/x`
 * @throws Error for an object without a configuration, DocumentError for one that cannot be read
 */
export function servingOf(object: DeepReadonly<ConfigObject>, urls: readonly URL[]): Serving[] {
  const text = object.data?.[CONFIG_KEY];
  if (text === undefined)
    throw new Error(`no ConfigMap of a tunnel: data[${JSON.stringify(CONFIG_KEY)}] is missing`);
  const document = parseDocument(text);
  const { frozen } = document;
  const made = aggregate(document.sources);
  const { rejected } = made;
  const config = frozen === undefined ? made.config : transmittedOf(document).config;
  const { owners, conflicts } = frozen === undefined ? made : { owners: [], conflicts: [] };
  const routes = routesOf(config.ingress);
  return urls.map((url) => {
    const at = routes(url.hostname, decoded(url.pathname));
    const { hostname = "", path = "", service } = config.ingress[at]!;
    const conflict = conflicts.find((one) => one.hostname === hostname && one.path === path);
    return {
      rule: { service, ...(hostname !== "" && { hostname }), ...(path !== "" && { path }) },
      place: at + 1,
      rules: config.ingress.length,
      ...(owners[at] !== undefined && { source: owners[at] }),
      ...(conflict !== undefined && { conflict }),
      rejected: [
        ...rejected,
        ...(document.rejected ?? []).filter(
          ({ fragment, cause }) => fragment !== undefined || cause === "ConfigTooLarge",
        ),
      ].filter((one) => isFor(one.hostname, url.hostname)),
      ...(frozen !== undefined && { held: heldText(frozen) }),
      ...(document.syncStatus !== "Synced" &&
        document.lastError !== undefined && { lastError: document.lastError }),
    };
  });
}

/** Whether a host that was asked for, and may be none that cloudflared takes, is meant for the one of a URL. */
function isFor(asked: string, host: string): boolean {
  const name = (punycodeOf(asked) ?? asked).toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  if (name === "" || name === host) return true;
  const [first = "", ...others] = name.split("*");
  const last = others.pop();
  if (last === undefined || !host.startsWith(first) || !host.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = host.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= host.length - last.length;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
