/** Clusters that share an account, and objects that share a record. */
import { eventually, type TestManager } from "@quartet/testing/stage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

let stage: TunnelStage;
let manager: TestManager | undefined;
// After the stage is cleared, which needs the manager: hooks run from the last to the first.
afterEach(() => manager?.stop());
const shared = shareStage(async () => {});
beforeEach(() => {
  stage = shared.stage;
});

/** The one manager that runs, in place of the one before. */
async function startManager(flags: Readonly<Record<string, string | boolean>> = {}): Promise<void> {
  await manager?.stop();
  manager = await stage.startManager({ flags });
}

const records = (): Loose[] => [...stage.cloudflare.state.zones.get("test-zone-id")!.records.values()];
const networks = (): Loose[] =>
  [...stage.cloudflare.state.lists.networks.values()].filter(({ name }) => name === "office");

describe("cluster id", () => {
  it("TUN-801 TUN-805 markers get the name of the cluster without anything being made anew", async () => {
    const { namespace } = stage;
    await startManager();
    const spec = { name: "api.example.com", type: "A", content: "192.0.2.1", comment: "mine" };
    await stage.create("DNSRecord", "api", { spec });
    await stage.create("VirtualNetwork", "office", { spec: { comment: "hq" } });
    await eventually(() =>
      expect([records(), networks()]).toMatchObject([
        [{ comment: `[managed-by:DNSRecord/${namespace}/api] mine` }],
        [{ comment: "[managed-by:VirtualNetwork/office] hq" }],
      ]),
    );
    await eventually(async () => {
      expect(await stage.ready("DNSRecord", "api")).toMatchObject({ status: "True" });
      expect(await stage.ready("VirtualNetwork", "office")).toMatchObject({ status: "True" });
    });
    const ids = [records()[0].id, networks()[0].id];
    await startManager({ "tunnel-cluster-id": "east" });
    await eventually(() =>
      expect([records(), networks()]).toMatchObject([
        [{ id: ids[0], comment: `[managed-by:DNSRecord/${namespace}/api@east] mine` }],
        [{ id: ids[1], comment: "[managed-by:VirtualNetwork/office@east] hq" }],
      ]),
    );
  });

  it("TUN-805 TUN-806 what an object of the same name in another cluster manages is left alone", async () => {
    const { namespace } = stage;
    const comment = `[managed-by:DNSRecord/${namespace}/api@west]`;
    const answer = await fetch(`${stage.cloudflare.url}/zones/test-zone-id/dns_records`, {
      method: "POST",
      headers: { authorization: "Bearer test-token" },
      body: JSON.stringify({ name: "api.example.com", type: "A", content: "192.0.2.1", ttl: 1, comment }),
    });
    expect(answer.status).toBe(200);
    await startManager({ "tunnel-cluster-id": "east" });
    await stage.create("DNSRecord", "api", {
      metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } },
      spec: { name: "api.example.com", type: "A", content: "192.0.2.9" },
    });
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", "api")).toMatchObject({
        status: "False",
        reason: "AdoptionConflict",
        message: `record managed by DNSRecord/${namespace}/api@west`,
      }),
    );
    await stage.remove("DNSRecord", "api");
    await eventually(async () => expect(await stage.find("DNSRecord", "api")).toBeUndefined());
    expect(records()).toMatchObject([{ comment, content: "192.0.2.1" }]);
  });
});

it("D13 TUN-924 records that nobody manages are taken over where a flag says so, those of others are not", async () => {
  await startManager({ "tunnel-overwrite-unmanaged-dns": true });
  const spec = { type: "A", content: "192.0.2.9" };
  const theirs = "[managed-by:DNSRecord/else/where]";
  const zone = stage.cloudflare.state.zones.get("test-zone-id")!;
  for (const [id, comment] of [
    ["free", null],
    ["taken", theirs],
  ] as const)
    zone.records.set(id, {
      id,
      name: `${id}.example.com`,
      type: "A",
      content: "192.0.2.1",
      ttl: 1,
      comment,
      tags: [],
    });
  for (const name of ["free", "taken"])
    await stage.create("DNSRecord", name, { spec: { ...spec, name: `${name}.example.com` } });
  await eventually(async () => {
    expect(await stage.ready("DNSRecord", "free")).toMatchObject({ status: "True" });
    expect(await stage.ready("DNSRecord", "taken")).toMatchObject({ reason: "AdoptionConflict" });
  });
  expect(records()).toMatchObject([
    { id: "free", content: "192.0.2.9" },
    { id: "taken", content: "192.0.2.1", comment: theirs },
  ]);
});

describe("one host of two Ingresses", () => {
  it("TUN-473 TUN-475 TUN-929 is one record of both, after a restart too, and goes with the last", async () => {
    await startManager();
    await stage.create("ClusterTunnel", "main", { spec: { newTunnel: { name: "main" } } });
    await stage.ingress("first", "a.example.com", "one", "/one");
    const first = "first-a-example-com";
    await eventually(async () =>
      expect(await stage.ready("DNSRecord", first)).toMatchObject({ status: "True" }),
    );
    await stage.ingress("second", "a.example.com", "two", "/two");
    const second = "second-a-example-com";
    const shared = () =>
      eventually(async () =>
        expect((await stage.get("DNSRecord", second)).status).toMatchObject({
          state: "Active",
          conditions: [{ type: "Ready", status: "True", reason: "Shared" }],
        }),
      );
    await shared();
    const [{ id }] = records();
    const from = stage.cloudflare.requests.length;
    await startManager();
    // Both are compared again.
    await eventually(() => {
      const looked = stage.cloudflare.requests
        .slice(from)
        .filter(({ path }) => path.includes("/dns_records"));
      expect(looked.length).toBeGreaterThanOrEqual(2);
    });
    await stage.remove("Ingress", "first");
    await stage.remove("DNSRecord", first);
    await eventually(() =>
      expect(records()).toMatchObject([
        { id, comment: `[managed-by:DNSRecord/${stage.namespace}/${second}]` },
      ]),
    );
    expect((await stage.events(second)).filter((text) => text.includes("AdoptionConflict"))).toEqual([]);
    await stage.remove("Ingress", "second");
    await stage.remove("DNSRecord", second);
    await eventually(() => expect(records()).toEqual([]));
    // Their DNSRecords would have one name.
    await stage.ingress("first", "a.example.com", "one");
    await stage.ingress("first-a", "example.com", "two");
    await eventually(() =>
      expect(
        records()
          .map(({ name }) => name)
          .sort(),
      ).toEqual(["a.example.com", "example.com"]),
    );
  });
});
