/** Validation of requests, by kind and operation. */
import { type DeepReadonly, type KubeObject, keyOf } from "@quartet/core";
import type { AdmissionContext, Refusal, Validate } from "@quartet/core/webhook";
import { validateAccount } from "../admission/account.ts";
import type { Denial } from "../admission/denial.ts";
import { type DeployFacts, validateDeployUpdate, validateNewDeploy } from "../admission/deploy.ts";
import { validateNewFramework } from "../admission/framework.ts";
import { templateDeletionDenial, validateTemplate } from "../admission/template.ts";
import { treeDeletionDenial, validateNewTree, validateTreeUpdate } from "../admission/tree.ts";
import {
  deployedSpec,
  type ServerQuestion,
  serverWarnings,
  validateServer,
} from "../admission/validate-server.ts";
import type { TAccount, TDeploy, TFrameworkConfig, TTemplate, TTree } from "../api.gen.ts";
import { T_SERVER, T_TEMPLATE, T_TREE } from "../kinds.ts";
import { objectName, PARENT_LABEL, TEMPLATE_LABEL } from "../labels.ts";
import { createConfig, deleteConfig, updateConfig } from "./config.ts";
import {
  counted,
  type HookContext,
  isLive,
  isReferredTo,
  namespaceOf,
  selectorOf,
  serverExists,
  storedServer,
  templateExists,
  verdict,
} from "./context.ts";

type Answer = readonly [] | Refusal;

/** Longest value of a label. */
const MAX_LABEL = 63;

export type Handler = (
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
) => Answer | Promise<Answer>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  "CREATE TServer": server,
  "UPDATE TServer": server,
  "UPDATE Scale": () => [],
  "CREATE TConfig": createConfig,
  "UPDATE TConfig": updateConfig,
  "DELETE TConfig": deleteConfig,
  "CREATE TTemplate": template,
  "UPDATE TTemplate": template,
  "DELETE TTemplate": deleteTemplate,
  "CREATE TAccount": account,
  "UPDATE TAccount": account,
  "CREATE TImage": () => [],
  "UPDATE TImage": () => [],
  "CREATE TTree": createTree,
  "UPDATE TTree": updateTree,
  "DELETE TTree": deleteTree,
  "CREATE TDeploy": async (object, ctx, context) =>
    verdict(validateNewDeploy(object as DeepReadonly<TDeploy>, await deployFacts(object, ctx, context))),
  "UPDATE TDeploy": updateDeploy,
  "CREATE TFrameworkConfig": (object) =>
    verdict(validateNewFramework(object as DeepReadonly<TFrameworkConfig>)),
};

/** The validating webhook of all kinds. What it does not know it lets through with a warning (API-003). */
export function validating(context: HookContext): Validate {
  return async (object, ctx) => {
    const { operation, kind } = ctx.request;
    const handler = HANDLERS[`${operation} ${kind.kind}`];
    if (handler !== undefined) {
      return counted(context, ctx, await handler(object as DeepReadonly<KubeObject>, ctx, context));
    }
    ctx.warn(`quartet has no rules for ${operation} of ${kind.kind}`);
    return [];
  };
}

async function server(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const { spec } = storedServer(object);
  const old = ctx.old === undefined ? undefined : storedServer(ctx.old).spec;
  const name = object.metadata.name ?? "";
  for (const warning of serverWarnings({ name, spec })) ctx.warn(warning);
  const version = ctx.request.kind.version;
  return verdict(await serverDenial({ name, spec, old, version }, ctx, context));
}

async function serverDenial(
  { name, spec, old, version }: Pick<ServerQuestion, "name" | "spec" | "old" | "version">,
  { request, signal }: AdmissionContext,
  context: HookContext,
): Promise<Denial> {
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const found =
    spec.tars === undefined ||
    (await templateExists(context, lookups, { namespace, name: spec.tars.template }, signal));
  return validateServer({ name, namespace, spec, old, version, templateExists: found });
}

async function template(
  object: DeepReadonly<KubeObject>,
  { request, signal }: AdmissionContext,
  context: HookContext,
) {
  const wanted = object as DeepReadonly<TTemplate>;
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const { parent } = wanted.spec;
  // A parent that the cache does not know yet has no known parent of its own.
  const fresh = await templateExists(context, lookups, { namespace, name: parent ?? "" }, signal);
  const parentOf = (name: string): string | undefined =>
    lookups.template(namespace, name)?.spec.parent ?? (fresh && name === parent ? name : undefined);
  return verdict(validateTemplate(wanted, { namespace, parentOf }));
}

async function deleteTemplate(object: DeepReadonly<KubeObject>, ctx: AdmissionContext, context: HookContext) {
  const { request, signal } = ctx;
  if (context.identities.isSystem(request) || (await context.identities.isOperator(request)))
    return [] as const;
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const name = object.metadata.name ?? "";
  const known = templateDeletionDenial(name, {
    namespace,
    children: lookups.childrenOf(namespace, name).length > 0,
    servers: lookups.serversWithTemplate(namespace, name).length > 0,
  });
  // A name that is no label's value is in no label.
  if (known !== undefined || name.length > MAX_LABEL) return verdict(known);
  return verdict(
    templateDeletionDenial(name, {
      namespace,
      children: await isReferredTo(context, T_TEMPLATE, selectorOf({ [PARENT_LABEL]: name }), ctx),
      servers: await isReferredTo(context, T_SERVER, selectorOf({ [TEMPLATE_LABEL]: name }), ctx),
    }),
  );
}

function account(object: DeepReadonly<KubeObject>, { old }: AdmissionContext): Answer {
  return verdict(
    validateAccount(object as DeepReadonly<TAccount>, old as DeepReadonly<TAccount> | undefined),
  );
}

async function createTree(
  object: DeepReadonly<KubeObject>,
  { request, signal }: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const namespace = namespaceOf(request);
  // The cache may still have the tree of a namespace that is gone.
  const known = (await context.lookups(signal)).tree(namespace);
  const isThere = known !== undefined && (await isLive(context, T_TREE, keyOf(known), signal));
  return verdict(validateNewTree(object as DeepReadonly<TTree>, isThere));
}

async function updateTree(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const { request, signal, old } = ctx;
  if (await context.identities.isOperator(request)) return [];
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const isUsed = (app: string): boolean => lookups.serversOfApp(namespace, app).length > 0;
  return verdict(validateTreeUpdate(object as DeepReadonly<TTree>, old as DeepReadonly<TTree>, isUsed));
}

async function deleteTree(
  object: DeepReadonly<KubeObject>,
  { request }: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const { identities } = context;
  if (identities.isSystem(request) || (await identities.isOperator(request))) return [];
  return verdict(treeDeletionDenial(object.metadata.name ?? ""));
}

async function deployFacts(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<DeployFacts> {
  const { request, signal } = ctx;
  const { apply } = object as DeepReadonly<TDeploy>;
  const namespace = namespaceOf(request);
  const lookups = await context.lookups(signal);
  const name = objectName(apply.app, apply.server);
  const spec = deployedSpec(apply);
  const denial = await serverDenial({ name, spec, old: undefined, version: "v1beta2" }, ctx, context);
  return {
    namespace,
    target: name,
    targetExists: await serverExists(context, lookups, { namespace, name }, signal),
    serverDenial: () => denial,
    isOperator: await context.identities.isOperator(request),
  };
}

async function updateDeploy(
  object: DeepReadonly<KubeObject>,
  ctx: AdmissionContext,
  context: HookContext,
): Promise<Answer> {
  const facts = await deployFacts(object, ctx, context);
  return verdict(
    validateDeployUpdate(object as DeepReadonly<TDeploy>, ctx.old as DeepReadonly<TDeploy>, facts),
  );
}
