/** Beside the peer operator, while that is still at work. */
import { eventually } from "@quartet/testing/stage";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Loose, openStage, type TunnelStage } from "./support/stage.ts";

const LEASE = "9f193cf8.cloudflare-operator.io";
const FINALIZER = "ingress.cloudflare-operator.io/finalizer";
const TUNNEL_ID = "6b0b2f3e-6d3c-4d1c-9a0e-0d8b1f6a4c11";
/** That the credentials are good is asked at any time. */
const CHECK = "GET /accounts/test-account-id";
/** Of the Lease, s; it is renewed more often than that, in milliseconds. */
const DURATION_S = 3;
const RENEWAL_MS = 500;

let stage: TunnelStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage?.close());

/** Holds the peer's Lease until the returned function is called. */
async function holdLease(): Promise<() => void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${stage.namespace}/leases`;
  const spec = () => ({
    holderIdentity: "peer",
    leaseDurationSeconds: DURATION_S,
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  });
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: LEASE } };
  await stage.client.ok("POST", path, { ...lease, spec: spec() });
  const contentType = "application/merge-patch+json";
  const timer = setInterval(
    () => void stage.client.request("PATCH", `${path}/${LEASE}`, { spec: spec() }, { contentType }),
    RENEWAL_MS,
  );
  stage.onClose(() => clearInterval(timer));
  return () => clearInterval(timer);
}

it("TUN-008 while the peer renews its Lease nothing is called and its objects are left alone; once it stands still the work goes on", async () => {
  const end = await holdLease();
  await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
  const status = { tunnelId: TUNNEL_ID, tunnelName: "main", accountId: "test-account-id", zoneId: "" };
  await stage.patch("ClusterTunnel", "main", { status }, "status");
  await stage.ingress("a", "a.example.com", "a");
  await stage.patch("Ingress", "a", { metadata: { finalizers: [FINALIZER] } });
  const since = Date.now();
  await stage.startManager();
  const ready = async (): Promise<Loose> =>
    ((await stage.get("ClusterTunnel", "main")).status.conditions ?? []).find(
      ({ type }: Loose) => type === "Ready",
    );
  await eventually(async () =>
    expect(await ready()).toMatchObject({ status: "False", reason: "PeerOperatorActive" }),
  );
  const calls = stage.cloudflare.requests.map(({ method, path }) => `${method} ${path}`);
  expect(calls.filter((call) => call !== CHECK)).toEqual([]);
  const own = /^(?:update|patch) (?:clustertunnels|cloudflarecredentials|cloudflaredomains)\b/;
  expect((await stage.writes(since)).filter((write) => !own.test(write))).toEqual([]);
  expect((await stage.get("Ingress", "a")).metadata.finalizers).toEqual([FINALIZER]);

  await stage.patch("ClusterTunnel", "main", { status: { tunnelId: "" } }, "status");
  end();
  await eventually(async () => {
    expect((await stage.get("ClusterTunnel", "main")).status.state).toBe("active");
    expect((await stage.get("Ingress", "a")).metadata.finalizers).toBeUndefined();
    expect(await stage.find("DNSRecord", "a-a-example-com")).toBeDefined();
  }, 90_000);
});
