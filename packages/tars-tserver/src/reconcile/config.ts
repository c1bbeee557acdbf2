/** Versions of one item of configuration: one in force, a history of bounded length (R-050 to 058). */
import {
  type Clock,
  type DeepReadonly,
  isNotFound,
  keyOf,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import { isDeactivating, isDeleting, isInForce, itemKey } from "../admission/config.ts";
import type { TConfig } from "../api.gen.ts";
import { frameworkSettings } from "../desired/framework.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_CONFIG } from "../kinds.ts";
import { ACTIVATED_AT_ANNOTATION, ACTIVATED_LABEL, DEACTIVATE_LABEL, DEACTIVATING_LABEL } from "../labels.ts";
import type { ConfigAction, ConfigMetrics } from "../metrics.ts";
import type { Lookups } from "../sources.ts";

/** After so long a mark that no other version explains is taken off again, ms. */
const STALE_MARK_MS = 5_000;
/** Writes of one pass at the most: a long history goes in several, and others get their turn. */
const MAX_WRITES = 50;

type Config = DeepReadonly<TConfig>;
type Write = (config: Config, ctx: ReconcileContext) => Promise<void>;

export interface ConfigParts {
  readonly lookups: (signal: AbortSignal) => Promise<Lookups>;
  readonly clock: Clock;
  readonly metrics: ConfigMetrics;
}

/** The item of a configuration as a key. */
export function configItem(config: Config): ObjectKey[] {
  return [{ namespace: config.metadata.namespace ?? "", name: itemKey(config) }];
}

/** The reconcile of items; their keys are those of {@link configItem}. */
export function createConfigReconcile({ lookups, clock, metrics }: ConfigParts): Reconcile {
  /** When a mark was first seen that no other version explains, ms of the monotonic clock, by UID. */
  const marked = new Map<string, number>();
  return async (key, ctx) => {
    const cache = await lookups(ctx.signal);
    const versions = cache
      .item(key.namespace, key.name)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const limit = frameworkSettings(cache.framework(key.namespace)).configHistory;
    const plan = planItem(versions, limit);
    forgetOthers(marked, versions, plan.unexplained);
    const now = clock.monotonic();
    const restored = plan.unexplained.filter(({ metadata: { uid = "" } }) => {
      const since = marked.get(uid) ?? now;
      marked.set(uid, since);
      return now - since >= STALE_MARK_MS;
    });
    const of = (configs: readonly Config[], action: ConfigAction, write: Write) =>
      configs.map((config) => ({ config, action, write }));
    const writes = [
      ...of(plan.deactivate, "deactivated", deactivate),
      ...of(restored, "restored", unmark),
      ...of(plan.remove, "deleted", remove),
    ];
    for (const { config, action, write } of writes.slice(0, MAX_WRITES)) {
      await write(config, ctx);
      metrics.changed(action);
    }
    if (writes.length > MAX_WRITES) return { requeueAfter: 0, exact: true };
    const waiting = plan.unexplained.length > restored.length;
    return waiting ? { requeueAfter: STALE_MARK_MS, exact: true } : undefined;
  };
}

interface ItemPlan {
  readonly deactivate: readonly Config[];
  /** Marked to be deactivated, although nothing takes their place. */
  readonly unexplained: readonly Config[];
  readonly remove: readonly Config[];
}

/** What is to be done about the versions of an item. */
export function planItem(versions: readonly Config[], limit: number): ItemPlan {
  const doomed = versions.filter(isDeleting);
  const rest = versions.filter((config) => !isDeleting(config));
  const inForce = inOrder(rest.filter(isInForce), activationOf);
  const marked = rest.filter((config) => config.activated === true && isDeactivating(config));
  const stillMarked = rest.filter((config) => config.activated !== true && isDeactivating(config));
  // The latest one stays; of several, the others were activated at the same time.
  const [, ...overtaken] = [...inForce].reverse();
  const explained = inForce.length > 0;
  const inactive = [
    ...rest.filter((config) => config.activated !== true),
    ...overtaken,
    ...(explained ? marked : []),
  ];
  const surplus = inOrder(inactive, creationOf).slice(0, Math.max(0, inactive.length - limit));
  const gone = new Set([...doomed, ...surplus]);
  return {
    deactivate: [...overtaken, ...(explained ? marked : []), ...stillMarked].filter(
      (config) => !gone.has(config),
    ),
    unexplained: explained ? [] : marked,
    remove: [...gone],
  };
}

const creationOf = ({ metadata }: Config): string => metadata.creationTimestamp ?? "";
const activationOf = (config: Config): string =>
  config.metadata.annotations?.[ACTIVATED_AT_ANNOTATION] ?? config.updateTime ?? creationOf(config);

/** By a time, then by age, version and name. Each time is read once: an item may have thousands of versions. */
function inOrder(configs: readonly Config[], timeOf: (config: Config) => string): Config[] {
  const at = (text: string): number => Date.parse(text) || 0;
  return configs
    .map((config) => ({ config, time: at(timeOf(config)), created: at(creationOf(config)) }))
    .sort(
      (a, b) =>
        a.time - b.time ||
        a.created - b.created ||
        compare(a.config.version ?? "", b.config.version ?? "") ||
        compare(a.config.metadata.name ?? "", b.config.metadata.name ?? ""),
    )
    .map(({ config }) => config);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function forgetOthers(
  marked: Map<string, number>,
  versions: readonly Config[],
  unexplained: readonly Config[],
): void {
  const kept = new Set(unexplained.map(({ metadata }) => metadata.uid));
  for (const {
    metadata: { uid = "" },
  } of versions)
    if (!kept.has(uid)) marked.delete(uid);
}

async function deactivate(config: Config, ctx: ReconcileContext): Promise<void> {
  await patch(config, ctx, {
    metadata: { labels: { [ACTIVATED_LABEL]: "false", ...WITHOUT_MARKS } },
    activated: false,
  });
}

const WITHOUT_MARKS = { [DEACTIVATE_LABEL]: null, [DEACTIVATING_LABEL]: null };

function unmark(config: Config, ctx: ReconcileContext): Promise<void> {
  return patch(config, ctx, { metadata: { labels: WITHOUT_MARKS } });
}

async function patch(config: Config, { client, signal }: ReconcileContext, body: object): Promise<void> {
  const options = { signal, fieldManager: FIELD_MANAGER };
  await client.patch(T_CONFIG, keyOf(config), { type: "merge", body }, options).catch((error) => {
    if (!isNotFound(error)) throw error;
  });
}

async function remove(config: Config, { client, signal }: ReconcileContext): Promise<void> {
  const { uid } = config.metadata;
  await client.deleteIfExists(T_CONFIG, keyOf(config), {
    signal,
    ...(uid !== undefined && { preconditions: { uid } }),
  });
}
