import type { JsonMap, Service } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { clusterOf, nacos, stored } from "../fixtures.testkit.ts";
import { fixedLabels } from "./names.ts";
import { type ServicePlan, servicePlans } from "./services.ts";
import { settingsOf } from "./settings.ts";

type Resource = ReturnType<typeof nacos>;

const plans = (resource: Resource, selector: Record<string, string> = fixedLabels("demo")): ServicePlan[] =>
  servicePlans(settingsOf(resource), selector);
const plan = (resource: Resource, name: string): ServicePlan =>
  plans(resource).find(({ created }) => created.metadata.name === name)!;
const ports = ({ spec }: Service): string[] => (spec.ports ?? []).map(({ name, port }) => `${name}:${port}`);
/** As the API server stores it: some defaults, and false values dropped. */
function live(service: Service, spec: JsonMap = {}): Service {
  const copy = stored(service);
  const { publishNotReadyAddresses, ...rest } = copy.spec;
  return {
    ...copy,
    spec: {
      ...rest,
      ...(publishNotReadyAddresses ? { publishNotReadyAddresses } : {}),
      clusterIPs: ["10.0.0.9"],
      sessionAffinity: "None",
      ipFamilies: ["IPv6"],
      internalTrafficPolicy: "Cluster",
      ...spec,
    },
  };
}

describe("Services", () => {
  it("NACOS-501 makes members find each other before they are ready", () => {
    const { created } = plan(clusterOf(), "demo-headless");
    expect(created.spec).toMatchObject({
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: fixedLabels("demo"),
    });
    expect(ports(created)).toEqual(["client:8848", "rpc:7848", "new-rpc:9848", "cluster-rpc:9849"]);
  });

  it("NACOS-404 NACOS-417 take over what the resource drops of labels and annotations, and nothing of others", () => {
    const before = clusterOf(
      { clientService: { annotations: { lb: "internal" } } },
      { labels: { team: "a", kept: "1" }, annotations: { note: "x" } },
    );
    const found = live(plan(before, "demo-client").created);
    Object.assign(found.metadata.annotations!, { cloud: "id" });
    Object.assign(found.metadata.labels!, { theirs: "y" });
    expect(plan(before, "demo-client").updated(found).changed).toBe(false);
    const after = clusterOf({}, { labels: { kept: "2" } });
    const { object } = plan(after, "demo-client").updated(found);
    expect(object.metadata.labels).toEqual({ ...fixedLabels("demo"), kept: "2", theirs: "y" });
    expect(object.metadata.annotations).toEqual({ cloud: "id", "nacos.io/inherited": '{"labels":["kept"]}' });
    expect(plan(after, "demo-client").updated(object).changed).toBe(false);
    const bare = plan(clusterOf(), "demo-client").updated(object).object;
    expect(bare.metadata).toMatchObject({ annotations: { cloud: "id" }, labels: { theirs: "y" } });
    expect(bare.metadata.annotations).not.toHaveProperty(["nacos.io/inherited"]);
    expect(bare.metadata.labels).not.toHaveProperty("kept");
    const spoilt = live(plan(clusterOf(), "demo-client").created);
    for (const text of ["{", "null", '{"labels":1}']) {
      spoilt.metadata.annotations = { "nacos.io/inherited": text, cloud: "id" };
      expect(plan(clusterOf(), "demo-client").updated(spoilt).object.metadata.annotations).toEqual({
        cloud: "id",
      });
    }
  });

  it("NACOS-502 gives standalone an address in the cluster, and no headless Service", () => {
    expect(plans(nacos()).map(({ created }) => created.metadata.name)).toEqual(["demo", "demo-client"]);
    const { created } = plan(nacos(), "demo");
    expect(created.spec).toMatchObject({ type: "ClusterIP" });
    expect(ports(created)).toEqual(["client:8848", "rpc:7848", "new-rpc:9848"]);
  });

  it("NACOS-503 NACOS-504 NACOS-505 NACOS-507 offers clients ready nodes inside the cluster alone", () => {
    const { created } = plan(clusterOf(), "demo-client");
    expect(ports(created)).toEqual(["client:8848", "rpc:9848"]);
    expect(created.spec).toMatchObject({ type: "ClusterIP", publishNotReadyAddresses: false });
    expect(created.spec).not.toHaveProperty("ipFamilies");
    expect(created.spec).not.toHaveProperty("ipFamilyPolicy");
    const three = plan(clusterOf({ image: "nacos/nacos-server:v3.0.1" }), "demo-client");
    expect(ports(three.created)).toContain("console:8080");
  });

  it("NACOS-204 changes nothing in what the API server stored", () => {
    for (const resource of [clusterOf(), nacos()]) {
      for (const { created, updated } of plans(resource)) expect(updated(live(created)).changed).toBe(false);
    }
  });

  it("NACOS-504 NACOS-505 NACOS-506 keeps type, node ports, addresses and not-ready publishing of the peer's Service", () => {
    const { created, updated } = plan(clusterOf(), "demo-client");
    const peers = live(created, {
      type: "NodePort",
      publishNotReadyAddresses: true,
      ipFamilies: ["IPv4"],
      healthCheckNodePort: 31000,
      ports: (created.spec.ports ?? []).map((port, at) => ({ ...port, nodePort: 30123 + at })),
    });
    peers.metadata.annotations = { "foreign.io/x": "1" };
    expect(updated(peers).changed).toBe(false);
    const reselected = { ...peers, spec: { ...peers.spec, selector: { app: "other" } } };
    const { object, changed } = updated(reselected);
    expect(changed).toBe(true);
    expect(object.spec).toEqual({ ...peers.spec });
  });

  it("NACOS-505 takes type, annotations and families from clientService when it is set", () => {
    const clientService = {
      type: "LoadBalancer",
      annotations: { "lb.io/a": "1" },
      ipFamilyPolicy: "PreferDualStack",
      publishNotReadyAddresses: true,
      loadBalancerClass: "x.io/y",
    };
    const { created, updated } = plan(clusterOf({ clientService }), "demo-client");
    const { annotations, ...spec } = clientService;
    expect(created.spec).toMatchObject(spec);
    const inherited = { "nacos.io/inherited": '{"annotations":["lb.io/a"]}' };
    expect(created.metadata.annotations).toEqual({ ...annotations, ...inherited });
    const before = live(plan(clusterOf(), "demo-client").created);
    expect(updated(before).object.spec).toMatchObject(spec);
    const back = plan(
      clusterOf({ clientService: { publishNotReadyAddresses: false, type: "ClusterIP" } }),
      "demo-client",
    );
    const undone = back.updated(live(created)).object.spec;
    expect(undone).not.toHaveProperty("publishNotReadyAddresses");
    expect(undone.type).toBe("ClusterIP");
  });

  it("NACOS-502 NACOS-508 repairs ports and selector that were edited by hand", () => {
    const { created, updated } = plan(nacos(), "demo");
    const edited = live(created, {
      selector: {},
      ports: [
        { name: "client", port: 1, targetPort: 1, protocol: "TCP" },
        { name: "strange", port: 2 },
      ],
    });
    const { object } = updated(edited);
    expect(object.spec.selector).toEqual(fixedLabels("demo"));
    expect(ports(object)).toEqual(["client:8848", "rpc:7848", "new-rpc:9848"]);
  });

  it("NACOS-404 selects by the StatefulSet's own selector", () => {
    const selector = { app: "demo", team: "a" };
    for (const { created } of plans(clusterOf(), selector)) expect(created.spec.selector).toEqual(selector);
  });

  it.each([
    {
      wanted: { ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" },
      families: ["IPv4", "IPv6"],
      kept: true,
    },
    {
      wanted: { ipFamilies: ["IPv4"], ipFamilyPolicy: "RequireDualStack" },
      families: ["IPv4", "IPv6"],
      kept: true,
    },
    { wanted: { ipFamilies: [] }, families: ["IPv6"], kept: true },
    {
      wanted: { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
      families: ["IPv4", "IPv6"],
      kept: false,
    },
    {
      wanted: { ipFamilies: ["IPv6"], ipFamilyPolicy: "PreferDualStack" },
      families: ["IPv4", "IPv6"],
      kept: false,
    },
  ])(
    "NACOS-506 NACOS-204 keeps IP families that the server has added: $wanted, $families",
    ({ wanted, families, kept }) => {
      const resource = clusterOf({ clientService: wanted });
      const { created, updated } = plan(resource, "demo-client");
      const policy = { ipFamilyPolicy: "SingleStack", ...wanted }.ipFamilyPolicy;
      const { object, changed } = updated(live(created, { ipFamilies: families, ipFamilyPolicy: policy }));
      expect(changed).toBe(!kept);
      expect(object.spec.ipFamilies).toEqual(kept ? families : wanted.ipFamilies);
    },
  );
});
