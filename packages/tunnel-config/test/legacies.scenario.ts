/** What the peer left in a cluster and in an account. */
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, openStage, type TunnelStage } from "./support/stage.ts";

const TUNNELS = "/accounts/test-account-id/cfd_tunnel";

let stage: TunnelStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage?.close());

const calls = (from: number, method: string, path: string): Loose[] =>
  stage.cloudflare.requests.slice(from).filter((call) => call.method === method && call.path.includes(path));

describe("legacies", () => {
  it("tunnel-config A19 TUN-208 TUN-302 TUN-314 what the peer left is taken over, and no host is missing meanwhile", async () => {
    const headers = { authorization: "Bearer test-token" };
    const post = async (path: string, body: object, method = "POST"): Promise<Loose> => {
      const answer = await fetch(stage.cloudflare.url + path, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as Loose).result;
    };
    const { id } = await post(TUNNELS, { name: "main", config_src: "cloudflare" });
    const rules = ["a", "b"].map((name) => ({
      hostname: `${name}.example.com`,
      path: "/api(/.*)?$",
      service: `http://${name}.${stage.namespace}.svc:80`,
    }));
    const ingress = [...rules, { service: "http_status:404" }];
    await post(`${TUNNELS}/${id}/configurations`, { config: { ingress, originRequest: {} } }, "PUT");
    for (const name of ["a", "b"]) {
      await stage.ingress(name, `${name}.example.com`, name, "/api");
      await stage.patch("Ingress", name, {
        metadata: { finalizers: ["ingress.cloudflare-operator.io/finalizer"] },
      });
    }
    const { namespace } = stage;
    const tunnel = await stage.create("ClusterTunnel", "main", {
      metadata: { annotations: { "cloudflare-operator.io/tunnel-token": "old" } },
      spec: { existingTunnel: { id } },
    });
    const { uid } = tunnel.metadata;
    const owner = {
      apiVersion: "networking.cloudflare-operator.io/v1alpha2",
      kind: "ClusterTunnel",
      name: "main",
      uid,
    };
    const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    const legacy = {
      tunnelId: id,
      warpRouting: { enabled: true },
      sources: {
        [`Tunnel/${namespace}/main`]: { kind: "Tunnel", namespace, name: "main", settings: {} },
        [`Ingress/${namespace}/cf`]: { kind: "Ingress", namespace, name: "cf", rules },
      },
      syncStatus: "Synced",
      lastHash: "0123456789abcdef",
      unknown: "kept",
    };
    await stage.create("ConfigMap", `tunnel-config-${id}`, {
      metadata: {
        labels: { "cloudflare-operator.io/tunnel-id": id, "cloudflare-operator.io/type": "tunnel-config" },
      },
      data: { "config.json": JSON.stringify(legacy) },
    });
    const labels = { "cloudflare-operator.io/app": "cloudflared", "cloudflare-operator.io/tunnel": "main" };
    const deployment = await stage.create("Deployment", "main", {
      metadata: { labels, ownerReferences },
      spec: {
        selector: { matchLabels: { ...labels, "cloudflare-operator.io/name": "main" } },
        template: {
          metadata: { labels: { ...labels, "cloudflare-operator.io/name": "main" } },
          spec: { containers: [{ name: "cloudflared", image: "cloudflare/cloudflared:latest" }] },
        },
      },
    });
    const from = stage.puts().length;
    await stage.startManager();
    expect(await stage.activeTunnel("main")).toBe(id);
    await eventually(async () => {
      const document = (await stage.document(id)) as Loose;
      expect(Object.keys(document.sources)).toEqual([
        "ClusterTunnel/main",
        `Ingress/${namespace}/a`,
        `Ingress/${namespace}/b`,
      ]);
      expect([document.warpRouting, document.unknown]).toEqual([{ enabled: false }, "kept"]);
    });
    expect(stage.hosts(id)).toEqual(["a.example.com", "b.example.com", undefined]);
    for (const { ingress: sent } of stage.puts().slice(from)) expect(sent).toHaveLength(3);
    await eventually(async () => {
      const { metadata } = await stage.get("ClusterTunnel", "main");
      expect(metadata.annotations ?? {}).not.toHaveProperty(["cloudflare-operator.io/tunnel-token"]);
      expect((await stage.get("Ingress", "a")).metadata.finalizers).toBeUndefined();
    });
    expect((await stage.get("Deployment", "main")).metadata.uid).toBe(deployment.metadata.uid);
    expect(calls(0, "DELETE", "/")).toEqual([]);
  });
});
