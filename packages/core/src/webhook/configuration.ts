/** The webhook configurations that the API server reads; pure. */
import type { LabelSelector } from "../kinds/index.ts";
import { type FlagValues, holds } from "../module/flags.ts";
import type { KubeObject } from "../object.ts";
import { hookName, hookPath } from "./hook-names.ts";
import type { Webhook } from "./types.ts";

/** How the API server reaches the webhook server. */
export type WebhookTarget =
  | { service: { namespace: string; name: string; port?: number } }
  /** Base URL without path, for a manager outside of the cluster. */
  | { url: string };

export interface ConfigurationOptions {
  name: string;
  target: WebhookTarget;
  /** PEM of the CA. Left out, the configuration has no caBundle and somebody injects it. */
  caBundle?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Groups of quartet's own CRDs: their hooks fail closed. */
  ownGroups: readonly string[];
  /** Namespaces that hooks on built-in kinds leave alone, beside `kube-system` (CORE-343). */
  releaseNamespace?: string;
  /** Namespaces that the manager works in; empty or absent means all. Hooks ask about no others. */
  namespaces?: readonly string[];
  /** Values of the modules' flags, by which hooks exist or not. Absent: all of them do. */
  flags?: FlagValues;
  /** Overrides of the chart's values. */
  failurePolicy?: "Fail" | "Ignore";
  timeoutSeconds?: number;
}

/** API server's own default would be 10 s as well; named, since it is part of the contract (CORE-342). */
const DEFAULT_TIMEOUT_SECONDS = 10;
const NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name";

/** The configurations of both types; a type without webhooks has none. */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  options: ConfigurationOptions,
): KubeObject[] {
  const kinds = {
    mutating: "MutatingWebhookConfiguration",
    validating: "ValidatingWebhookConfiguration",
  } as const;
  return (["mutating", "validating"] as const).flatMap((type) => {
    const hooks = webhooks.filter(
      ({ type: own, when }) => own === type && (options.flags === undefined || holds(when, options.flags)),
    );
    if (hooks.length === 0) return [];
    const metadata = {
      name: options.name,
      ...(options.labels === undefined ? {} : { labels: options.labels }),
      ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
    };
    return [
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: kinds[type],
        metadata,
        webhooks: hooks.map((hook) => entry(hook, options)),
      },
    ];
  });
}

function entry(webhook: Webhook, options: ConfigurationOptions): object {
  const { kind, subresource, objectSelector, matchConditions } = webhook;
  const own = options.ownGroups.includes(kind.group);
  if (!own) requireSelector(webhook);
  const namespaceSelector = selectorOf(webhook, own, options);
  return {
    name: hookName(webhook),
    admissionReviewVersions: ["v1"],
    sideEffects: webhook.sideEffects ?? "None",
    failurePolicy: options.failurePolicy ?? webhook.failurePolicy ?? (own ? "Fail" : "Ignore"),
    timeoutSeconds: options.timeoutSeconds ?? webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    matchPolicy: "Equivalent",
    ...(webhook.type === "mutating" ? { reinvocationPolicy: "IfNeeded" } : {}),
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: webhook.versions ?? [kind.version],
        resources: [subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`],
        operations: webhook.operations,
        scope: kind.namespaced ? "Namespaced" : "Cluster",
      },
    ],
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined ? {} : { matchConditions }),
    clientConfig: clientConfig(hookPath(webhook), options),
  };
}

/** A hook on a built-in kind without a selector could stop the whole cluster. */
function requireSelector(webhook: Webhook): void {
  if (webhook.objectSelector !== undefined || webhook.namespaceSelector !== undefined) return;
  throw new Error(
    `webhook ${hookName(webhook)} is on built-in kinds: it needs an objectSelector or a namespaceSelector`,
  );
}

/** The hook's own selector, within the manager's namespaces, and for kinds of others outside of the system's. */
function selectorOf(
  webhook: Webhook,
  own: boolean,
  options: ConfigurationOptions,
): LabelSelector | undefined {
  const { namespaces = [], releaseNamespace } = options;
  const added: NonNullable<LabelSelector["matchExpressions"]> = [];
  if (namespaces.length > 0 && webhook.kind.namespaced) {
    added.push({ key: NAMESPACE_NAME_LABEL, operator: "In", values: [...namespaces] });
  }
  if (!own) {
    const values = ["kube-system", ...(releaseNamespace === undefined ? [] : [releaseNamespace])];
    added.push({ key: NAMESPACE_NAME_LABEL, operator: "NotIn", values });
  }
  const { namespaceSelector } = webhook;
  if (added.length === 0) return namespaceSelector;
  const matchExpressions = [...(namespaceSelector?.matchExpressions ?? []), ...added];
  return { ...namespaceSelector, matchExpressions };
}

/** Where the API server finds a path of the webhook server; also for a CRD's conversion webhook. */
export function clientConfig(
  path: string,
  options: Pick<ConfigurationOptions, "target" | "caBundle">,
): object {
  const target =
    "url" in options.target
      ? { url: `${options.target.url.replace(/\/$/, "")}${path}` }
      : { service: { port: 443, ...options.target.service, path } };
  return options.caBundle === undefined
    ? target
    : { ...target, caBundle: Buffer.from(options.caBundle, "utf8").toString("base64") };
}
