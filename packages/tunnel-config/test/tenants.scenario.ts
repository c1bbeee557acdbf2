/** What a tenant of one namespace gets by its Tunnels: nothing that others have. */
import { gatewayCrds, installCrds, testNamespace } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
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
