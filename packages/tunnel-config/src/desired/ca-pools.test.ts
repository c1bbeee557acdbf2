import { expect, it } from "vitest";
import { unmountedCaPools } from "./ca-pools.ts";

it("TUN-722 certificates that no pod of cloudflared has are told to who names them, each once", () => {
  const rule = (caPool?: string) => ({
    hostname: "a.b",
    service: "https://x:443",
    ...(caPool !== undefined && { originRequest: { caPool } }),
  });
  const ingress = { kind: "Ingress", namespace: "n", name: "a" };
  const sources = {
    "Ingress/n/a": {
      ...ingress,
      rules: [rule("/etc/cloudflared/certs/x"), rule("/etc/cloudflared/certs/x")],
    },
    "Ingress/n/b": { ...ingress, name: "b", rules: [rule()] },
    "ClusterTunnel/main": {
      kind: "ClusterTunnel",
      name: "main",
      settings: { originRequest: { caPool: "/etc/cloudflared/certs/y" } },
    },
  };
  expect(unmountedCaPools(sources, true)).toEqual([]);
  expect(unmountedCaPools(sources, false)).toMatchObject([
    { source: "Ingress/n/a", reason: "CAPoolNotMounted" },
    { source: "ClusterTunnel/main", message: expect.stringContaining("/etc/cloudflared/certs/y") },
  ]);
});
