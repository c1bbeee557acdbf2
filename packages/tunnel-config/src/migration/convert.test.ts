import type { Service } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { bindingSource } from "../desired/sources/binding.ts";
import { routeSource } from "../desired/sources/http-route.ts";
import { ingressSource } from "../desired/sources/ingress.ts";
import { type ConvertOptions, convertBindings } from "./convert.ts";
import { manifestsOf, migratedText } from "./manifests.ts";
import { pathMatch } from "./path-match.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

const INGRESS: ConvertOptions = { to: "ingress", className: "cf", domain: "" };
const ROUTE: ConvertOptions = { to: "httproute", gateway: { namespace: "infra", name: "gw" }, domain: "" };
const service = (name: string, port: number, protocol = "TCP"): Loose => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "web" },
  spec: { ports: [{ name: "grpc", port, protocol }] },
});
const tunnel = {
  apiVersion: "networking.cloudflare-operator.io/v1alpha2",
  kind: "ClusterTunnel",
  metadata: { name: "main" },
  spec: { cloudflare: { domain: "example.com" } },
};
const binding = (...subjects: Loose[]): Loose => ({
  apiVersion: "networking.cloudflare-operator.io/v1alpha1",
  kind: "TunnelBinding",
  metadata: { name: "shop", namespace: "web" },
  subjects,
  tunnelRef: { kind: "ClusterTunnel", name: "main" },
});
const SERVICES = [
  service("shop", 443),
  service("shell", 22),
  service("dns", 53, "UDP"),
  service("api", 8080),
];

function converted(objects: Loose[], options = INGRESS) {
  const text = [...objects, ...SERVICES, tunnel].map((one) => `---\n${stringify(one)}`).join("");
  const all = convertBindings(manifestsOf(text), options);
  const documents = parseAllDocuments(migratedText(all)).map((one) => one.toJS());
  const notes = all.flatMap((one) => one.notes).filter((note) => !note.startsWith("to do"));
  return { objects: documents.filter((one): Loose => one !== null) as Loose[], notes };
}

const lookUp = (namespace: string, name: string): Service | undefined =>
  SERVICES.find((one) => one.metadata.namespace === namespace && one.metadata.name === name);
/** What is served, whatever asked for it. */
const served = (rules: readonly Loose[] = []): Loose[] =>
  rules.map(({ priority: _, pathKind: __, matchPath: ___, ...rule }) => rule);

const SUBJECTS = [
  { name: "shop" },
  { name: "shell", spec: { fqdn: "Shell.Example.com." } },
  { name: "dns", spec: { fqdn: "dns.example.com" } },
  { name: "api", spec: { fqdn: "*.api.example.com", protocol: "https", path: "^/v1(/.*)?$" } },
  { name: "api", spec: { fqdn: "api.example.com", path: "^/exact$", noTlsVerify: true, http2Origin: true } },
  {
    name: "x",
    spec: {
      fqdn: "x.example.com",
      target: "tcp://api.web.svc:8080",
      caPool: "a.crt",
      proxyAddress: "127.0.0.2",
      proxyPort: 9,
      proxyType: "socks",
    },
  },
];

describe("TunnelBindings", () => {
  it("TUN-1017 as Ingresses serve the same hosts and paths from the same Services, with the same options", () => {
    const from = binding(...SUBJECTS);
    const { objects, notes } = converted([from]);
    expect(notes).toEqual([]);
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(SUBJECTS.map((_, index) => `shop-${index}`));
    const before = bindingSource(from, { domain: "example.com", service: lookUp });
    const after = objects.flatMap(
      (one) => ingressSource(one, { config: undefined, service: lookUp }).source.rules,
    );
    expect(served(after)).toEqual(served(before.source.rules));
    expect(objects[0].spec.ingressClassName).toBe("cf");
  });

  it("TUN-1017 as HTTPRoutes keep expressions, and tell options that a route cannot have", () => {
    const from = binding(...SUBJECTS.slice(0, 4), {
      name: "api",
      spec: { fqdn: "r.example.com", path: "/v[0-9]+" },
    });
    const { objects, notes } = converted([from], ROUTE);
    expect(notes).toEqual([]);
    const before = bindingSource(from, { domain: "example.com", service: lookUp });
    const after = objects.flatMap((one) => {
      const inputs = { hosts: one.spec.hostnames, config: undefined, service: lookUp, granted: () => false };
      return routeSource(one, inputs).source.rules;
    });
    expect(served(after)).toEqual(served(before.source.rules));
    expect(objects[0].spec.parentRefs).toEqual([{ namespace: "infra", name: "gw" }]);
    expect(converted([binding(SUBJECTS[4])], ROUTE).notes).toEqual([
      expect.stringMatching(/noTlsVerify: an HTTPRoute has no options/),
      expect.stringMatching(/http2Origin: an HTTPRoute has no options/),
    ]);
  });

  it.each([
    [
      { name: "shop", spec: { fqdn: "a.example.com", path: "/v[0-9]+" } },
      /is none that an Ingress can have; an HTTPRoute may/,
    ],
    [{ name: "none", spec: { fqdn: "a.example.com" } }, /ports of Service none are not known/],
    [
      { name: "x", spec: { fqdn: "a.example.com", target: "http://api.other.svc:80" } },
      /is no port of a Service/,
    ],
    [{ name: "x", spec: { fqdn: "a.example.com", target: "http_status:404" } }, /is no port of a Service/],
    [{ name: "shop", spec: { fqdn: "*" } }, /is none that an Ingress takes/],
    [{ name: "shop", spec: { fqdn: "a_b.example.com" } }, /is none that an Ingress takes/],
  ])("TUN-1017 subject %j is left out, with the reason", (subject, reason) => {
    const { objects, notes } = converted([binding(subject)]);
    expect([objects, notes]).toEqual([[], [expect.stringMatching(reason)]]);
  });

  it("TUN-1017 says what is left to the binding when a part of it is left out", () => {
    const text = stringify(binding(SUBJECTS[5], { name: "none" }));
    const [{ objects, notes }] = convertBindings(manifestsOf(text), { ...INGRESS, domain: "a.b" }) as [Loose];
    expect([objects.length, notes.at(-1)]).toEqual([
      1,
      expect.stringContaining("take the other subjects out of it"),
    ]);
  });

  it("TUN-1017 takes the ancestor's bindings and those with a spec, and opens nothing to everybody", () => {
    const subject = { name: "shop", spec: { fqdn: "a.example.com" } };
    const { subjects, tunnelRef, ...rest } = binding(subject);
    const old = { ...binding(subject), apiVersion: "networking.cfargotunnel.com/v1alpha1" };
    const within = { ...rest, spec: { subjects, tunnelRef: { ...tunnelRef, disableDNSUpdates: true } } };
    const { objects } = converted([old, within]);
    expect(objects.map(({ spec }) => spec.rules[0].host)).toEqual(["a.example.com", "a.example.com"]);
    expect(objects[1].metadata.annotations["cloudflare.com/disable-dns"]).toBe("true");
    expect(converted([{ ...old, accessConfig: { enabled: true } }]).objects).toEqual([]);
    const unnamed = [{ ...binding({ name: "shop" }), tunnelRef: { kind: "Tunnel", name: "none" } }];
    expect(converted(unnamed).notes).toEqual([
      expect.stringContaining("add the tunnel to the file, or --domain"),
    ]);
    expect(converted(unnamed, { ...INGRESS, domain: "example.org" }).objects[0].spec.rules[0].host).toBe(
      "shop.example.org",
    );
  });
});

it.each([
  ["", "PathPrefix /"],
  ["/.*", "PathPrefix /"],
  ["^/a$", "Exact /a"],
  ["^/a\\.b$", "Exact /a.b"],
  ["^/a.b$", "Exact /a.b"],
  ["^/a(/.*)?$", "PathPrefix /a"],
  ["/a", "PathPrefix /a *"],
  ["^/a", "PathPrefix /a *"],
  ["a", undefined],
  ["/a|/b", undefined],
  ["/a//b", undefined],
  ["\\/a", "PathPrefix /a *"],
  ["/a\\d", undefined],
])("TUN-1017 expression %j is path %j of an Ingress", (expression, expected) => {
  const match = pathMatch(expression, false);
  const text = match && `${match.type} ${match.path}${match.note === undefined ? "" : " *"}`;
  expect(text).toBe(expected);
});

it("TUN-1017 makes no two objects of one name, and none of a name that one of the file has", () => {
  const named = (name: string, ...subjects: Loose[]): Loose => ({
    ...binding(...subjects),
    metadata: { name, namespace: "web" },
  });
  const there = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "api", namespace: "web" },
  };
  const all = [
    there,
    named("shop", { name: "shop" }, { name: "api" }),
    named("shop-1", { name: "shop" }),
    named("api", { name: "api" }),
  ];
  const names = ({ objects }: ReturnType<typeof converted>) => objects.map(({ metadata }) => metadata.name);
  expect(names(converted(all))).toEqual(["shop-0", "shop-2", "shop-1", "api-0"]);
  expect(names(converted(all, ROUTE))).toEqual(["shop-0", "shop-2", "shop-1", "api"]);
});
