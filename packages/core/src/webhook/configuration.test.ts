import { describe, expect, it } from "vitest";
import { POD } from "../kinds/index.ts";
import { defineKind, type Kind } from "../object.ts";
import { type ConfigurationOptions, webhookConfigurations } from "./configuration.ts";
import { mutating, validating, type Webhook } from "./types.ts";

const kindOf = (group: string, namespaced = true): Kind =>
  defineKind({ group, version: "v1", kind: "Echo", plural: "echoes", namespaced });
const hook = (type: Webhook["type"], group: string, more: Partial<Webhook> = {}): Webhook => {
  const common = { kind: kindOf(group), operations: ["CREATE", "UPDATE"], ...more } as const;
  return type === "mutating"
    ? mutating({ ...common, handler: () => (object) => object })
    : validating({ ...common, handler: () => () => [] });
};
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
          name: "mutate.echo.test.quartet.io",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Fail",
          timeoutSeconds: 10,
          matchPolicy: "Equivalent",
          reinvocationPolicy: "IfNeeded",
          rules: [
            {
              apiGroups: ["test.quartet.io"],
              apiVersions: ["v1"],
              resources: ["echoes"],
              operations: ["CREATE", "UPDATE"],
              scope: "Namespaced",
            },
          ],
          clientConfig: {
            service: {
              namespace: "ops",
              name: "quartet-webhook",
              port: 443,
              path: "/mutate-test-quartet-io-v1-echo",
            },
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
            url: "https://127.0.0.1:9443/validate-test-quartet-io-v1-echo",
            caBundle: Buffer.from("PEM").toString("base64"),
          },
        },
      ],
    });
  });

  const only = (webhook: Webhook, more: Partial<ConfigurationOptions> = {}): Record<string, unknown> => {
    const [configuration] = webhookConfigurations([webhook], { ...options, ...more });
    return (configuration as unknown as { webhooks: Record<string, unknown>[] }).webhooks[0]!;
  };

  it("CORE-342 follow from the kind: group, versions, resource, scope, name and path", () => {
    const scale = hook("validating", "test.quartet.io", { subresource: "scale", versions: ["v1", "v2"] });
    expect(only(scale)).toMatchObject({
      name: "validate.echo-scale.test.quartet.io",
      rules: [{ apiVersions: ["v1", "v2"], resources: ["echoes/scale"] }],
      clientConfig: { service: { path: "/validate-test-quartet-io-v1-echo-scale" } },
    });
    const clusterWide = { kind: kindOf("test.quartet.io", false) as unknown as Kind<never> };
    expect(only(hook("validating", "test.quartet.io", clusterWide))).toMatchObject({
      rules: [{ scope: "Cluster" }],
    });
    const pod = { kind: POD as unknown as Kind<never>, objectSelector: {} };
    const core = only(hook("mutating", "", pod));
    expect(core).toMatchObject({ name: "mutate.pod.core.quartet.io" });
    expect(core).toMatchObject({ clientConfig: { service: { path: "/mutate--v1-pod" } } });
  });

  it("CORE-341 declare side effects by hook, and pass match conditions on", () => {
    const condition = { name: "owned", expression: "has(object.metadata.ownerReferences)" };
    const more = { sideEffects: "NoneOnDryRun", matchConditions: [condition] } as const;
    expect(only(hook("validating", "test.quartet.io", more))).toMatchObject(more);
    expect(only(hook("validating", "test.quartet.io"))).toMatchObject({ sideEffects: "None" });
  });

  it("CORE-344 CORE-395 leave out hooks that flags switch off, and ask about the manager's namespaces alone", () => {
    const when = { flag: "mode", is: ["owner"] };
    const conditional = [hook("validating", "test.quartet.io", { when })];
    expect(webhookConfigurations(conditional, { ...options, flags: { mode: "owner" } })).toHaveLength(1);
    expect(webhookConfigurations(conditional, { ...options, flags: { mode: "off" } })).toEqual([]);
    const scoped = only(hook("validating", "test.quartet.io"), { namespaces: ["a", "b"] });
    expect(scoped).toMatchObject({
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["a", "b"] }],
      },
    });
  });
});
