import { describe, expect, it } from "vitest";
import type { AnyTunnel } from "../kinds.ts";
import { labelValue, tunnelDeployment } from "./cloudflared.ts";
import { DeployPatchError } from "./deploy-patch.ts";

const identity = { id: "11111111-2222-3333-4444-555555555555", name: "main", account: "a" };

function deployment(spec: object = {}, more: object = {}) {
  const tunnel = {
    apiVersion: "networking.cloudflare-operator.io/v1alpha2",
    kind: "ClusterTunnel",
    metadata: { name: "main", uid: "u" },
    spec,
  } as AnyTunnel;
  const inputs = {
    tunnel,
    identity,
    namespace: "ops",
    image: "cloudflared:1",
    token: "t",
    selector: undefined,
    ...more,
  };
  // biome-ignore lint/suspicious/noExplicitAny: a Deployment as JSON
  return tunnelDeployment(inputs) as any;
}

describe("the Deployment of cloudflared", () => {
  it("TUN-206 TUN-213 TUN-237 has the token by reference, and nothing of the routing", () => {
    const { containers } = deployment().spec.template.spec;
    expect(containers[0].env).toEqual([
      { name: "TUNNEL_TOKEN", valueFrom: { secretKeyRef: { name: "main-token", key: "token" } } },
    ]);
    expect(JSON.stringify(deployment({ fallbackTarget: "http://x:1", enableWarpRouting: true }))).toBe(
      JSON.stringify(deployment()),
    );
  });

  it("TUN-231 another token, image, protocol or certificate changes the pods", () => {
    const template = (spec?: object, more?: object) => JSON.stringify(deployment(spec, more).spec.template);
    const all = [
      template(),
      template({}, { token: "u" }),
      template({}, { image: "i:2" }),
      template({ protocol: "quic" }),
      template({ originCaPool: "ca" }),
    ];
    expect(new Set(all).size).toBe(5);
    expect(template()).not.toContain('"t"');
  });

  it("TUN-232 a patch in JSON or YAML merges by names, and cannot say whose the Deployment is", () => {
    const yaml =
      "metadata: {name: other, ownerReferences: []}\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n      - name: cloudflared\n        resources: {limits: {memory: 1Gi}}\n      - name: side\n        image: s\n";
    const { metadata, spec } = deployment({ deployPatch: yaml });
    expect([metadata.name, metadata.namespace, metadata.ownerReferences[0].uid, spec.replicas]).toEqual([
      "main",
      "ops",
      "u",
      3,
    ]);
    const own = spec.template.spec.containers.find(({ name }: { name: string }) => name === "cloudflared");
    expect([own.image, own.resources]).toEqual(["cloudflared:1", { limits: { memory: "1Gi" } }]);
    expect(spec.template.spec.containers).toHaveLength(2);
    expect(deployment({ deployPatch: '{"spec":{"replicas":2}}' }).spec.replicas).toBe(2);
    expect(deployment().spec.replicas).toBeUndefined();
  });

  it.each(["[", "5", "a: &x 1\nb: *x", `x: ${"y".repeat(70_000)}`])(
    "TUN-233 refuses the patch %.10s",
    (deployPatch) => {
      expect(() => deployment({ deployPatch })).toThrow(DeployPatchError);
    },
  );

  it("TUN-234 TUN-235 keeps the selector that is there, and makes labels of every name", () => {
    const selector = { "cloudflare-operator.io/domain": "old" };
    const { spec } = deployment({}, { selector });
    expect(spec.selector.matchLabels).toEqual(selector);
    expect(spec.template.metadata.labels).toMatchObject({
      ...selector,
      "cloudflare-operator.io/app": "cloudflared",
    });
    expect(labelValue("-a b/ü.-")).toBe("a-b");
    expect(labelValue("x".repeat(80))).toHaveLength(63);
  });
});
