import { describe, expect, it } from "vitest";
import { type ConfigurationOptions, webhookConfigurations } from "./configuration.ts";
import type { Webhook, WebhookRule } from "./types.ts";

const rule = (group: string, resource: string): WebhookRule => ({
  groups: [group],
  versions: ["v1"],
  resources: [resource],
  operations: ["CREATE", "UPDATE"],
  scope: "Namespaced",
});
const hook = (type: Webhook["type"], group: string, more: Partial<Webhook> = {}): Webhook =>
  ({
    type,
    name: `${type}.quartet.io`,
    path: `/${type}`,
    rules: [rule(group, "echoes")],
    handle: () => [],
    ...more,
  }) as Webhook;
const options: ConfigurationOptions = {
  name: "quartet",
  target: { service: { namespace: "ops", name: "quartet-webhook" } },
  ownGroups: ["test.quartet.io"],
  releaseNamespace: "ops",
};

describe("webhook configurations", () => {
  it("CORE-342 fail closed on our own CRDs, open on built-in kinds, with the documented defaults", () => {
    const own = webhookConfigurations(
      [hook("validating", "test.quartet.io"), hook("mutating", "test.quartet.io")],
      options,
    );
    expect(own.map(({ kind }) => kind)).toEqual([
      "MutatingWebhookConfiguration",
      "ValidatingWebhookConfiguration",
    ]);
    expect(own[0]).toMatchObject({
      metadata: { name: "quartet" },
      webhooks: [
        {
          name: "mutating.quartet.io",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Fail",
          timeoutSeconds: 10,
          matchPolicy: "Equivalent",
          reinvocationPolicy: "IfNeeded",
          rules: [{ apiGroups: ["test.quartet.io"], scope: "Namespaced" }],
          clientConfig: {
            service: { namespace: "ops", name: "quartet-webhook", port: 443, path: "/mutating" },
          },
        },
      ],
    });
    const [builtIn] = webhookConfigurations([hook("validating", "apps", { objectSelector: {} })], options);
    expect(builtIn).toMatchObject({ webhooks: [{ failurePolicy: "Ignore" }] });
  });

  it("CORE-343 keep hooks on built-in kinds away from kube-system and the release namespace", () => {
    expect(() => webhookConfigurations([hook("validating", "apps")], options)).toThrow(
      /needs an objectSelector/,
    );
    const selector = { matchLabels: { tars: "true" } };
    const [configuration] = webhookConfigurations(
      [hook("validating", "apps", { namespaceSelector: selector })],
      options,
    );
    expect(configuration).toMatchObject({
      webhooks: [
        {
          namespaceSelector: {
            matchLabels: { tars: "true" },
            matchExpressions: [
              { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "ops"] },
            ],
          },
        },
      ],
    });
  });

  it("point to a URL for a manager outside of the cluster", () => {
    const outside = { ...options, target: { url: "https://127.0.0.1:9443/" }, caBundle: "PEM" };
    expect(webhookConfigurations([hook("validating", "test.quartet.io")], outside)[0]).toMatchObject({
      webhooks: [
        {
          clientConfig: {
            url: "https://127.0.0.1:9443/validating",
            caBundle: Buffer.from("PEM").toString("base64"),
          },
        },
      ],
    });
  });
});
