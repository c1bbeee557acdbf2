import { describe, expect, it } from "vitest";
import type { TunnelIngressClassConfig } from "../api.gen.ts";
import type { Cached, Ingress, IngressClass } from "../kinds.ts";
import { type ClassWorld, ingressTarget, isOurDefaultClass } from "./targets.ts";

const OURS = "cloudflare-operator.io/ingress-controller";
const GROUP = "networking.cloudflare-operator.io";

const ingress = (ingressClassName: string | undefined, annotations: Record<string, string> = {}) =>
  ({
    metadata: { name: "i", namespace: "shop", annotations },
    spec: { ingressClassName },
  }) as Cached<Ingress>;

function ingressClass(parameters?: object, controller = OURS, annotations = {}): Cached<IngressClass> {
  return { metadata: { name: "c", annotations }, spec: { controller, parameters } } as never;
}

function world(one: Cached<IngressClass>, more: Partial<ClassWorld> = {}): ClassWorld {
  return {
    ingressClass: (name) => (name === "c" ? one : undefined),
    defaultClasses: [],
    classConfig: () => undefined,
    clusterTunnels: ["main"],
    operatorNamespace: "ops",
    ...more,
  };
}

const KNOWN = { state: "known", ref: { kind: "ClusterTunnel", namespace: "", name: "main" } };

describe("the tunnel of an Ingress", () => {
  it("TUN-450 is ours to find when the class is: by its name, by the old annotation, by default", () => {
    const ours = world(ingressClass());
    expect(ingressTarget(ingress("c"), ours)).toEqual(KNOWN);
    expect(ingressTarget(ingress(undefined, { "kubernetes.io/ingress.class": "c" }), ours)).toEqual(KNOWN);
    const byDefault = world(ingressClass(), { defaultClasses: ["c"] });
    expect(ingressTarget(ingress(undefined), byDefault)).toEqual(KNOWN);
    const isDefault = { "ingressclass.kubernetes.io/is-default-class": "true" };
    expect(isOurDefaultClass(ingressClass(undefined, OURS, isDefault))).toBe(true);
    expect(isOurDefaultClass(ingressClass(undefined, "nginx", isDefault))).toBe(false);
    const foreign = [
      ingressTarget(ingress(undefined), ours),
      ingressTarget(ingress("other"), byDefault),
      ingressTarget(ingress("other", { "kubernetes.io/ingress.class": "c" }), ours),
      ingressTarget(ingress("c"), world(ingressClass(undefined, "nginx"))),
    ];
    expect(foreign).toEqual(foreign.map(() => ({ state: "foreign" })));
  });

  it("TUN-452 is the only ClusterTunnel where the class has no parameters", () => {
    const of = (...clusterTunnels: string[]) =>
      ingressTarget(ingress("c"), world(ingressClass(), { clusterTunnels }));
    expect(of("one")).toMatchObject({ ref: { name: "one" } });
    for (const none of [of(), of("one", "two")])
      expect(none).toMatchObject({
        state: "unknown",
        reason: "ConfigError",
        message: expect.stringContaining("IngressClass c"),
      });
  });

  it("TUN-451 is that of the class config, which must be one and be there", () => {
    const spec = { tunnelRef: { kind: "Tunnel", name: "own" } };
    const config = {
      metadata: { name: "p", namespace: "ops" },
      spec,
    } as unknown as Cached<TunnelIngressClassConfig>;
    const classConfig: ClassWorld["classConfig"] = (namespace, name) =>
      namespace === "ops" && name === "p" ? config : undefined;
    const of = (parameters: object) =>
      ingressTarget(ingress("c"), world(ingressClass(parameters), { classConfig }));
    const right = { apiGroup: GROUP, kind: "TunnelIngressClassConfig", name: "p" };
    expect(of(right)).toMatchObject({ ref: { kind: "Tunnel", namespace: "ops", name: "own" } });
    for (const wrong of [
      { ...right, apiGroup: "x" },
      { ...right, kind: "ConfigMap" },
      { ...right, name: "q" },
      { ...right, namespace: "elsewhere" },
    ])
      expect(of(wrong)).toMatchObject({ state: "unknown", reason: "ConfigError" });
  });

  it("TUN-453 is none for Ingresses outside the namespaces of the class", () => {
    const of = (...watchNamespaces: string[]) => {
      const spec = { tunnelRef: { kind: "ClusterTunnel", name: "main" }, watchNamespaces };
      const config = {
        metadata: { name: "p", namespace: "ops" },
        spec,
      } as unknown as Cached<TunnelIngressClassConfig>;
      const parameters = { apiGroup: GROUP, kind: "TunnelIngressClassConfig", name: "p" };
      return ingressTarget(ingress("c"), world(ingressClass(parameters), { classConfig: () => config }))
        .state;
    };
    expect([of(), of("shop", "x"), of("x")]).toEqual(["known", "known", "foreign"]);
  });
});
