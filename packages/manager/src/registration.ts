/** Registers webhooks with the API server for a manager that no chart has installed. */
import {
  type Client,
  type ControllerModule,
  convertedCrds,
  type FlagValues,
  isNotFound,
  type Kind,
  type KubeObject,
  keyOf,
  type Logger,
} from "@quartet/core";
import {
  CUSTOM_RESOURCE_DEFINITION,
  MUTATING_WEBHOOK_CONFIGURATION,
  VALIDATING_WEBHOOK_CONFIGURATION,
} from "@quartet/core/kinds";
import { CONVERT_PATH, clientConfig, webhookConfigurations } from "@quartet/core/webhook";

const FIELD_MANAGER = "quartet-dev";

const CONFIGURATIONS: Readonly<Record<string, Kind>> = {
  MutatingWebhookConfiguration: MUTATING_WEBHOOK_CONFIGURATION as unknown as Kind,
  ValidatingWebhookConfiguration: VALIDATING_WEBHOOK_CONFIGURATION as unknown as Kind,
};

export interface RegistrationOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly modules: readonly ControllerModule[];
  /** Values of the modules' flags. */
  readonly flags: FlagValues;
  /** Namespaces to work in; empty means all. */
  readonly namespaces: readonly string[];
  /** Name of the configurations. */
  readonly name: string;
  /** Where the API server reaches the webhook server, without path. */
  readonly url: string;
  /** PEM of the CA of its certificate. */
  readonly caBundle: string;
}

/** Makes the API server call the webhooks at the URL; the returned function makes it forget them again. */
export async function registerWebhooks(options: RegistrationOptions): Promise<() => Promise<void>> {
  const { client, log, modules, flags, namespaces, name, url, caBundle } = options;
  const webhooks = modules.flatMap((module) => module.webhooks ?? []);
  const target = { url };
  const ownGroups = [...new Set(modules.flatMap(({ kinds }) => kinds.map(({ group }) => group)))];
  const objects = webhookConfigurations(webhooks, {
    name,
    target,
    caBundle,
    ownGroups,
    flags,
    namespaces,
  });
  for (const object of objects) {
    await client.applyOwned(kindOf(object), object, { fieldManager: FIELD_MANAGER });
  }
  const crds: string[] = [];
  for (const crd of modules.flatMap((module) => convertedCrds(module, flags))) {
    if (await isOurs(client, crd, name)) crds.push(crd);
    else log.warn("Conversion is left as it is: another program's, or there is no such CRD", { crd });
  }
  const webhook = {
    conversionReviewVersions: ["v1"],
    clientConfig: { service: null, ...clientConfig(CONVERT_PATH, { target, caBundle }) },
  };
  for (const crd of crds) await convertBy(client, crd, { strategy: "Webhook", webhook });
  log.info("Webhooks registered", { url, configurations: objects.length, crds });
  return async () => {
    for (const object of objects) await client.deleteIfExists(kindOf(object), keyOf(object));
    // Without it nobody could read the other versions once this process is gone.
    for (const crd of crds) await convertBy(client, crd, { strategy: "None", webhook: null });
  };
}

/** False for a CRD that another program's Service converts, or that does not exist. */
async function isOurs(client: Client, crd: string, service: string): Promise<boolean> {
  try {
    const { spec } = await client.get(CUSTOM_RESOURCE_DEFINITION, { namespace: "", name: crd });
    const other = spec.conversion?.webhook?.clientConfig?.service;
    return other === undefined || other.name === service;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function convertBy(client: Client, crd: string, conversion: object): Promise<KubeObject> {
  return client.patch(
    CUSTOM_RESOURCE_DEFINITION,
    { namespace: "", name: crd },
    { type: "merge", body: { spec: { conversion } } },
  );
}

function kindOf(object: KubeObject): Kind {
  const kind = CONFIGURATIONS[object.kind];
  if (kind === undefined) throw new Error(`${object.kind} is no webhook configuration`);
  return kind;
}
