/** Writes the CA into webhook configurations and CRDs, and again when somebody clears it. */
import type { Cache, Informer } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { Clock } from "../clock.ts";
import {
  CUSTOM_RESOURCE_DEFINITION,
  type CustomResourceDefinition,
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type WebhookConfiguration,
} from "../kinds/index.ts";
import type { DeepReadonly, Kind, KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { splitPem } from "./certificates.ts";

/** Owner of the caBundle fields, and of nothing else (CORE-348). */
const FIELD_MANAGER = "quartet-webhook-ca";
/** Pauses before writes that failed are made again: 1 s, doubled each time, at most 1 min. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface CaInjectionOptions {
  /** The client of leader work: a replica that lost the lead writes nothing more. */
  client: Pick<Client, "apply">;
  cache: Cache;
  clock: Clock;
  log: Logger;
  /** Names of the mutating and validating configurations. */
  configurations: readonly string[];
  /** Names of CRDs whose conversion goes through the webhook. */
  crds: readonly string[];
  /** The webhook's Service: a CRD that is converted by another one is left alone. */
  service: { readonly namespace: string; readonly name: string };
}

export interface CaInjection {
  /** Sets the CA bundle, PEM. */
  setBundle(pem: string): void;
  /** Writes the bundle where it is missing, until the signal aborts: work of the leader alone (CORE-348). */
  run(signal: AbortSignal): Promise<void>;
  /**
   * What does not hold a CA (PEM), as `Kind name`: configurations, CRDs, and kinds that could not be read yet. One that
   * does not exist is not missed.
   */
  missing(ca: string): readonly string[];
  stop(): void;
}

/** One object that is followed by its name. */
interface Target {
  readonly name: string;
  readonly informer: Informer;
  /** Writes the bundle where it is missing. */
  refresh(): void;
  /** Texts of the bundles that the object holds, base64. */
  bundles(): (string | undefined)[];
}

/**
 * Follows the configurations and CRDs. Those that do not exist yet are waited for. A write that fails is logged and
 * tried again: until it succeeds the API server cannot call the webhook.
 */
export function createCaInjection(options: CaInjectionOptions): CaInjection {
  const { client, cache, clock, log } = options;
  let bundle: string | undefined;
  let pause = FIRST_PAUSE_MS;
  let cancelRetry: (() => void) | undefined;
  let writes = false;
  const targets: Target[] = [];

  const refreshAll = (): void => {
    for (const target of targets) target.refresh();
  };
  const retryLater = (): void => {
    if (!writes || cancelRetry !== undefined) return;
    const retry = (): void => {
      cancelRetry = undefined;
      refreshAll();
    };
    cancelRetry = clock.setTimer(pause, retry, { unref: true });
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  };

  const follow = <T extends KubeObject>(kind: Kind<T>, name: string, place: BundlePlace<T>): void => {
    const informer = cache.informer(kind, { fieldSelector: `metadata.name=${name}`, optional: true });
    const refresh = (object: DeepReadonly<T>): void => {
      if (!writes || bundle === undefined || place.read(object).every((held) => held === bundle)) return;
      const patch = { ...head(object), ...place.write(object, bundle) } as T;
      client.apply(kind, patch, { fieldManager: FIELD_MANAGER, force: true }).catch((error) => {
        log.warn("CA could not be injected", { kind: kind.kind, name, error });
        retryLater();
      });
    };
    informer.addHandler((event) => {
      if (event.type !== "delete") refresh(event.object);
    });
    targets.push({
      name: `${kind.kind} ${name}`,
      informer: informer as unknown as Informer,
      refresh: () => informer.list().forEach(refresh),
      bundles: () => informer.list().flatMap((object) => place.read(object)),
    });
  };

  for (const name of options.configurations) {
    follow(MUTATING_WEBHOOK_CONFIGURATION, name, inConfiguration);
    follow(VALIDATING_WEBHOOK_CONFIGURATION, name, inConfiguration);
  }
  for (const name of options.crds) follow(CUSTOM_RESOURCE_DEFINITION, name, inCrd(options.service));

  return {
    setBundle(pem) {
      bundle = Buffer.from(pem, "utf8").toString("base64");
      pause = FIRST_PAUSE_MS;
      refreshAll();
    },
    run(signal) {
      writes = true;
      refreshAll();
      return new Promise((resolve) => {
        const end = (): void => {
          writes = false;
          cancelRetry?.();
          cancelRetry = undefined;
          resolve();
        };
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      });
    },
    missing(ca) {
      const lacks = (held: string | undefined): boolean =>
        !splitPem(Buffer.from(held ?? "", "base64").toString("utf8")).includes(ca);
      return targets
        .filter(({ informer, bundles }) => !informer.everSynced || bundles().some(lacks))
        .map(({ name }) => name);
    },
    stop() {
      for (const { informer } of targets) cache.release(informer);
    },
  };
}

/** Where an object holds the CA, base64. */
interface BundlePlace<T extends KubeObject> {
  read(object: DeepReadonly<T>): (string | undefined)[];
  /** What to apply so that it holds this one. */
  write(object: DeepReadonly<T>, bundle: string): object;
}

const inConfiguration: BundlePlace<WebhookConfiguration> = {
  read: ({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle),
  write: ({ webhooks = [] }, caBundle) => ({
    webhooks: webhooks.map(({ name }) => ({ name, clientConfig: { caBundle } })),
  }),
};

function inCrd(own: CaInjectionOptions["service"]): BundlePlace<CustomResourceDefinition> {
  return {
    read({ spec: { conversion } }) {
      const { service, caBundle } = conversion?.webhook?.clientConfig ?? {};
      const isOwn =
        service === undefined || (service.namespace === own.namespace && service.name === own.name);
      return conversion?.strategy === "Webhook" && isOwn ? [caBundle] : [];
    },
    write: (_crd, caBundle) => ({ spec: { conversion: { webhook: { clientConfig: { caBundle } } } } }),
  };
}

function head({ apiVersion, kind, metadata }: DeepReadonly<KubeObject>): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name! } };
}
