/** The Echo controller: the smallest one that uses all of the core. It serves the scenarios as their subject. */
import {
  allow,
  type Condition,
  type ControllerModule,
  controllerReference,
  defineKind,
  finalizer,
  isControlledBy,
  type Kind,
  type KubeObject,
  type Manager,
  type Reconcile,
  reconciles,
  setCondition,
} from "@quartet/core";
import type { Echo, EchoOptions } from "./types.ts";
import { echoWebhooks } from "./webhooks.ts";

export type { Echo, EchoOptions } from "./types.ts";

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export const FINALIZER = "test.quartet.io/cleanup";

export const CONFIG_MAP: Kind<ConfigMap> = defineKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export function echoKind(group: string): Kind<Echo> {
  return defineKind<Echo>({ group, version: "v1", kind: "Echo", plural: "echoes", namespaced: true });
}

export function createEchoModule(options: EchoOptions = {}): ControllerModule {
  const { group = "test.quartet.io", name = "echo" } = options;
  const kind = echoKind(group);
  return {
    name,
    aliases: [],
    kinds: [kind],
    crds: [],
    rights: [
      ...reconciles(kind),
      allow(kind, ["update", "patch"]),
      allow(CONFIG_MAP, ["get", "list", "watch", "create", "patch"]),
    ],
    flags: [],
    webhooks: echoWebhooks(kind, options),
    build(manager) {
      const reconcile = createReconcile(kind, manager, options);
      manager.add(manager.controller(name).for(kind).owns(CONFIG_MAP).complete(reconcile));
    },
  };
}

function createReconcile(kind: Kind<Echo>, { clock }: Manager, options: EchoOptions): Reconcile {
  const finalize = finalizer({
    kind,
    name: FINALIZER,
    async cleanup({ metadata: { namespace, name } }) {
      const answer = await fetch(`${options.cleanupUrl}/${namespace}/${name}`, { method: "POST" });
      if (!answer.ok) throw new Error(`the cleanup endpoint answered ${answer.status}`);
    },
  });
  return async (key, ctx) => {
    if ((await options.onReconcile?.(key)) === "done") return;
    const echo = await ctx.cache.get(kind, key);
    if (echo === undefined) return;
    const { spec, metadata, status } = echo;
    if (spec.finalize === true && (await finalize(echo, ctx)) !== "present") return;
    if (metadata.deletionTimestamp !== undefined) return;
    const out = { namespace: key.namespace, name: `${key.name}-out` };
    const current = await ctx.cache.get(CONFIG_MAP, out);
    if (current?.data?.text !== spec.text || !isControlledBy(current, echo)) {
      const ownerReferences = [controllerReference(kind, echo)];
      const desired = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...out, ownerReferences } };
      await ctx.client.applyOwned(CONFIG_MAP, { ...desired, data: { text: spec.text } });
    }
    const observedGeneration = metadata.generation ?? 0;
    const ready = { type: "Ready", status: "True", reason: "Echoed", observedGeneration } as const;
    const { conditions } = setCondition(status?.conditions as Condition[] | undefined, ready, clock.now());
    await ctx.client.patchStatus(kind, echo, { ...status, observedGeneration, conditions });
  };
}
