import { describe, expect, it } from "vitest";
import type { HttpRoute, RouteRule } from "../../gateway-kinds.ts";
import { routeSource } from "./http-route.ts";

const BACKEND = { name: "web", port: 80 };

function contribution(rules: RouteRule[], hosts: string[] = ["r.example.com"]) {
  const route: HttpRoute = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "r", namespace: "a" },
    spec: { rules },
  };
  const found = routeSource(route, {
    hosts,
    config: undefined,
    service: (namespace, name) =>
      name === "absent"
        ? undefined
        : {
            apiVersion: "v1",
            kind: "Service",
            metadata: { name, namespace },
            spec: { ports: [{ port: 80 }, { port: 443 }] },
          },
    granted: (namespace) => namespace === "granted",
  });
  const { source, notices, unsupported, unresolved, empty } = found;
  return {
    rules: (source.rules ?? []).map(({ hostname, path, service, originRequest }) =>
      [hostname, path, service, originRequest?.httpHostHeader].filter((part) => part !== undefined).join(" "),
    ),
    notices: notices.map(({ reason }) => reason),
    unsupported: unsupported.length,
    unresolved: unresolved.map(({ reason }) => reason),
    empty,
    settings: source.settings,
  };
}

describe("source of a route", () => {
  it("TUN-524 matches paths as an Ingress does, and expressions as they are", () => {
    const matches = [
      {},
      { path: { type: "PathPrefix", value: "/api" } },
      { path: { type: "Exact", value: "/" } },
      { path: { type: "RegularExpression", value: "/v[0-9]+" } },
    ];
    expect(contribution([{ matches, backendRefs: [BACKEND] }]).rules).toEqual([
      "r.example.com http://web.a.svc:80",
      "r.example.com ^/api(/.*)?$ http://web.a.svc:80",
      "r.example.com ^/$ http://web.a.svc:80",
      "r.example.com /v[0-9]+ http://web.a.svc:80",
    ]);
  });

  it("TUN-480 tells a port that the Service has not", () => {
    const { rules, notices } = contribution([{ backendRefs: [{ ...BACKEND, port: 81 }] }]);
    expect([rules, notices]).toEqual([["r.example.com http://web.a.svc:81"], ["PortNotInService"]]);
    expect(contribution([{ backendRefs: [BACKEND] }]).notices).toEqual([]);
  });

  it("TUN-525 never widens a match that a tunnel cannot do", () => {
    const headers = [{ name: "x", value: "y" }];
    const both = contribution([{ matches: [{ headers }, { method: "GET" }, {}], backendRefs: [BACKEND] }]);
    expect([both.rules.length, both.unsupported, both.empty]).toEqual([1, 2, false]);
    const none = contribution([{ matches: [{ queryParams: headers }], backendRefs: [BACKEND] }]);
    expect([none.rules, none.empty]).toEqual([[], true]);
  });

  it("TUN-526 sets the Host header, and drops rules with other filters", () => {
    const set = [{ name: "Host", value: "inner" }];
    const rules = contribution([
      {
        filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set } }],
        backendRefs: [BACKEND],
      },
      {
        matches: [{ path: { value: "/a" } }],
        filters: [{ type: "URLRewrite", urlRewrite: { hostname: "other" } }],
        backendRefs: [BACKEND],
      },
      {
        matches: [{ path: { value: "/b" } }],
        filters: [{ type: "RequestRedirect" }],
        backendRefs: [BACKEND],
      },
    ]);
    expect(rules.rules).toEqual([
      "r.example.com http://web.a.svc:80 inner",
      "r.example.com ^/a(/.*)?$ http://web.a.svc:80 other",
    ]);
    expect(rules.unsupported).toBe(1);
  });

  it("TUN-527 serves the heaviest backend that can be used, and says that it is one", () => {
    const split = [
      { ...BACKEND, weight: 1 },
      { name: "big", port: 443, weight: 9 },
      { name: "off", port: 80, weight: 0 },
    ];
    const found = contribution([{ backendRefs: split }]);
    expect([found.rules, found.unsupported]).toEqual([["r.example.com https://big.a.svc:443"], 1]);
    const first = contribution([{ backendRefs: [BACKEND, { name: "other", port: 80 }] }]);
    expect(first.rules).toEqual(["r.example.com http://web.a.svc:80"]);
  });

  it("TUN-527 TUN-528 answers 500 without a backend that can be used, and says why", () => {
    const cases = [
      { name: "absent", port: 80 },
      { name: "web", port: 80, namespace: "b" },
      { name: "web", kind: "Bucket", group: "x" },
    ];
    const found = cases.map((backend) => contribution([{ backendRefs: [backend] }]));
    expect(found.map(({ unresolved }) => unresolved)).toEqual([
      ["BackendNotFound"],
      ["RefNotPermitted"],
      ["InvalidKind"],
    ]);
    for (const { rules } of found) expect(rules).toEqual(["r.example.com http_status:500"]);
    expect(contribution([{ backendRefs: [{ name: "web", port: 80, namespace: "granted" }] }]).rules).toEqual([
      "r.example.com http://web.granted.svc:80",
    ]);
  });

  it("TUN-523 without any host a path makes a rule for all, and none makes what is fallen back to", () => {
    const found = contribution(
      [{ backendRefs: [BACKEND] }, { matches: [{ path: { value: "/x" } }], backendRefs: [BACKEND] }],
      [""],
    );
    expect([found.rules, found.settings]).toEqual([
      ["^/x(/.*)?$ http://web.a.svc:80"],
      { fallbackTarget: "http://web.a.svc:80" },
    ]);
  });
});

it("TUN-529 the protocol is that of the route's annotation, of the Service, of its port or of the number; options are the class's", () => {
  const of = (annotations: object, port: object, serviceAnnotations = {}) => {
    const route = {
      metadata: { name: "r", namespace: "a", annotations },
      spec: { rules: [{ backendRefs: [{ name: "web", port: 443 }] }] },
    } as unknown as HttpRoute;
    const metadata = { name: "web", namespace: "a", annotations: serviceAnnotations };
    const { source } = routeSource(route, {
      hosts: ["r.example.com"],
      config: { spec: { defaultOriginRequest: { noTlsVerify: true, connectTimeout: "3s" } } } as never,
      service: () => ({ metadata, spec: { ports: [{ port: 443, ...port }] } }) as never,
      granted: () => false,
    });
    return source.rules?.[0];
  };
  const asked = { "cloudflare-operator.io/protocol": "tcp" };
  const served = { "cloudflare.com/protocol": "ssh" };
  const port = { appProtocol: "kubernetes.io/wss", name: "http" };
  const services = [
    of(asked, port, served),
    of({}, port, served),
    of({}, port),
    of({}, { name: "http" }),
    of({}, {}),
    of({ "cloudflare-operator.io/protocol": "gopher" }, {}),
  ].map((rule) => rule?.service.split(":")[0]);
  expect(services).toEqual(["tcp", "ssh", "wss", "http", "https", "https"]);
  expect(of({}, {})?.originRequest).toEqual({ noTLSVerify: true, connectTimeout: 3 });
});
