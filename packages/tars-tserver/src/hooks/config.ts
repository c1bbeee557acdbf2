/** Validation of TConfigs, which also marks the versions that a new one takes the place of (V-040 to 052). */
import { type DeepReadonly, isConflict, isNotFound, type KubeObject, messageOf } from "@quartet/core";
import type { AdmissionContext, Refusal } from "@quartet/core/webhook";
import {
  type ConfigFacts,
  familyKey,
  isInForce,
  isMasterInForce,
  itemKey,
  MASTER,
  slavesDenial,
  validateConfigDelete,
  validateConfigUpdate,
  validateNewConfig,
} from "../admission/config.ts";
import type { TConfig } from "../api.gen.ts";
import { FIELD_MANAGER } from "../identity.ts";
import { T_CONFIG } from "../kinds.ts";
import {
  ACTIVATED_LABEL,
  APP_LABEL,
  CONFIG_NAME_LABEL,
  DEACTIVATE_LABEL,
  DEACTIVATE_VALUE,
  DELETING_LABEL,
  DELETING_VALUE,
  POD_SEQ_LABEL,
  SERVER_LABEL,
} from "../labels.ts";
import { type HookContext, isReferredTo, namespaceOf, selectorOf, verdict } from "./context.ts";

type Answer = readonly [] | Refusal;

/** Marks in one request at the most; the controller finishes what is left of a long history. */
const MAX_MARKS = 32;
/** Tries of one mark before the request is refused. */
const MARK_TRIES = 3;

/** CREATE. */
export async function createConfig(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const config = object as DeepReadonly<TConfig>;
  const lookups = await context.lookups(ctx.signal);
  const known = lookups.family(namespaceOf(ctx.request), familyKey(config));
  let denial = validateNewConfig(config, known);
  // The master may be newer than the cache (API-005).
  if (denial !== undefined) denial = validateNewConfig(config, await liveFamily(config, ctx, context));
  if (denial !== undefined) return verdict(denial);
  return config.activated === true ? takeOver(config, ctx, context) : [];
}

async function liveFamily(
  config: DeepReadonly<TConfig>,
  { request, signal }: AdmissionContext,
  { client }: HookContext,
): Promise<ConfigFacts[]> {
  const labels = {
    [APP_LABEL]: config.app,
    [SERVER_LABEL]: config.server ?? "",
    [CONFIG_NAME_LABEL]: config.configName,
    [POD_SEQ_LABEL]: MASTER,
    [ACTIVATED_LABEL]: "true",
  };
  const labelSelector = selectorOf(labels);
  const { items } = await client.list(T_CONFIG, { namespace: namespaceOf(request), labelSelector, signal });
  return items;
}

/** UPDATE. */
export async function updateConfig(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const config = object as DeepReadonly<TConfig>;
  const old = ctx.old as DeepReadonly<TConfig>;
  if (await context.identities.isOperator(ctx.request)) return [];
  const denial = validateConfigUpdate(config, old);
  if (denial !== undefined) return verdict(denial);
  return config.activated === true && old.activated !== true ? takeOver(config, ctx, context) : [];
}

/** DELETE. */
export async function deleteConfig(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const { identities, clock, deleteGuardMs } = context;
  if (identities.isSystem(ctx.request) || (await identities.isOperator(ctx.request))) return [];
  const config = object as DeepReadonly<TConfig>;
  const lookups = await context.lookups(ctx.signal);
  const family = lookups.family(namespaceOf(ctx.request), familyKey(config));
  const result = validateConfigDelete(config, family, { ms: deleteGuardMs, now: clock.now() });
  if ("denied" in result) return verdict(result.denied);
  if (isMasterInForce(config) && (await isReferredTo(context, T_CONFIG, slaves(config), ctx))) {
    return verdict(slavesDenial(config));
  }
  return mark(result.doomed, { [DELETING_LABEL]: DELETING_VALUE }, ctx, context);
}

/** Selector of the slaves of a master. */
function slaves({ app, server = "", configName }: DeepReadonly<TConfig>): string {
  const family = { [APP_LABEL]: app, [SERVER_LABEL]: server, [CONFIG_NAME_LABEL]: configName };
  return `${selectorOf(family)},${POD_SEQ_LABEL}!=${MASTER}`;
}

/** Marks the versions in force, so that no reader sees two of them (V-046). */
async function takeOver(
  config: DeepReadonly<TConfig>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const lookups = await context.lookups(ctx.signal);
  const others = lookups
    .item(namespaceOf(ctx.request), itemKey(config))
    .filter((one) => one.metadata.name !== config.metadata.name && isInForce(one));
  return mark(others, { [DEACTIVATE_LABEL]: DEACTIVATE_VALUE }, ctx, context);
}

async function mark(
  configs: readonly ConfigFacts[],
  labels: Readonly<Record<string, string>>,
  { dryRun, signal, request }: AdmissionContext,
  { client }: HookContext,
): Promise<Answer> {
  if (dryRun) return [];
  for (const { metadata } of configs.slice(0, MAX_MARKS)) {
    const key = { namespace: namespaceOf(request), name: metadata.name ?? "" };
    const body = { metadata: { ...(metadata.uid !== undefined && { uid: metadata.uid }), labels } };
    try {
      await retrying(() =>
        client.patch(T_CONFIG, key, { type: "merge", body }, { signal, fieldManager: FIELD_MANAGER }),
      );
    } catch (error) {
      if (isNotFound(error)) continue;
      return verdict(`tconfig ${key.namespace}/${key.name} cannot be marked: ${messageOf(error)}`);
    }
  }
  return [];
}

async function retrying(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isConflict(error) || tries >= MARK_TRIES) throw error;
    }
  }
}
