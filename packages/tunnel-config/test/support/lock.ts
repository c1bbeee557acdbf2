/**
 * Objects without namespaces belong to one scenario at a time: files that run beside each other on one API server take
 * turns by a Lease. A run that was killed no longer renews it, and what it left over goes with the next turn.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const NAME = "tunnel-scenario";
/** Time after which a Lease that nobody renews is free, s; it is renewed four times as often. */
const DURATION_S = 20;
const POLL_MS = 500;
const MERGE = { contentType: "application/merge-patch+json" };

const GROUP = "/apis/networking.cloudflare-operator.io/v1alpha2";
/** Collections without namespaces that scenarios write; a kind that is not served answers 404. */
const SHARED = [
  `${GROUP}/clustertunnels`,
  `${GROUP}/cloudflaredomains`,
  `${GROUP}/virtualnetworks`,
  `${GROUP}/networkroutes`,
  `${GROUP}/accessgroups`,
  `${GROUP}/gatewayrules`,
  `${GROUP}/cloudflarecredentials`,
  "/apis/networking.k8s.io/v1/ingressclasses",
  "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
];

interface Lease {
  metadata: { resourceVersion?: string };
  spec?: { holderIdentity?: string; renewTime?: string };
}

/** Waits for the turn and clears what the last one left; the returned function ends it. */
export async function takeTurn(client: TestClient): Promise<() => Promise<void>> {
  const holder = randomUUID();
  while (!(await acquire(client, holder))) await sleep(POLL_MS);
  let renewal: Promise<unknown> = Promise.resolve();
  const timer = setInterval(
    () => {
      renewal = renew(client, holder).catch(() => {});
    },
    (DURATION_S * 1000) / 4,
  );
  await clear(client);
  return async () => {
    await clear(client);
    clearInterval(timer);
    // One that is under way would take the turn back.
    await renewal;
    await client.request("PATCH", `${LEASES}/${NAME}`, specOf(""), MERGE);
  };
}

async function acquire(client: TestClient, holder: string): Promise<boolean> {
  const { code, body } = await client.request<Lease>("GET", `${LEASES}/${NAME}`);
  const metadata = { name: NAME };
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...specOf(holder) };
  if (code === 404) return (await client.request("POST", LEASES, { ...lease, metadata })).code === 201;
  const { holderIdentity = "", renewTime = "" } = body.spec ?? {};
  const isFree = holderIdentity === "" || Date.now() - Date.parse(renewTime) > DURATION_S * 1000;
  if (!isFree) return false;
  const { resourceVersion } = body.metadata;
  const answer = await client.request("PUT", `${LEASES}/${NAME}`, {
    ...lease,
    metadata: { ...metadata, resourceVersion },
  });
  return answer.code === 200;
}

async function renew(client: TestClient, holder: string): Promise<void> {
  await client.request("PATCH", `${LEASES}/${NAME}`, specOf(holder), MERGE);
}

function specOf(holderIdentity: string): object {
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  return { spec: { holderIdentity: holderIdentity || null, renewTime, leaseDurationSeconds: DURATION_S } };
}

/** Nobody looks after these objects any more: they go without their finalizers. */
async function clear(client: TestClient): Promise<void> {
  for (const collection of SHARED) {
    const { body } = await client.request<{ items?: { metadata: { name: string } }[] }>("GET", collection);
    for (const { metadata } of body.items ?? []) {
      const path = `${collection}/${metadata.name}`;
      await client.request("DELETE", path);
      await client.request("PATCH", path, { metadata: { finalizers: null } }, MERGE);
    }
  }
}
