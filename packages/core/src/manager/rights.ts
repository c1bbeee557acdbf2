/** Which rights a manager needs: its modules' and its own. */
import type { RightsRule } from "../controller/types.ts";
import { compactRights, expandRules, type Right } from "./rules.ts";
import type { ControllerModule } from "./types.ts";

/** What of a module its rights follow from. */
export type RightsModule = Pick<
  ControllerModule,
  "name" | "kinds" | "crds" | "rights" | "webhooks" | "conversions"
>;

export interface RightsOptions {
  /** Prefix of the names of own objects: `<release>-webhook-cert`, `<release>-webhook`. */
  release: string;
  /** Name of the Lease; absent without leader election. */
  leaseName?: string;
  /** Webhooks are served. */
  webhooks: boolean;
  /** Certificates are made by the manager itself and kept in a Secret. */
  ownCertificates: boolean;
  metricsSecure: boolean;
}

/** Rights by where they are needed. */
export interface NeededRights {
  /** In the manager's own namespace. */
  readonly own: readonly RightsRule[];
  /** In the namespaces that it works in, or in all. */
  readonly work: readonly RightsRule[];
  /** On cluster-scoped resources. */
  readonly cluster: readonly RightsRule[];
}

/** Cluster-scoped resources of Kubernetes itself, by group. */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  "/nodes",
  "/namespaces",
  "/persistentvolumes",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/subjectaccessreviews",
  "gateway.networking.k8s.io/gatewayclasses",
  "networking.k8s.io/ingressclasses",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "scheduling.k8s.io/priorityclasses",
  "storage.k8s.io/storageclasses",
]);

/** Name of the Secret with the webhook's certificates. */
export function webhookSecretName(release: string): string {
  return `${release}-webhook-cert`;
}

/** Name of the webhook's Service and of its configurations. */
export function webhookName(release: string): string {
  return `${release}-webhook`;
}

/** All rights that a manager with these modules needs. */
export function neededRights(modules: readonly RightsModule[], options: RightsOptions): NeededRights {
  const clusterKinds = new Set(
    modules.flatMap((module) =>
      module.kinds.filter((kind) => !kind.namespaced).map((kind) => `${kind.group}/${kind.plural}`),
    ),
  );
  const isCluster = ({ group, resource }: Right): boolean => {
    const id = `${group}/${resource.split("/")[0]}`;
    return CLUSTER_SCOPED.has(id) || clusterKinds.has(id);
  };
  const shared = expandRules([...EVENT_RULES, ...modules.flatMap((module) => module.rights)]);
  return {
    own: compactRights(expandRules(ownRules(modules, options))),
    work: compactRights(shared.filter((right) => !isCluster(right))),
    cluster: compactRights([...expandRules(clusterRules(modules, options)), ...shared.filter(isCluster)]),
  };
}

const EVENT_RULES: readonly RightsRule[] = [
  { groups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
];

/** True when a module with webhooks or conversions is served. */
function servesHooks(modules: readonly RightsModule[], options: RightsOptions): boolean {
  return (
    options.webhooks &&
    modules.some((module) => module.webhooks !== undefined || module.conversions !== undefined)
  );
}

/** A create cannot be limited to a name, so it stands in a rule of its own. */
function ownRules(modules: readonly RightsModule[], options: RightsOptions): RightsRule[] {
  const rules: RightsRule[] = [];
  if (options.leaseName !== undefined) {
    const leases = { groups: ["coordination.k8s.io"], resources: ["leases"] };
    rules.push(
      { ...leases, verbs: ["create"] },
      { ...leases, verbs: ["get", "update"], resourceNames: [options.leaseName] },
    );
  }
  if (options.ownCertificates && servesHooks(modules, options)) {
    const secrets = { groups: [""], resources: ["secrets"] };
    const resourceNames = [webhookSecretName(options.release)];
    rules.push(
      { ...secrets, verbs: ["create"] },
      { ...secrets, verbs: ["get", "list", "watch", "update"], resourceNames },
    );
  }
  return rules;
}

function clusterRules(modules: readonly RightsModule[], options: RightsOptions): RightsRule[] {
  const rules: RightsRule[] = [];
  const inject = ["get", "list", "watch", "patch"];
  if (options.ownCertificates && servesHooks(modules, options)) {
    rules.push({
      groups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      verbs: inject,
      resourceNames: [webhookName(options.release)],
    });
    const resourceNames = modules.flatMap(convertedCrds);
    const crds = { groups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"] };
    if (resourceNames.length > 0) rules.push({ ...crds, verbs: inject, resourceNames });
  }
  if (options.metricsSecure) {
    rules.push(
      { groups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { groups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    );
  }
  return rules;
}

/** Names of the CRDs whose objects the webhook converts. */
function convertedCrds({ kinds, conversions = [] }: RightsModule): string[] {
  return kinds
    .filter((kind) => conversions.some((one) => one.group === kind.group && one.kind === kind.kind))
    .map((kind) => `${kind.plural}.${kind.group}`);
}
