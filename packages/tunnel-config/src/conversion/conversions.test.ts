import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toV1Alpha1, toV1Alpha2 } from "./conversions.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of both versions
type Loose = any;

const EXTRA = "cloudflare-operator.io/v1alpha2-extra";
const of = (spec: Loose, annotations?: Loose): Loose => ({
  apiVersion: "x",
  kind: "Tunnel",
  metadata: { name: "main", ...(annotations && { annotations }) },
  spec,
});
const up = (spec: Loose, annotations?: Loose): Loose => toV1Alpha2(structuredClone(of(spec, annotations)));
const down = (spec: Loose, annotations?: Loose): Loose => toV1Alpha1(structuredClone(of(spec, annotations)));
const patch = (spec: Loose, annotations?: Loose): Loose => JSON.parse(up(spec, annotations).spec.deployPatch);

describe("v1alpha1 as v1alpha2", () => {
  it("TUN-009 TUN-232 fields of the pods become a patch of the Deployment", () => {
    const tolerations = [{ key: "edge", operator: "Exists" }];
    const spec = { size: 3, image: "cf:1", nodeSelectors: { zone: "a" }, tolerations };
    expect(patch(spec)).toEqual({
      spec: {
        replicas: 3,
        template: {
          spec: {
            nodeSelector: { zone: "a" },
            tolerations,
            containers: [{ name: "cloudflared", image: "cf:1" }],
          },
        },
      },
    });
    expect(
      [{}, { size: 0 }, { size: 1 }, { tolerations: [], nodeSelectors: {} }].map((one) => patch(one)),
    ).toEqual(Array(4).fill({}));
  });

  it("TUN-009 TUN-201 the rest is the same, and empty members that the peer's types write are nothing", () => {
    const { spec } = up({
      newTunnel: { name: "main" },
      existingTunnel: {},
      protocol: "quic",
      cloudflare: { secret: "cf", domain: "example.com" },
    });
    expect(spec).toEqual({
      newTunnel: { name: "main" },
      protocol: "quic",
      cloudflare: { secret: "cf", domain: "example.com" },
      deployPatch: "{}",
    });
    expect(up({ newTunnel: { name: "" }, existingTunnel: { id: "t" } }).spec).not.toHaveProperty("newTunnel");
  });

  it("TUN-009 what the annotation says is taken as far as v1alpha2 takes it", () => {
    const extra = {
      originRequest: { connectTimeout: 5 },
      deletionPolicy: "Never",
      credentialsRef: { name: "" },
      zoneId: "z",
      name: "x",
    };
    const { metadata, spec } = up({}, { [EXTRA]: JSON.stringify(extra), other: "kept" });
    expect([metadata.annotations, spec]).toEqual([
      { other: "kept" },
      { deployPatch: "{}", cloudflare: { zoneId: "z" } },
    ]);
    const hostPolicy = [{ namespaces: ["a"], hostnames: ["*.a.example.com"] }];
    expect(up({}, { [EXTRA]: JSON.stringify({ hostPolicy }) }).spec).toMatchObject({ hostPolicy });
    for (const grant of [
      { namespaces: [""], hostnames: ["a.b"] },
      { namespaces: ["a"], hostnames: ["a.*.b"] },
      { namespaceSelector: { matchExpressions: [{ key: "a", operator: "Odd" }] }, hostnames: ["a.b"] },
      { hostnames: ["a.b"] },
      { namespaces: ["a"], hostnames: [] },
      { namespaces: ["a"] },
    ])
      expect(up({}, { [EXTRA]: JSON.stringify({ hostPolicy: [grant] }) }).spec).not.toHaveProperty(
        "hostPolicy",
      );
    const inherited = '{"originRequest":{"hasOwnProperty":"noTlsVerify"}}';
    for (const text of ["{broken", "[]", "5", '{"originRequest":{"access":{"audTag":[1]}}}', inherited])
      expect(up({}, { [EXTRA]: text }).spec).toEqual({ deployPatch: "{}", cloudflare: {} });
  });
});

describe("v1alpha2 as v1alpha1 and back", () => {
  const deployPatch =
    "spec:\n  replicas: 2\n  template: {spec: {containers: [{name: cloudflared, env: []}]}}\n";
  const spec = {
    newTunnel: { name: "main" },
    enableWarpRouting: true,
    hostPolicy: [{ namespaceSelector: { matchLabels: { team: "a" } }, hostnames: ["*"] }],
    originRequest: { connectTimeout: "5s", access: { required: true, audTag: ["a"] } },
    deletionPolicy: "Orphan",
    deployPatch,
    cloudflare: { credentialsRef: { name: "main" }, zoneId: "z", domain: "example.com" },
  };

  it("TUN-009 loses nothing, be it the text of the patch", () => {
    const old = down(spec, { mine: "yes" });
    expect(old.spec).toEqual({ newTunnel: { name: "main" }, size: 2, cloudflare: { domain: "example.com" } });
    const back: Loose = toV1Alpha2(structuredClone(old));
    expect([back.spec, back.metadata.annotations]).toEqual([spec, { mine: "yes" }]);
    expect(down({ deployPatch: "{}" }).metadata.annotations).toBeUndefined();
  });

  it("TUN-009 takes what is changed in v1alpha1 into the patch, and leaves the rest of it", () => {
    const old = down(spec);
    expect(patch({ ...old.spec, size: 4, image: "cf:2" }, old.metadata.annotations)).toEqual({
      spec: {
        replicas: 4,
        template: { spec: { containers: [{ name: "cloudflared", env: [], image: "cf:2" }] } },
      },
    });
    expect(patch({ ...old.spec, size: 1 }, old.metadata.annotations)).toEqual({
      spec: { template: { spec: { containers: [{ name: "cloudflared", env: [] }] } } },
    });
    const none = down({ deployPatch: '{"spec":{"replicas":0}}' });
    expect(patch(none.spec, none.metadata.annotations)).toEqual({ spec: { replicas: 0 } });
  });

  it("TUN-009 keeps a patch that cannot be read, for the condition to tell of it (TUN-233)", () => {
    for (const text of ["[", "- a", "a: *b", "5"]) {
      const back: Loose = toV1Alpha2(structuredClone(down({ deployPatch: text })));
      expect(back.spec.deployPatch).toBe(text);
    }
  });

  it("TUN-009 loses nothing of any patch", () => {
    const container = fc.record(
      { name: fc.constantFrom("cloudflared", "side"), image: fc.string() },
      { requiredKeys: [] },
    );
    const pod = fc.record(
      {
        nodeSelector: fc.dictionary(fc.string(), fc.string()),
        tolerations: fc.oneof(fc.array(fc.record({ key: fc.string() })), fc.string()),
        containers: fc.oneof(fc.array(container), fc.constant(null)),
      },
      { requiredKeys: [] },
    );
    const whole = fc.record({
      replicas: fc.oneof(fc.integer(), fc.constant(null)),
      template: fc.record({ spec: pod }),
    });
    fc.assert(
      fc.property(fc.record({ spec: whole }, { requiredKeys: [] }), (value) => {
        const text = JSON.stringify(value);
        const back: Loose = toV1Alpha2(structuredClone(down({ deployPatch: text })));
        expect(back.spec.deployPatch).toBe(text);
      }),
    );
  });
});
