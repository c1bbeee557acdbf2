/** What the next passes would transmit, and what somebody else has changed, without doing anything (TUN-639). */
import { type Client, type Clock, type Kind, messageOf, type SourceReader } from "@quartet/core";
import { CONFIG_MAP, type ConfigObject } from "@quartet/core/kinds";
import { DEFAULT_BASE_URL } from "../cloudflare/client.ts";
import { createExchange } from "../cloudflare/exchange.ts";
import { createRegistry } from "../cloudflare/registry.ts";
import { configMapName, LABELS, VERSION } from "../constants.ts";
import type { Aggregate } from "../desired/aggregate.ts";
import { openApexes } from "../desired/apex.ts";
import { configDiff } from "../desired/config-diff.ts";
import type { ConfigDocument, Rejection } from "../desired/document.ts";
import { transmittedOf } from "../desired/history.ts";
import { shadowedRules } from "../desired/shadows.ts";
import { shareOut } from "../desired/share.ts";
import { refOf, refText } from "../desired/targets.ts";
import { GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, REFERENCE_GRANT } from "../gateway-kinds.ts";
import type { AnyTunnel, Cached } from "../kinds.ts";
import { type AccessOptions, resolveAccess, storedAccess } from "../reconcile/access.ts";
import { type Collected, collect } from "../reconcile/collect.ts";
import { createHostLimits } from "../reconcile/host-limits.ts";
import { holdBack } from "../reconcile/quarantine.ts";
import { heldText } from "../reconcile/rollback.ts";
import { createSecrets } from "../reconcile/secrets.ts";
import { acceptedSources, nextSources } from "../reconcile/sources.ts";
import { configsOf, readStored } from "../reconcile/sync-stored.ts";
import { readWorld } from "../reconcile/world.ts";
import { createLiveReader } from "./live-reader.ts";

export interface PlanOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly operatorNamespace: string;
  /** Namespaces that the manager works in; none means all. */
  readonly namespaces: readonly string[];
  /** Base of the Cloudflare API. Default: Cloudflare's own. */
  readonly baseUrl?: string | undefined;
}

export interface TunnelPlan {
  /** Empty where there is no tunnel yet. */
  readonly tunnelId: string;
  /** The tunnel objects that have it, such as `ClusterTunnel/main`. */
  readonly objects: readonly string[];
  /** Rules that the objects of the cluster ask for, without the last one. */
  readonly rules: number;
  /** What the next transmission changes. */
  readonly unsent: readonly string[];
  /** What somebody else has changed in the account since the last transmission. */
  readonly foreign: readonly string[];
  /** What owners should know of it, each with the source that it is about. */
  readonly warnings: readonly string[];
  /** Rules that are left out. */
  readonly rejected: readonly Rejection[];
  /** That the tunnel is held at a former version, in words; what is not transmitted waits for its release. */
  readonly held?: string;
  /** Why the last transmission failed. */
  readonly lastError?: string;
  /** Why it cannot be compared. */
  readonly problem?: string;
}

/** Whether nothing differs. */
export function isInStep({ unsent, foreign, problem }: TunnelPlan): boolean {
  return unsent.length === 0 && foreign.length === 0 && problem === undefined;
}

/** Compares every tunnel of the cluster; reads alone. */
export async function planTunnels(options: PlanOptions): Promise<TunnelPlan[]> {
  const { client, clock, operatorNamespace, namespaces, baseUrl } = options;
  const places = namespaces.length === 0 ? [] : [...new Set([...namespaces, operatorNamespace])];
  const gateways = [GATEWAY_CLASS, GATEWAY, HTTP_ROUTE, REFERENCE_GRANT] as readonly Kind[];
  const reader = await createLiveReader(client, places, gateways);
  const configMaps = await client.list<ConfigObject>(CONFIG_MAP, {
    namespace: operatorNamespace,
    labelSelector: LABELS.tunnelId,
    limit: 0,
  });
  const cache = { ...reader, list: listOf(reader, configMaps.items) };
  const apiFor = createRegistry({
    baseUrl: baseUrl ?? DEFAULT_BASE_URL,
    calls: 0,
    exchange: createExchange(),
    clock,
    version: VERSION,
  });
  const access = { operatorNamespace, apiFor, secrets: createSecrets(client), assertAlone: async () => {} };
  const world = await readWorld(cache, operatorNamespace);
  const others = await configsOf({ cache });
  const limits = await createHostLimits()(cache, world);
  const ids = new Set([...world.tunnels.map(({ status }) => status?.tunnelId ?? ""), ...others.keys()]);
  const plans: TunnelPlan[] = world.tunnels.filter(hasNone).map(withoutTunnel);
  for (const tunnelId of [...ids].filter((id) => id !== "").sort()) {
    const collected = await collect(tunnelId, world, cache);
    const object = configMaps.items.find(({ metadata }) => metadata.name === configMapName(tunnelId));
    const { document, broken, foreign } = readStored(object, tunnelId);
    const limit = limits(tunnelId);
    const wanted = nextSources(document, collected, others, clock.now(), namespaces, limit);
    const accepted = acceptedSources(document, namespaces, limit);
    const allowed = holdBack(wanted, accepted, document.rejected, clock.now());
    const { desired: rendered, rejected } = shareOut(document, allowed.sources, accepted, allowed.rejected);
    const plan = {
      tunnelId,
      objects: collected.owners.map((owner) => refText(refOf(owner))),
      rules: rendered.config.ingress.length - 1,
      warnings: warningsOf(collected, rendered),
      rejected: [...rendered.rejected, ...allowed.rejected, ...rejected],
      ...(document.frozen !== undefined && { held: heldText(document.frozen) }),
      ...(document.syncStatus !== "Synced" &&
        document.lastError !== undefined && { lastError: document.lastError }),
    };
    const unreadable = foreign ?? (broken === undefined ? undefined : "config.json cannot be read");
    const outcome =
      unreadable === undefined
        ? await compare(tunnelId, collected, document, rendered, cache, access).catch((error: unknown) =>
            failed(messageOf(error)),
          )
        : failed(unreadable);
    plans.push({ ...plan, ...outcome });
  }
  return plans;
}

function warningsOf({ contributors }: Collected, rendered: Aggregate): string[] {
  const own = [...contributors].flatMap(([source, { notices }]) =>
    notices.map(({ message }) => ({ source, message })),
  );
  const all = [...own, ...rendered.notices, ...shadowedRules(rendered), ...openApexes(rendered)];
  return [...new Set(all.map(({ source, message }) => `${source}: ${message}`))];
}

type Outcome = Pick<TunnelPlan, "unsent" | "foreign" | "problem">;

const failed = (problem: string): Outcome => ({ unsent: [], foreign: [], problem });

/** Of ConfigMaps only those with configurations are looked at. */
function listOf(reader: SourceReader, configMaps: readonly ConfigObject[]): SourceReader["list"] {
  return (async (kind: Kind, filter) =>
    kind === (CONFIG_MAP as Kind) ? configMaps : reader.list(kind, filter)) as SourceReader["list"];
}

async function compare(
  tunnelId: string,
  { owners }: Collected,
  document: ConfigDocument,
  rendered: Aggregate,
  cache: SourceReader,
  options: AccessOptions,
): Promise<Outcome> {
  const [owner] = owners;
  const access =
    owner === undefined
      ? await storedAccess(document.credentialsRef, cache, options)
      : await resolveAccess(owner.spec?.cloudflare, owner.metadata.namespace ?? "", cache, options);
  const account = owner?.status?.accountId || access.accountId || document.accountId;
  if (!account) throw new Error("its account is unknown");
  if ((await access.api.tunnel(account, tunnelId)) === undefined)
    return failed("the account has no such tunnel any more");
  const { config: remote } = await access.api.configuration(account, tunnelId);
  const sent = document.configVersion === undefined ? undefined : transmittedOf(document).config;
  const wanted = { ...rendered.config };
  return {
    unsent: configDiff(sent === undefined ? remote : { ...sent }, wanted, (place) => rendered.owners[place]),
    foreign: sent === undefined ? [] : configDiff({ ...sent }, remote),
  };
}

function hasNone({ status, metadata }: Cached<AnyTunnel>): boolean {
  return !status?.tunnelId && metadata.deletionTimestamp === undefined;
}

function withoutTunnel(tunnel: Cached<AnyTunnel>): TunnelPlan {
  const ready = (
    tunnel.status?.conditions as readonly { type: string; message?: string }[] | undefined
  )?.find(({ type }) => type === "Ready");
  const why = ready?.message ? `: ${ready.message}` : "";
  const nothing = { tunnelId: "", rules: 0, unsent: [], foreign: [], warnings: [], rejected: [] };
  return { ...nothing, objects: [refText(refOf(tunnel))], problem: `has no tunnel yet${why}` };
}
