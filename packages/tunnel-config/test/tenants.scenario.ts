/** What a tenant of one namespace gets by its Tunnels: nothing that others have. */
import { testNamespace } from "@quartet/testing";
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, openStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;
let operator: string;
beforeEach(async () => {
  stage = await openStage();
  const place = await testNamespace(stage.client);
  stage.onClose(() => place.remove());
  operator = place.name;
  const flags = { "tunnel-operator-namespace": operator };
  await stage.startManager({ namespaces: [stage.namespace, operator], flags });
});
afterEach(() => stage?.close());

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
