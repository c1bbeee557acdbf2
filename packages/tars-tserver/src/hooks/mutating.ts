/** Defaulting on the way to the API server, by kind. */
import type { DeepReadonly, KubeObject } from "@quartet/core";
import { isNotFound } from "@quartet/core";
import type { AdmissionContext, Mutate, Refusal } from "@quartet/core/webhook";
import { hash } from "bcryptjs";
import { mutateAccount } from "../admission/account.ts";
import { mutateConfig } from "../admission/config.ts";
import { mutateDeploy } from "../admission/deploy.ts";
import { mutateImage } from "../admission/image.ts";
import {
  type AnyServer,
  imageServer,
  isAutoReleased,
  lacksNodeImage,
  mutateServer,
  scaledReplicas,
} from "../admission/mutate-server.ts";
import { mutateTemplate } from "../admission/template.ts";
import { mutateTree } from "../admission/tree.ts";
import type { TAccount, TConfig, TDeploy, TImage, TTemplate, TTree } from "../api.gen.ts";
import { frameworkSettings } from "../desired/framework.ts";
import { T_FRAMEWORK_CONFIG, T_SERVER } from "../kinds.ts";
import { FRAMEWORK_NAME } from "../labels.ts";
import { counted, type HookContext, namespaceOf, refusal, timeOf } from "./context.ts";

/** Rounds of bcrypt are two to the power of this (D21). */
const BCRYPT_COST = 10;

type Answer = KubeObject | Refusal;
type Handler = (object: KubeObject, ctx: AdmissionContext, context: HookContext) => Answer | Promise<Answer>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  TServer: (object, ctx, context) => mutateTServer(object as AnyServer, ctx, context),
  Scale: mutateScale,
  TConfig: (object, { old }, { clock }) =>
    mutateConfig(object as TConfig, old as DeepReadonly<TConfig> | undefined, clock.now()),
  TTemplate: (object) => mutateTemplate(object as TTemplate),
  TAccount: mutateTAccount,
  TImage: (object, _ctx, { clock }) => mutateImage(object as TImage, timeOf(clock.now())),
  TTree: (object) => mutateTree(object as TTree),
  TDeploy: (object, { request }) => mutateDeploy(object as TDeploy, request.operation === "CREATE"),
};

/** The mutating webhook of all kinds. What it does not know it lets through with a warning (API-003). */
export function mutating(context: HookContext): Mutate {
  return async (object, ctx) => {
    const { kind } = ctx.request.kind;
    const handler = HANDLERS[kind];
    if (handler !== undefined) return counted(context, ctx, await handler(object, ctx, context));
    ctx.warn(`quartet has no defaults for ${kind}`);
    return object;
  };
}

async function mutateTServer(
  object: AnyServer,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const { signal, request } = ctx;
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const { spec } = object;
  const automatic = isAutoReleased(object);
  const needsNode = automatic || lacksNodeImage(object);
  const framework =
    lookups.framework(namespace) ?? (needsNode ? await liveFramework(context, namespace, signal) : undefined);
  const images = automatic ? lookups.images(namespace, spec.app, imageServer(spec.app, spec.server)) : [];
  const result = mutateServer(object, {
    nodeImage: frameworkSettings(framework).nodeImage,
    images,
    now: timeOf(context.clock.now()),
    warn: (text) => ctx.warn(text),
  });
  return typeof result === "string" ? refusal(result) : result;
}

/** The framework's configuration may be newer than the cache (API-005). */
async function liveFramework({ client }: HookContext, namespace: string, signal: AbortSignal) {
  try {
    return await client.get(T_FRAMEWORK_CONFIG, { namespace, name: FRAMEWORK_NAME }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Scale extends KubeObject {
  spec?: { replicas?: number };
}

async function mutateScale(object: KubeObject, { request, signal }: AdmissionContext, context: HookContext) {
  const scale = object as Scale;
  const key = { namespace: namespaceOf(request), name: request.name ?? object.metadata.name ?? "" };
  const lookups = await context.lookups(signal);
  const server =
    lookups.server(key.namespace, key.name) ?? (await context.client.get(T_SERVER, key, { signal }));
  return { ...scale, spec: { ...scale.spec, replicas: scaledReplicas(scale.spec?.replicas ?? 0, server) } };
}

async function mutateTAccount(object: KubeObject, { old }: AdmissionContext): Promise<Answer> {
  const before = old as DeepReadonly<TAccount> | undefined;
  const result = await mutateAccount(object as TAccount, before, (digest) => bcrypt(digest));
  return typeof result === "string" ? refusal(result) : result;
}

/** The prefix is the one that the peer writes; both name the same algorithm. */
async function bcrypt(digest: string): Promise<string> {
  const text = await hash(digest, BCRYPT_COST);
  return text.replace(/^\$2[aby]\$/, "$2a$");
}
