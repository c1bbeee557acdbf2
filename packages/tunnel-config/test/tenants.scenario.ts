/** What a tenant of one namespace gets by its Tunnels: nothing that others have. */
import { gatewayCrds, installCrds, testNamespace } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { convertBindings } from "../src/migration/convert.ts";
import { importObjects } from "../src/migration/import.ts";
import { manifestsOf } from "../src/migration/manifests.ts";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;
let operator: string;
const shared = shareStage(async (opened) => {
  const place = await testNamespace(opened.client);
  opened.onClose(() => place.empty());
  operator = place.name;
  await installCrds(opened.client, gatewayCrds());
  const flags = { "tunnel-operator-namespace": operator };
  await opened.startManager({ namespaces: [opened.namespace, operator], flags });
});
beforeEach(() => {
  stage = shared.stage;
});

const tunnelId = async (kind: string, name: string): Promise<string> => {
  let id = "";
  await eventually(async () => {
    id = (await stage.get(kind, name)).status?.tunnelId ?? "";
    expect(id).not.toBe("");
  });
  return id;
};
const isDeleted = (id: string): boolean => Boolean(stage.cloudflare.state.tunnels.get(id)?.fields.deleted_at);
const document = async (id: string): Promise<Loose> => {
  const path = `/api/v1/namespaces/${operator}/configmaps/tunnel-config-${id}`;
  const { data } = await stage.client.ok<Loose>("GET", path);
  return JSON.parse(data["config.json"]);
};

const readiness = async (name: string): Promise<string> => {
  const { status } = await stage.get("DNSRecord", name);
  return status.conditions.find(({ type }: Loose) => type === "Ready").reason;
};

async function createGateway(): Promise<void> {
  const { namespace } = stage;
  const group = "networking.cloudflare-operator.io";
  await stage.create("TunnelGatewayClassConfig", "gc", {
    spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" }, dnsManagement: "Manual" },
  });
  await stage.create("GatewayClass", "cloudflare", {
    spec: {
      controllerName: "cloudflare-operator.io/gateway-controller",
      parametersRef: { group, kind: "TunnelGatewayClassConfig", name: "gc", namespace },
    },
  });
  const listeners = [{ name: "web", port: 80, protocol: "HTTP" }];
  await stage.create("Gateway", "gw", { spec: { gatewayClassName: "cloudflare", listeners } });
}

async function parentOf(name: string): Promise<Record<string, string>> {
  const parents = (await stage.get("HTTPRoute", name)).status?.parents ?? [];
  const conditions: Loose[] = parents[0]?.conditions ?? [];
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe("a DNSRecord of a namespace", () => {
  it("TUN-926 reads the address of an object of another namespace that a ReferenceGrant there lets it refer to", async () => {
    const elsewhere = `/api/v1/namespaces/${operator}/services`;
    await stage.client.ok("POST", elsewhere, {
      metadata: { name: "inner" },
      spec: { ports: [{ port: 80 }], externalIPs: ["192.0.2.7"] },
    });
    const service = { name: "inner", namespace: operator, addressType: "ExternalIP" };
    await stage.create("DNSRecord", "inner", { spec: { name: "inner.example.com", sourceRef: { service } } });
    const missing = { ...service, name: "missing" };
    await stage.create("DNSRecord", "missing", {
      spec: { name: "missing.example.com", sourceRef: { service: missing } },
    });
    for (const name of ["inner", "missing"])
      await eventually(async () => expect(await readiness(name)).toBe("RefNotPermitted"));
    expect(JSON.stringify(await stage.get("DNSRecord", "inner"))).not.toContain("192.0.2.7");
    const group = "networking.cloudflare-operator.io";
    const grants = `/apis/gateway.networking.k8s.io/v1beta1/namespaces/${operator}/referencegrants`;
    await stage.client.ok("POST", grants, {
      apiVersion: "gateway.networking.k8s.io/v1beta1",
      kind: "ReferenceGrant",
      metadata: { name: "inner" },
      spec: {
        from: [{ group, kind: "DNSRecord", namespace: stage.namespace }],
        to: [{ group: "", kind: "Service", name: "inner" }],
      },
    });
    await eventually(async () => expect(await readiness("inner")).toBe("Synced"));
    expect(await readiness("missing")).toBe("RefNotPermitted");
  });

  it("TUN-116 uses credentials that are for its namespace, and no others", async () => {
    const allowed = (...namespaces: string[]): object => ({
      metadata: { annotations: { "cloudflare-operator.io/namespaces": namespaces.join(", ") } },
    });
    const secretRef = { name: "cf", namespace: stage.namespace };
    await stage.create("CloudflareCredentials", "some", {
      ...allowed("another"),
      spec: { accountId: "test-account-id", authType: "apiToken", secretRef },
    });
    const cloudflare = { credentialsRef: { name: "some" } };
    await stage.create("DNSRecord", "a", {
      spec: { name: "a.example.com", type: "A", content: "192.0.2.1", cloudflare },
    });
    await eventually(async () => expect(await readiness("a")).toBe("CredentialsNotPermitted"));
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" }, cloudflare } });
    await tunnelId("ClusterTunnel", "main");
    await stage.patch("CloudflareCredentials", "some", allowed("another", stage.namespace));
    await eventually(async () => expect(await readiness("a")).toBe("Synced"));
  });
});

describe("a ConfigMap of a namespace", () => {
  it("TUN-318 that looks like the configuration of a tunnel is not even read", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await tunnelId("ClusterTunnel", "main");
    const read = (await stage.requests()).filter(({ path }) => /configmaps/.test(path));
    expect(read).not.toEqual([]);
    for (const { path } of read) expect(path).toContain(`/namespaces/${operator}/configmaps`);
  });
});

describe("hosts on a shared tunnel", () => {
  it("TUN-319 a namespace that fills the ConfigMap of a tunnel is held back itself; others are served", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await tunnelId("ClusterTunnel", "main");
    const ingress = (name: string, hosts: readonly string[]): object => ({
      metadata: { name, annotations: { "cloudflare.com/disable-dns": "true" } },
      spec: {
        ingressClassName: "cloudflare",
        rules: hosts.map((host) => ({
          host,
          http: {
            paths: [
              { path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } },
            ],
          },
        })),
      },
    });
    const floods = Array.from({ length: 14 }, (_, index) => `flood-${index}`);
    for (const name of floods) {
      const hosts = Array.from({ length: 500 }, (_, index) => `h${index}.${name}.example.com`);
      await stage.create("Ingress", name, ingress(name, hosts) as Loose);
    }
    const elsewhere = `/apis/networking.k8s.io/v1/namespaces/${operator}/ingresses`;
    await stage.client.ok("POST", elsewhere, ingress("quiet", ["quiet.example.com"]));
    try {
      const served = (): string[] =>
        stage.remote(id).ingress.map(({ hostname = "", service }: Loose) => `${hostname} ${service}`);
      let out: string[] = [];
      await eventually(async () => {
        expect(served()).toContain(`quiet.example.com http://web.${operator}.svc:80`);
        expect(served().length).toBeGreaterThan(2_000);
        const { rejected, sources } = await document(id);
        out = rejected.map(({ source, cause }: Loose) => `${cause} ${source}`);
        expect(out.length).toBeGreaterThan(0);
        const kept = Object.keys(sources).filter((key) => key.startsWith("Ingress/"));
        expect(out.length + kept.length).toBe(floods.length + 1);
      }, 60_000);
      for (const one of out) expect(one).toContain(`ConfigTooLarge Ingress/${stage.namespace}/flood-`);
      const [name = ""] = out.map((one) => one.split("/")[2]);
      await eventually(async () =>
        expect((await stage.events(name)).join("\n")).toMatch(/Warning ConfigTooLarge .*spread the hosts/),
      );
    } finally {
      await stage.client.request("DELETE", `${elsewhere}/quiet`);
    }
  });

  it("TUN-650 TUN-652 a namespace claims those that the policy of the tunnel gives it; the others are set aside and told", async () => {
    const own = stage.namespace;
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await tunnelId("ClusterTunnel", "main");
    const elsewhere = `/apis/networking.k8s.io/v1/namespaces/${operator}/ingresses`;
    const http = {
      paths: [
        { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
      ],
    };
    await stage.client.ok("POST", elsewhere, {
      metadata: { name: "shop" },
      spec: { ingressClassName: "cloudflare", rules: [{ host: "shop.example.com", http }] },
    });
    try {
      await stage.ingress("mine", "mine.example.com", "mine");
      await stage.ingress("thief", "shop.example.com", "thief", "/pay");
      const served = (): string[] =>
        stage.remote(id).ingress.map(({ hostname = "", service }: Loose) => `${hostname} ${service}`);
      const records = async (): Promise<string[]> =>
        (await stage.list("DNSRecord")).map(({ spec }) => spec.name).sort();
      await eventually(() => expect(served()).toHaveLength(4));
      await eventually(async () => expect(await records()).toEqual(["mine.example.com", "shop.example.com"]));

      const hostPolicy = [
        { namespaces: [operator], hostnames: ["*.example.com"] },
        {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": own } },
          hostnames: ["mine.example.com"],
        },
      ];
      await stage.patch("ClusterTunnel", "main", { spec: { hostPolicy } });
      const left = [
        `mine.example.com http://mine.${own}.svc:80`,
        `shop.example.com http://shop.${operator}.svc:80`,
        " http_status:404",
      ];
      await eventually(() => expect(served()).toEqual(left));
      await eventually(async () => expect(await records()).toEqual(["mine.example.com"]));
      const told = `Warning HostNotAllowed rule shop.example.com is left out: namespace ${own} may not claim shop.example.com: spec.hostPolicy of ClusterTunnel/main gives *.example.com to others`;
      await eventually(async () => expect(await stage.events("thief")).toContain(told));

      const subjects = [{ name: "x", spec: { fqdn: "*.example.com", target: "http://x:80" } }];
      await stage.create("TunnelBinding", "wild", {
        subjects,
        tunnelRef: { kind: "ClusterTunnel", name: "main" },
      });
      await eventually(async () =>
        expect(await stage.ready("TunnelBinding", "wild")).toMatchObject({
          status: "False",
          reason: "HostNotAllowed",
        }),
      );
      await createGateway();
      const route = (...hostnames: string[]): object => ({
        spec: {
          parentRefs: [{ name: "gw" }],
          hostnames,
          rules: [{ matches: [{ path: { value: "/r" } }], backendRefs: [{ name: "mine", port: 80 }] }],
        },
      });
      await stage.create("HTTPRoute", "none", route("shop.example.com"));
      await stage.create("HTTPRoute", "some", route("mine.example.com", "shop.example.com"));
      await eventually(async () =>
        expect(await parentOf("none")).toMatchObject({ Accepted: "False HostNotAllowed" }),
      );
      await eventually(async () =>
        expect(await parentOf("some")).toMatchObject({
          Accepted: "True Accepted",
          PartiallyInvalid: "True HostNotAllowed",
        }),
      );
      await eventually(() =>
        expect(served()).toEqual([expect.stringContaining("mine.example.com http_status:500"), ...left]),
      );
      expect(await records()).toEqual(["mine.example.com"]);

      // Whoever owns the tunnel takes the policy away again.
      await stage.patch("ClusterTunnel", "main", { spec: { hostPolicy: null } });
      await eventually(async () =>
        expect(await parentOf("none")).toMatchObject({ Accepted: "True Accepted" }),
      );
      await eventually(() => expect(served()).toContain(`shop.example.com http://thief.${own}.svc:80`));
      await eventually(async () =>
        expect(await stage.ready("TunnelBinding", "wild")).toMatchObject({ status: "True" }),
      );
    } finally {
      await stage.client.ok("DELETE", `${elsewhere}/shop`);
    }
  });

  it("TUN-653 a change that the API refuses keeps no host that may not be claimed any more", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await tunnelId("ClusterTunnel", "main");
    const rules = (service: string): object[] =>
      ["mine.example.com", "www.example.com"].map((host) => {
        const backend = { service: { name: service, port: { number: 80 } } };
        return { host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } };
      });
    await stage.create("Ingress", "both", { spec: { ingressClassName: "cloudflare", rules: rules("good") } });
    await eventually(() =>
      expect(stage.hosts(id)).toEqual(["mine.example.com", "www.example.com", undefined]),
    );
    const error = { status: 400, code: 1056, message: "Bad Configuration" };
    stage.cloudflare.faults.add({ path: /configurations/, method: /PUT/, body: /poison/, ...error });
    // Together in one pass.
    const pause = (value: string | null): Promise<void> =>
      stage.patch("ClusterTunnel", "main", {
        metadata: { annotations: { "cloudflare-operator.io/pause": value } },
      });
    await pause("true");
    await eventually(async () =>
      expect(await stage.ready("ClusterTunnel", "main")).toMatchObject({ reason: "Paused" }),
    );
    await stage.patch("Ingress", "both", { spec: { rules: rules("poison") } });
    const hostPolicy = [{ namespaces: [stage.namespace], hostnames: ["mine.example.com"] }];
    await stage.patch("ClusterTunnel", "main", { spec: { hostPolicy } });
    await pause(null);
    await eventually(() => expect(stage.hosts(id)).toEqual(["mine.example.com", undefined]));
    expect(stage.remote(id).ingress[0].service).toContain("good.");
    await eventually(async () =>
      expect(await stage.events("both")).toContainEqual(expect.stringContaining("Bad Configuration")),
    );
  });

  it("TUN-654 a policy is bounded, and one that says nothing is refused", async () => {
    const asked = async (...hostPolicy: object[]): Promise<number> => {
      const object = { apiVersion: "networking.cloudflare-operator.io/v1alpha2", kind: "ClusterTunnel" };
      return (await stage.dryRun({ ...object, metadata: { name: "policy" }, spec: { hostPolicy } })).code;
    };
    const fine = { namespaces: ["a"], hostnames: ["*.example.com", "*", "a.b"] };
    expect(await asked(fine)).toBe(201);
    const bad = [
      { hostnames: ["a.b"] },
      { namespaces: ["a"], hostnames: [] },
      ...["a.*.b", "*a.b", "http://a.b", "a b", "a..b"].map((host) => ({
        namespaces: ["a"],
        hostnames: [host],
      })),
      { namespaces: ["a"], hostnames: Array(101).fill("a.b") },
    ];
    for (const grant of bad) expect([grant, await asked(grant)]).toEqual([grant, 422]);
    expect(await asked()).toBe(422);
    expect(await asked(...Array(101).fill(fine))).toBe(422);
  });
});

describe("objects of another operator", () => {
  it("TUN-1016 TUN-1017 what is imported and converted is taken by the API server as it stands", async () => {
    const from = { apiVersion: "networking.cfargotunnel.com/v1alpha1", kind: "TunnelBinding" };
    const subject = {
      fqdn: "a.example.com",
      target: `https://a.${stage.namespace}.svc:443`,
      noTlsVerify: true,
    };
    const subjects = [
      { name: "a", spec: { ...subject, path: "^/a(/.*)?$" } },
      { name: "b", spec: { ...subject, path: "^/b$" } },
    ];
    const binding = {
      ...from,
      metadata: { name: "shop", namespace: stage.namespace },
      subjects,
      tunnelRef: { kind: "ClusterTunnel", name: "edge" },
    };
    const expression = { name: "c", spec: { ...subject, path: "/v[0-9]+" } };
    const tunnel = (version: string, spec: object, kind = "ClusterTunnel"): object => ({
      apiVersion: `networking.cfargotunnel.com/${version}`,
      kind,
      metadata: { name: "edge", ...(kind === "Tunnel" && { namespace: stage.namespace }) },
      spec: { newTunnel: { name: "edge" }, cloudflare: { domain: "example.com", secret: "cf" }, ...spec },
      status: { tunnelId: "t-1" },
    });
    const all = [
      tunnel("v1alpha2", { protocol: "quic" }),
      tunnel("v1alpha1", { size: 2, image: "cloudflare/cloudflared:2025.4.0" }, "Tunnel"),
      binding,
      { ...binding, metadata: { ...binding.metadata, name: "other" }, subjects: [...subjects, expression] },
    ];
    const manifests = manifestsOf(all.map((one) => JSON.stringify(one)).join("\n---\n"));
    const gateway = { namespace: "", name: "gw" };
    const made = [
      ...importObjects(manifests, { suffix: "-new", migrateLocalConfig: true }),
      ...convertBindings(manifests, { to: "ingress", className: "cloudflare", domain: "" }),
      ...convertBindings(manifests, { to: "httproute", gateway, domain: "" }),
    ].flatMap(({ objects }) => objects);
    expect(made).toHaveLength(4 + 4 + 5);
    for (const object of made)
      expect([object, await stage.dryRun(object)]).toEqual([object, expect.objectContaining({ code: 201 })]);
  });
});

describe("a Tunnel of a namespace", () => {
  it("TUN-224 gets no tunnel that a ClusterTunnel has, and its end does not end that", async () => {
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    const id = await tunnelId("ClusterTunnel", "main");
    await eventually(async () => expect((await document(id)).syncStatus).toBe("Synced"));
    await stage.create("Tunnel", "by-id", { spec: { existingTunnel: { id } } });
    await stage.create("Tunnel", "by-name", { spec: { existingTunnel: { name: "main" } } });
    await stage.create("Tunnel", "by-adoption", {
      metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } },
      spec: { newTunnel: { name: "main" } },
    });
    for (const name of ["by-id", "by-name", "by-adoption"]) {
      await eventually(async () => {
        const { status } = await stage.get("Tunnel", name);
        const ready = status.conditions.find(({ type }: Loose) => type === "Ready");
        expect([status.tunnelId, ready.reason]).toEqual(["", "AdoptionConflict"]);
      });
      expect(await stage.find("Secret", `${name}-token`)).toBeUndefined();
    }
    // However it came by the identifier: it has no part in the configuration.
    const annotations = { "cloudflare-operator.io/pause": "true" };
    await stage.create("Tunnel", "left", {
      metadata: { annotations },
      spec: { newTunnel: { name: "left" } },
    });
    const status = { tunnelId: id, tunnelName: "main", accountId: "test-account-id", zoneId: "" };
    await stage.patch("Tunnel", "left", { status }, "status");
    await stage.patch("ClusterTunnel", "main", { spec: { fallbackTarget: "http_status:503" } });
    await eventually(() => expect(stage.remote(id).ingress).toEqual([{ service: "http_status:503" }]));
    expect(Object.keys((await document(id)).sources)).toEqual(["ClusterTunnel/main"]);
    await stage.remove("Tunnel", "left");
    await eventually(async () => expect(await stage.find("Tunnel", "left")).toBeUndefined());
    expect(isDeleted(id)).toBe(false);
  });

  it("TUN-218 takes no Deployment of its name along that somebody else made", async () => {
    const labels = { app: "web" };
    await stage.create("Deployment", "web", {
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "web", image: "registry.k8s.io/pause:3.10" }] },
        },
      },
    });
    await stage.create("Tunnel", "web", { spec: { newTunnel: { name: "web" } } });
    const id = await tunnelId("Tunnel", "web");
    await stage.remove("Tunnel", "web");
    await eventually(async () => {
      expect(await stage.find("Tunnel", "web")).toBeUndefined();
      expect(isDeleted(id)).toBe(true);
    });
    expect((await stage.get("Deployment", "web")).metadata.deletionTimestamp).toBeUndefined();
  });
});
