import { ApiError, type CommandContext, EXIT, type Kind, type ObjectKey } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { beforeEach, expect, it } from "vitest";
import { RELEASE } from "./release.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

const NOT_SERVED = new ApiError({
  ...{ message: "no such kind", code: 404, reason: "NotFound", details: {}, method: "GET", path: "/" },
} as ConstructorParameters<typeof ApiError>[0]);
const NOW = Date.UTC(2026, 5, 1);
const OURS = "dnsrecord.networking.cloudflare-operator.io/finalizer";
let objects: Loose[];
let leases: Loose[];
let printed: string[];
/** Takes finalizers again, as a manager that runs. */
let again: boolean;
beforeEach(() => {
  objects = [
    { kind: "DNSRecord", metadata: { namespace: "web", name: "a", finalizers: ["other", OURS] } },
    { kind: "DNSRecord", metadata: { namespace: "web", name: "b", finalizers: ["other"] } },
    { kind: "ClusterTunnel", metadata: { name: "main", finalizers: ["cloudflare-operator.io/finalizer"] } },
  ];
  leases = [];
  printed = [];
  again = false;
});
const client: Loose = {
  list: async ({ kind }: Kind) => {
    if (kind === "Gateway") throw NOT_SERVED;
    return {
      items:
        kind === "Lease"
          ? leases
          : objects.filter((one) => one.kind === kind).map((one) => structuredClone(one)),
    };
  },
  patch: async ({ kind }: Kind, { namespace, name }: ObjectKey, { operations }: Loose) => {
    const [{ path, value }] = operations;
    const object = objects.find(
      (one) =>
        one.kind === kind && one.metadata.name === name && (one.metadata.namespace ?? "") === namespace,
    );
    const at = Number(path.split("/").at(-1));
    expect(object.metadata.finalizers[at]).toBe(value);
    if (!again) object.metadata.finalizers.splice(at, 1);
  },
};

async function run(lease = "quartet-manager"): Promise<number> {
  const clock = fakeClock(NOW);
  const context = {
    client,
    clock,
    lease,
    print: (text: string) => void printed.push(text),
    signal: new AbortController().signal,
  };
  const ended = RELEASE.run(context as unknown as CommandContext);
  let over = false;
  const told = ended.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(1_000);
  return told;
}

it("TUN-1015 drops its own finalizers alone, and says of what", async () => {
  expect(await run()).toBe(EXIT.clean);
  expect(objects.map(({ metadata }) => metadata.finalizers)).toEqual([["other"], ["other"], []]);
  expect(printed).toEqual([
    "released ClusterTunnel main\n",
    "released DNSRecord web/a\n",
    "2 released; what they have in the account stays when they are deleted\n",
  ]);
});

it("TUN-1015 does nothing while a manager holds its Lease, and fails where one takes finalizers again", async () => {
  const renewTime = new Date(NOW - 5_000).toISOString();
  leases = [
    {
      metadata: { namespace: "quartet", name: "quartet-manager" },
      spec: { holderIdentity: "pod", renewTime },
    },
  ];
  expect(await run()).toBe(EXIT.failure);
  expect(printed).toEqual([expect.stringContaining("Lease quartet/quartet-manager is held by pod")]);
  // The Lease of a manager is the one that the flags name; that of the peer counts always.
  leases[0].metadata.name = "edge";
  expect(await run("edge")).toBe(EXIT.failure);
  leases[0].metadata.name = "9f193cf8.cloudflare-operator.io";
  expect(await run("edge")).toBe(EXIT.failure);
  expect(printed).toHaveLength(3);
  leases[0].spec.renewTime = "2026-01-01T00:00:00Z";
  again = true;
  expect(await run()).toBe(EXIT.failure);
  expect(printed.at(-1)).toMatch(/^2 have a finalizer again \(.*DNSRecord web\/a/);
});
