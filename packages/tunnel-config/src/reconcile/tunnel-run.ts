/** One pass over a tunnel object, and what its steps share. */
import type { Clock, Kind, ObjectKey, ReconcileContext, SourceReader } from "@quartet/core";
import { CONFIG_MAP } from "@quartet/core/kinds";
import { CONFIG_KEY, configMapName } from "../constants.ts";
import { type ConfigDocument, parseDocument } from "../desired/document.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import type { AccessOptions } from "./access.ts";
import type { Backoff } from "./backoff.ts";

export interface TunnelOptions extends AccessOptions {
  readonly clock: Clock;
  readonly image: string;
  readonly backoff: Backoff;
}

export interface TunnelRun {
  readonly kind: Kind<AnyTunnel>;
  readonly key: ObjectKey;
  readonly tunnel: Cached<AnyTunnel>;
  readonly ctx: ReconcileContext;
  readonly options: TunnelOptions;
}

/** Namespace of what a tunnel object makes (TUN-212). */
export function childNamespace({ tunnel, options }: Pick<TunnelRun, "tunnel" | "options">): string {
  return tunnel.metadata.namespace ?? options.operatorNamespace;
}

/** The document of a tunnel, as far as there is a readable one. */
export async function storedDocument(
  tunnelId: string | undefined,
  cache: SourceReader,
  operatorNamespace: string,
): Promise<ConfigDocument | undefined> {
  if (!tunnelId) return undefined;
  const key = { namespace: operatorNamespace, name: configMapName(tunnelId) };
  const text = (await cache.get(CONFIG_MAP, key))?.data?.[CONFIG_KEY];
  try {
    return text === undefined ? undefined : parseDocument(text);
  } catch {
    return undefined;
  }
}
