import { type Client, type Kind, type KubeObject, systemClock } from "@quartet/core";
import { expect, it } from "vitest";
import { planTunnels } from "./plan.ts";

it("TUN-319 TUN-639 a plan leaves out what has no room, as a pass does, and says so", async () => {
  const tunnel = { kind: "ClusterTunnel", metadata: { name: "main" }, status: { tunnelId: "t-1" } };
  const bindings = Array.from({ length: 14 }, (_, place) => ({
    kind: "TunnelBinding",
    metadata: { namespace: "a", name: `b${place}` },
    tunnelRef: { kind: "ClusterTunnel", name: "main" },
    subjects: Array.from({ length: 700 }, (_, index) => ({
      name: "web",
      spec: { fqdn: `h${index}.b${place}.example.com`, target: "http://web.a:80" },
    })),
  }));
  const objects: Record<string, readonly object[]> = { ClusterTunnel: [tunnel], TunnelBinding: bindings };
  const client = {
    list: async ({ kind }: Kind) => ({ items: (objects[kind] ?? []) as KubeObject[] }),
    get: () => Promise.reject(new Error("not read here")),
  } as unknown as Client;
  const [plan] = await planTunnels({ client, clock: systemClock, operatorNamespace: "o", namespaces: [] });
  expect(plan?.rules).toBeGreaterThan(2_000);
  expect(plan?.rules).toBeLessThan(9_800);
  expect(plan?.rejected.map(({ cause }) => cause)).toContain("ConfigTooLarge");
});
