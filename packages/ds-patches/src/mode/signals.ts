/** How an installed OpenKruise is told from what it leaves in the cluster (section 3 of the rule book). */
import type { DeepReadonly } from "@quartet/core";
import type { CustomResourceDefinition, Lease, WebhookConfiguration } from "@quartet/core/kinds";

/** Names that OpenKruise gives its own objects. */
export const KRUISE_CONFIGURATION = "kruise-mutating-webhook-configuration";
export const KRUISE_LEASE = "kruise-manager";
/** Path of its webhook that fills in DaemonSets. */
const KRUISE_PATH = "/mutate-apps-kruise-io-daemonset";
/** Its Lease counts as held for so many of its durations, and has this one unless it names another (peer). */
const LEASE_DURATIONS = 4;
const LEASE_DURATION_MS = 15_000;

/** Definition of the DaemonSets, and the label of one that is served by this project. */
export const CRD_NAME = "daemonsets.apps.kruise.io";
export const MARKER = { key: "app.kubernetes.io/part-of", value: "quartet" } as const;

/** `webhook` is S1 of the rule book, `lease` S2, `crd` S3. */
export type SignalId = "webhook" | "lease" | "crd";

export interface Signal {
  readonly id: SignalId;
  /** What was seen, for people. */
  readonly text: string;
}

/** What is in the cluster; `undefined` for what does not exist. */
export interface Evidence {
  readonly configuration: DeepReadonly<WebhookConfiguration> | undefined;
  readonly lease: DeepReadonly<Lease> | undefined;
  /** For how long the Lease has stood still by the own clock, in milliseconds; `undefined`: never seen to change. */
  readonly leaseStillMs: number | undefined;
  readonly crd: DeepReadonly<CustomResourceDefinition> | undefined;
}

/** Signs of an OpenKruise, in the order in which they are told. `now` in milliseconds since the Unix epoch. */
export function signalsOf(evidence: Evidence, now: number): Signal[] {
  const { configuration, crd } = evidence;
  const signals: Signal[] = [];
  if (configuration?.webhooks?.some(({ clientConfig }) => pathOf(clientConfig) === KRUISE_PATH)) {
    signals.push({ id: "webhook", text: `MutatingWebhookConfiguration ${KRUISE_CONFIGURATION}` });
  }
  if (isHeld(evidence, now)) {
    const { namespace, name } = evidence.lease!.metadata;
    const holder = evidence.lease!.spec?.holderIdentity;
    signals.push({ id: "lease", text: `Lease ${namespace}/${name} held by ${holder}` });
  }
  if (crd !== undefined && crd.metadata.labels?.[MARKER.key] !== MARKER.value) {
    signals.push({ id: "crd", text: `CRD ${CRD_NAME} without label ${MARKER.key}=${MARKER.value}` });
  }
  return signals;
}

function pathOf({
  url,
  service,
}: DeepReadonly<WebhookConfiguration["webhooks"] & object>[number]["clientConfig"]): string | undefined {
  return service?.path ?? (url !== undefined && URL.canParse(url) ? new URL(url).pathname : undefined);
}

/**
 * Renewed of late, by its own time or by having been seen to change: the first tells one that was left behind from the
 * start, the second does not depend on equal clocks.
 */
function isHeld({ lease, leaseStillMs }: Evidence, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease?.spec ?? {};
  if (!holderIdentity) return false;
  const lifeMs = LEASE_DURATIONS * (leaseDurationSeconds ? leaseDurationSeconds * 1_000 : LEASE_DURATION_MS);
  const age = now - (Date.parse(renewTime ?? "") || 0);
  return Math.min(age, leaseStillMs ?? Number.POSITIVE_INFINITY) < lifeMs;
}
