/** Registers webhooks with the API server for a manager that no chart has installed. */
import {
  type Client,
  type ControllerModule,
  defineKind,
  type Kind,
  type KubeObject,
  keyOf,
  type Logger,
} from "@quartet/core";
import { CONVERT_PATH, clientConfig, type Webhook, webhookConfigurations } from "@quartet/core/webhook";

const FIELD_MANAGER = "quartet-dev";

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const CONFIGURATIONS: Readonly<Record<string, Kind>> = {
  MutatingWebhookConfiguration: defineKind({
    ...admission,
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
  }),
  ValidatingWebhookConfiguration: defineKind({
    ...admission,
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
  }),
};
const CRD: Kind = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

export interface RegistrationOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly modules: readonly ControllerModule[];
  readonly webhooks: readonly Webhook[];
  /** Name of the configurations. */
  readonly name: string;
  /** Where the API server reaches the webhook server, without path. */
  readonly url: string;
  /** PEM of the CA of its certificate. */
  readonly caBundle: string;
}

/** Makes the API server call the webhooks at the URL; the returned function makes it forget them again. */
export async function registerWebhooks(options: RegistrationOptions): Promise<() => Promise<void>> {
  const { client, log, modules, webhooks, name, url, caBundle } = options;
  const target = { url };
  const ownGroups = [...new Set(modules.flatMap(({ kinds }) => kinds.map(({ group }) => group)))];
  const objects = webhookConfigurations(webhooks, { name, target, caBundle, ownGroups });
  for (const object of objects) {
    await client.applyOwned(kindOf(object), object, { fieldManager: FIELD_MANAGER });
  }
  const crds = modules.flatMap(convertedCrds);
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

/** CRDs whose objects the modules convert. */
function convertedCrds({ kinds, conversions = [] }: ControllerModule): string[] {
  return kinds
    .filter((kind) => conversions.some((one) => one.group === kind.group && one.kind === kind.kind))
    .map((kind) => `${kind.plural}.${kind.group}`);
}

function convertBy(client: Client, crd: string, conversion: object): Promise<KubeObject> {
  return client.patch(CRD, { namespace: "", name: crd }, { type: "merge", body: { spec: { conversion } } });
}

function kindOf(object: KubeObject): Kind {
  const kind = CONFIGURATIONS[object.kind];
  if (kind === undefined) throw new Error(`${object.kind} is no webhook configuration`);
  return kind;
}
