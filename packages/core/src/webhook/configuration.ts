/** The webhook configurations that the API server reads; pure. */
import type { KubeObject } from "../object.ts";
import type { LabelSelector, Webhook } from "./types.ts";

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
    const hooks = webhooks.filter((webhook) => webhook.type === type);
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
  const own = webhook.rules.every((rule) => rule.groups.every((group) => options.ownGroups.includes(group)));
  if (!own) requireSelector(webhook);
  const namespaceSelector = own ? webhook.namespaceSelector : outsideOf(webhook.namespaceSelector, options);
  return {
    name: webhook.name,
    admissionReviewVersions: ["v1"],
    sideEffects: webhook.sideEffects ?? "None",
    failurePolicy: options.failurePolicy ?? webhook.failurePolicy ?? (own ? "Fail" : "Ignore"),
    timeoutSeconds: options.timeoutSeconds ?? webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    matchPolicy: "Equivalent",
    ...(webhook.type === "mutating" ? { reinvocationPolicy: "IfNeeded" } : {}),
    rules: webhook.rules.map((rule) => ({
      apiGroups: rule.groups,
      apiVersions: rule.versions,
      resources: rule.resources,
      operations: rule.operations,
      scope: rule.scope,
    })),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(webhook.objectSelector === undefined ? {} : { objectSelector: webhook.objectSelector }),
    clientConfig: clientConfig(webhook.path, options),
  };
}

/** A hook on a built-in kind without a selector could stop the whole cluster. */
function requireSelector(webhook: Webhook): void {
  if (webhook.objectSelector !== undefined || webhook.namespaceSelector !== undefined) return;
  throw new Error(
    `webhook ${webhook.name} is on built-in kinds: it needs an objectSelector or a namespaceSelector`,
  );
}

function outsideOf(selector: LabelSelector | undefined, options: ConfigurationOptions): LabelSelector {
  const values = [
    "kube-system",
    ...(options.releaseNamespace === undefined ? [] : [options.releaseNamespace]),
  ];
  return {
    ...selector,
    matchExpressions: [
      ...(selector?.matchExpressions ?? []),
      { key: NAMESPACE_NAME_LABEL, operator: "NotIn", values },
    ],
  };
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
