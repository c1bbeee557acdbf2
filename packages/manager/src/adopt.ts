/** `quartet adopt-crd`: takes over the definition of a kind that another operator has installed. */
import { type Clock, ConfigurationError, systemClock, webhookName } from "@quartet/core";
import { CUSTOM_RESOURCE_DEFINITION } from "@quartet/core/kinds";
import { CONVERT_PATH } from "@quartet/core/webhook";
import { dsPatchesModule, runningKruise } from "@quartet/ds-patches";
import type { LoadedSettings } from "./config/load.ts";
import { leaseNamespace } from "./context.ts";
import { crdsOf } from "./crds.ts";
import type { Program } from "./program.ts";
import { withCluster } from "./with-cluster.ts";

/** The one definition that is shared with another operator. */
const ADOPTABLE = "daemonsets.apps.kruise.io";
/** Annotation with `<namespace>/<release>` of the installation that serves a definition (DSP-122). */
const OWNER = "quartet.io/owner";

/** Adopts the definition; resolves with what to tell. */
export async function adoptCrd(
  loaded: LoadedSettings,
  words: readonly string[],
  program: Program,
): Promise<string> {
  const [name, ...rest] = words;
  if (name !== ADOPTABLE || rest.length > 0) {
    throw new ConfigurationError(`adopt-crd takes the name of a definition: quartet adopt-crd ${ADOPTABLE}`);
  }
  const { settings } = loaded;
  return withCluster(loaded, program, async ({ client, connection }) => {
    const namespace = leaseNamespace(settings, connection);
    const kruise = String(settings.moduleFlags["kruise-namespace"]);
    await refuseWhileServed(client, kruise, systemClock);
    const [own] = await crdsOf([dsPatchesModule]);
    const service = { namespace, name: webhookName(settings.release), path: CONVERT_PATH, port: 443 };
    // The manager puts its CA there when it sees that the Service is its own.
    const clientConfig = { service, caBundle: null, url: null };
    const body = {
      metadata: {
        labels: own!.metadata.labels,
        annotations: { [OWNER]: `${namespace}/${settings.release}` },
      },
      spec: {
        names: own!.spec.names,
        versions: own!.spec.versions,
        conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } },
      },
    };
    await client.patch(CUSTOM_RESOURCE_DEFINITION, { namespace: "", name }, { type: "merge", body });
    return `${name} is ours now; objects are converted by Service ${namespace}/${service.name}\n`;
  });
}

async function refuseWhileServed(
  client: Parameters<typeof runningKruise>[0],
  namespace: string,
  clock: Clock,
): Promise<void> {
  const signs = await runningKruise(client, namespace, clock.now());
  if (signs.length === 0) return;
  throw new ConfigurationError(
    `OpenKruise serves the kind (${signs.join(", ")}): scale it to 0 and remove its webhook configurations first`,
  );
}
