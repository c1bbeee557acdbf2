/** Writes the CA into webhook configurations and CRDs, and again when somebody clears it. */
import type { Cache, Informer } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import { type DeepReadonly, defineKind, type Kind, type KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";

interface Configuration extends KubeObject {
  webhooks?: { name: string; clientConfig: { caBundle?: string } }[];
}

interface ConvertedCrd extends KubeObject {
  spec?: { conversion?: { strategy?: string; webhook?: { clientConfig?: { caBundle?: string } } } };
}

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
export const mutatingConfigurationKind: Kind<Configuration> = defineKind({
  ...admission,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
});
export const validatingConfigurationKind: Kind<Configuration> = defineKind({
  ...admission,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
});
export const crdKind: Kind<ConvertedCrd> = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

/** Owner of the caBundle fields, and of nothing else (CORE-348). */
const FIELD_MANAGER = "quartet-webhook-ca";
/** Pauses before writes that failed are made again: 1 s, doubled each time, at most 1 min. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface CaInjectionOptions {
  client: Client;
  cache: Cache;
  clock: Clock;
  log: Logger;
  /** Names of the mutating and validating configurations. */
  configurations: readonly string[];
  /** Names of CRDs whose conversion goes through the webhook. */
  crds: readonly string[];
}

export interface CaInjection {
  /** Sets the CA bundle, PEM, and writes it where it is missing. */
  setBundle(pem: string): void;
  stop(): void;
}

/**
 * Starts the injection. It waits for configurations that do not exist yet. A write that fails is logged and tried
 * again: until it succeeds the API server cannot call the webhook.
 */
export function startCaInjection(options: CaInjectionOptions): CaInjection {
  const { client, cache, clock, log } = options;
  let bundle: string | undefined;
  let pause = FIRST_PAUSE_MS;
  let cancelRetry: (() => void) | undefined;
  let stopped = false;
  const informers: Informer[] = [];
  const refreshers: (() => void)[] = [];

  const refreshAll = (): void => {
    for (const refresh of refreshers) refresh();
  };
  const retryLater = (): void => {
    if (stopped || cancelRetry !== undefined) return;
    const retry = (): void => {
      cancelRetry = undefined;
      refreshAll();
    };
    cancelRetry = clock.setTimer(pause, retry, { unref: true });
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  };

  const follow = <T extends KubeObject>(kind: Kind<T>, name: string, patchFor: PatchFor<T>): void => {
    const informer = cache.informer(kind, { fieldSelector: `metadata.name=${name}`, optional: true });
    const refresh = (object: DeepReadonly<T>): void => {
      const patch = bundle === undefined ? undefined : patchFor(object, bundle);
      if (patch === undefined) return;
      client.apply(kind, patch, { fieldManager: FIELD_MANAGER, force: true }).catch((error) => {
        log.warn("CA could not be injected", { kind: kind.kind, name, error });
        retryLater();
      });
    };
    informer.addHandler((event) => {
      if (event.type !== "delete") refresh(event.object);
    });
    informers.push(informer as unknown as Informer);
    refreshers.push(() => informer.list().forEach(refresh));
  };

  for (const name of options.configurations) {
    follow(mutatingConfigurationKind, name, configurationPatch);
    follow(validatingConfigurationKind, name, configurationPatch);
  }
  for (const name of options.crds) follow(crdKind, name, crdPatch);

  return {
    setBundle(pem) {
      bundle = Buffer.from(pem, "utf8").toString("base64");
      pause = FIRST_PAUSE_MS;
      refreshAll();
    },
    stop() {
      stopped = true;
      cancelRetry?.();
      for (const informer of informers) cache.release(informer);
    },
  };
}

/** What to apply so that the object holds the bundle (base64); nothing when it does already. */
export type PatchFor<T extends KubeObject> = (object: DeepReadonly<T>, bundle: string) => T | undefined;

export const configurationPatch: PatchFor<Configuration> = (object, bundle) => {
  const hooks = object.webhooks ?? [];
  if (hooks.length === 0 || hooks.every((hook) => hook.clientConfig.caBundle === bundle)) return undefined;
  return {
    ...head(object),
    webhooks: hooks.map(({ name }) => ({ name, clientConfig: { caBundle: bundle } })),
  };
};

export const crdPatch: PatchFor<ConvertedCrd> = (object, bundle) => {
  const conversion = object.spec?.conversion;
  if (conversion?.strategy !== "Webhook" || conversion.webhook?.clientConfig?.caBundle === bundle)
    return undefined;
  return { ...head(object), spec: { conversion: { webhook: { clientConfig: { caBundle: bundle } } } } };
};

function head(object: DeepReadonly<KubeObject>): KubeObject {
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: { name: object.metadata.name! } };
}
