import type { Service } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import type { Ingress } from "../../kinds.ts";
import { hostsOf, ingressSource } from "./ingress.ts";

type Path = { path?: string; pathType?: string; backend: object };

function ingress(spec: object, annotations: Record<string, string> = {}): Ingress {
  const metadata = {
    name: "i",
    namespace: "shop",
    generation: 3,
    creationTimestamp: "2026-01-01T00:00:00Z",
    annotations,
  };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec } as Ingress;
}

const backend = (port: object = { number: 80 }, name = "web") => ({ service: { name, port } });
const rule = (host: string | undefined, ...paths: Path[]) => ({
  ...(host !== undefined && { host }),
  http: { paths },
});
const root = (port?: object, name?: string): Path => ({
  path: "/",
  pathType: "Prefix",
  backend: backend(port, name),
});

function service(name: string, ports: object[], annotations: Record<string, string> = {}): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop", annotations },
    spec: { ports },
  } as Service;
}

function contribution(object: Ingress, services: Service[] = [], config?: object) {
  const found = (namespace: string, name: string) =>
    services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return ingressSource(object, { config: config as never, service: found });
}

const rulesOf = (...args: Parameters<typeof contribution>) => contribution(...args).source.rules ?? [];
const serviceOf = (...args: Parameters<typeof contribution>) => rulesOf(...args)[0]?.service;

describe("rules of an Ingress", () => {
  it("TUN-303 TUN-454 TUN-456 name their object, and come one for each path", () => {
    const { source } = contribution(ingress({ rules: [rule("a.b", root()), rule("c.d"), { host: "e.f" }] }));
    expect(source).toEqual({
      kind: "Ingress",
      namespace: "shop",
      name: "i",
      generation: 3,
      priority: 100,
      createdAt: "2026-01-01T00:00:00Z",
      rules: [{ hostname: "a.b", service: "http://web.shop.svc:80", priority: 100 }],
    });
  });

  it.each([
    ["Prefix", "", undefined, undefined],
    ["Prefix", "/", undefined, undefined],
    [undefined, "/", undefined, undefined],
    ["Prefix", "/foo", "^/foo(/.*)?$", "Prefix"],
    ["ImplementationSpecific", "/foo/", "^/foo(/.*)?$", "Prefix"],
    ["Exact", "/", "^/$", "Exact"],
    ["Exact", "/foo/", "^/foo/$", "Exact"],
    ["Prefix", "/v1.0", "^/v1\\.0(/.*)?$", "Prefix"],
    ["Exact", "/a(b)[c]+$", "^/a\\(b\\)\\[c\\]\\+\\$$", "Exact"],
  ])("TUN-455 path %s %j becomes %j", (pathType, path, expected, kind) => {
    const one = { path, backend: backend(), ...(pathType !== undefined && { pathType }) };
    const [made] = rulesOf(ingress({ rules: [rule("a.b", one)] }));
    expect([made?.path, made?.pathKind]).toEqual([expected, kind]);
  });

  it("TUN-457 TUN-458 TUN-459 ports: by number, by name, the first; what is missing is answered with 503 and told", () => {
    const ports = [
      { name: "web", port: 8080 },
      { name: "admin", port: 9090 },
    ];
    const services = [service("web", ports)];
    const of = (port: object, name = "web") =>
      contribution(ingress({ rules: [rule("a.b", root(port, name))] }), services);
    const outcome = ({ source, notices }: ReturnType<typeof of>) => [
      source.rules?.[0]?.service,
      notices.map(({ reason }) => reason),
    ];
    expect(outcome(of({ number: 81 }))).toEqual(["http://web.shop.svc:81", ["PortNotInService"]]);
    expect(outcome(of({ number: 9090 }))).toEqual(["http://web.shop.svc:9090", []]);
    expect(outcome(of({ name: "admin" }))).toEqual(["http://web.shop.svc:9090", []]);
    expect(outcome(of({}))).toEqual(["http://web.shop.svc:8080", []]);
    expect(outcome(of({ name: "none" }))).toEqual(["http_status:503", ["PortNotFound"]]);
    expect(outcome(of({ name: "admin" }, "gone"))).toEqual(["http_status:503", ["PortNotFound"]]);
    expect(outcome(of({ number: 80 }, "gone"))).toEqual(["http://gone.shop.svc:80", ["ServiceNotFound"]]);
    const resource = contribution(
      ingress({ rules: [rule("a.b", { path: "/", backend: { resource: {} } })] }),
    );
    expect(outcome(resource)).toEqual(["http_status:503", ["UnsupportedBackend"]]);
  });

  it("TUN-480 a port that the Service has not is told with those that it has; names without ports of their own have any", () => {
    const of = (spec: object) =>
      contribution(ingress({ rules: [rule("a.b", root({ number: 81 }))] }), [
        { ...service("web", []), spec } as Service,
      ]).notices;
    const ports = [{ port: 80 }, { port: 443 }];
    expect(of({ ports })).toEqual([
      {
        reason: "PortNotInService",
        message: "Service shop/web has no port 81, its ports: 80, 443; requests are answered with 502",
      },
    ]);
    expect(of({})[0]?.message).toContain("its ports: none");
    expect([of({ ports, clusterIP: "None" }), of({ type: "ExternalName" })]).toEqual([[], []]);
  });

  it("TUN-479 the depth of a wildcard is told once", () => {
    const { notices } = contribution(
      ingress({ rules: [rule("*.b.c", root(), { ...root(), path: "/x" }), rule("a.b.c", root())] }),
      [service("web", [{ port: 80 }])],
    );
    expect(notices).toEqual([
      {
        reason: "WildcardDepth",
        message: expect.stringMatching(/^\*\.b\.c serves every name below b\.c, .* not b\.c itself/),
      },
    ]);
  });

  it("TUN-460 TUN-461 TUN-462 TUN-463 TUN-464 the first level that tells a protocol decides", () => {
    const port = { name: "https", port: 443, appProtocol: "kubernetes.io/ws" };
    const spec = { rules: [rule("a.b", root({ number: 443 }))] };
    const all = { "cloudflare.com/protocol": "tcp", "cloudflare.com/protocol-443": "ssh" };
    const services = [service("web", [port], { "cloudflare.com/protocol": "rdp" })];
    const scheme = (value: string | undefined) => value?.split(":")[0];
    expect(scheme(serviceOf(ingress(spec, all), services))).toBe("tcp");
    expect(scheme(serviceOf(ingress(spec, { "cloudflare.com/protocol-443": "ssh" }), services))).toBe("ssh");
    expect(scheme(serviceOf(ingress(spec), services))).toBe("rdp");
    expect(scheme(serviceOf(ingress(spec), [service("web", [port])]))).toBe("ws");
    expect(scheme(serviceOf(ingress(spec), [service("web", [{ ...port, appProtocol: "x" }])]))).toBe("https");
    const plain = [service("web", [{ port: 443 }])];
    expect(scheme(serviceOf(ingress(spec), plain, { spec: { defaultProtocol: "http" } }))).toBe("http");
    expect(scheme(serviceOf(ingress(spec), plain, { spec: {} }))).toBe("https");
    const bad = contribution(ingress(spec, { "cloudflare.com/protocol": "gopher" }), plain);
    expect([scheme(bad.source.rules?.[0]?.service), bad.notices.map(({ reason }) => reason)]).toEqual([
      "https",
      ["InvalidAnnotation"],
    ]);
    expect(serviceOf(ingress(spec, { "cloudflare.com/protocol": "bastion" }), plain)).toBe("bastion");
  });

  it("TUN-465 TUN-466 TUN-467 annotations go over the options of the class; malformed ones are told", () => {
    const annotations = {
      "cloudflare.com/no-tls-verify": "T",
      "cloudflare.com/connect-timeout": "1500ms",
      "cloudflare.com/disable-chunked-encoding": "false",
      "cloudflare.com/ca-pool": "ca.crt",
      "cloudflare.com/access-required": "true",
      "cloudflare.com/access-team-name": "team",
      "cloudflare.com/access-aud": "x, y",
      "cloudflare.com/proxy-port": "70000",
      "cloudflare.com/tls-timeout": "soon",
    };
    const config = {
      spec: { defaultOriginRequest: { tlsTimeout: "5s", noTlsVerify: false, disableChunkedEncoding: true } },
    };
    const { source, notices } = contribution(
      ingress({ rules: [rule("a.b", root())] }, annotations),
      [],
      config,
    );
    expect(source.rules?.[0]?.originRequest).toEqual({
      tlsTimeout: 5,
      noTLSVerify: true,
      connectTimeout: 2,
      disableChunkedEncoding: false,
      caPool: "/etc/cloudflared/certs/ca.crt",
      access: { required: true, teamName: "team", audTag: ["x", "y"] },
    });
    expect(notices.filter(({ reason }) => reason === "InvalidAnnotation")).toHaveLength(2);
  });

  it("TUN-468 TUN-469 TUN-470 default backends serve what is left over of hosts, and fall back for all others", () => {
    const tls = [{ hosts: ["t.b"] }];
    const defaultBackend = backend({ number: 1 }, "rest");
    const spec = {
      tls,
      defaultBackend,
      rules: [rule("a.b", { path: "/x", pathType: "Exact", backend: backend() }), rule("c.d", root())],
    };
    const rules = rulesOf(ingress(spec));
    expect(rules.map(({ hostname, path, service: from }) => [hostname, path, from])).toEqual([
      ["a.b", "^/x$", "http://web.shop.svc:80"],
      ["c.d", undefined, "http://web.shop.svc:80"],
      ["a.b", undefined, "http://rest.shop.svc:1"],
      ["t.b", undefined, "http://rest.shop.svc:1"],
    ]);
    const alone = contribution(ingress({ defaultBackend })).source;
    expect([alone.rules, alone.settings]).toEqual([[], { fallbackTarget: "http://rest.shop.svc:1" }]);
    const hostless = contribution(
      ingress({
        tls,
        rules: [rule(undefined, root(), { path: "/p", pathType: "Prefix", backend: backend() })],
      }),
    ).source;
    expect(hostless.settings).toEqual({ fallbackTarget: "http://web.shop.svc:80" });
    expect(hostless.rules).toMatchObject([{ path: "^/p(/.*)?$" }]);
    expect(hostsOf(hostless)).toEqual([]);
  });
});
