import { type Kind, mergeDiff, type ObjectKey, type ReconcileContext, systemClock } from "@quartet/core";
import { testContext } from "@quartet/core/testkit";
import { type CloudflareDouble, createCloudflareDouble } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createExchange } from "../cloudflare/exchange.ts";
import { createRegistry } from "../cloudflare/registry.ts";
import { ACCESS_APPLICATIONS } from "./access-application.ts";
import { ACCESS_GROUPS } from "./access-group.ts";
import { createBackoff } from "./backoff.ts";
import { GATEWAY_RULES } from "./gateway-rule.ts";
import { createResourceReconcile } from "./one-to-one.ts";
import { R2_BUCKETS } from "./r2-bucket.ts";
import type { ResourceKind } from "./resource.ts";
import { VIRTUAL_NETWORKS } from "./virtual-network.ts";
import { createWaiters } from "./waiters.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

const ACCOUNT = "test-account-id";
const include = [{ emailDomain: { domain: "example.com" } }];
const ROWS: readonly [name: string, type: ResourceKind<Loose, Loose, Loose>, spec: Loose, change: Loose][] = [
  ["VirtualNetwork", VIRTUAL_NETWORKS, {}, { comment: "hq" }],
  ["AccessGroup", ACCESS_GROUPS, { include }, { include: [{ everyone: true }] }],
  [
    "AccessApplication",
    ACCESS_APPLICATIONS,
    { domain: "a.b", policies: [{ include }] },
    { sessionDuration: "1h" },
  ],
  ["R2Bucket", R2_BUCKETS, {}, { cors: [{ allowedOrigins: ["*"], allowedMethods: ["GET"] }] }],
  ["GatewayRule", GATEWAY_RULES, { precedence: 1, action: "block" }, { precedence: 2 }],
];

let double: CloudflareDouble;
beforeEach(async () => {
  double = await createCloudflareDouble();
});
afterEach(() => double.close());

/** One object, and a client that knows as much as the reconcile uses. */
function stage(type: ResourceKind<Loose, Loose, Loose>, spec: Loose) {
  const { kind } = type;
  const cloudflare = { secret: "cf", accountId: ACCOUNT };
  const objects = new Map<string, Loose>();
  const events: string[] = [];
  let refused = false;
  const add = (name: string, metadata: object = {}): void => {
    const own = { name, namespace: kind.namespaced ? "shop" : undefined, uid: name, generation: 1 };
    const meta = {
      ...own,
      creationTimestamp: "2026-01-01T00:00:00Z",
      finalizers: [type.finalizer],
      ...metadata,
    };
    objects.set(name, { metadata: meta, spec: { ...spec, cloudflare } });
  };
  const client: Loose = {
    async patchStatus(_: Kind, current: Loose, next: object) {
      if (refused) throw new Error("the status cannot be written");
      const stored = objects.get(current.metadata.name);
      // As the client does: only what differs from what the caller has read is sent.
      const changes = Object.entries((mergeDiff(current.status ?? {}, next) ?? {}) as object);
      const kept = { ...stored.status, ...Object.fromEntries(changes) };
      stored.status = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null));
      return structuredClone(stored);
    },
    async patch(_: Kind, { name }: ObjectKey) {
      objects.delete(name);
      return {};
    },
    get: async (_: Kind, { name }: ObjectKey) => structuredClone(objects.get(name)),
    list: async (asked: Kind) => ({
      items: asked.kind === kind.kind ? [...objects.values()].map((one) => structuredClone(one)) : [],
    }),
  };
  const apiFor = createRegistry({
    baseUrl: double.url,
    calls: 0,
    exchange: createExchange(),
    clock: systemClock,
    version: "0",
  });
  const reconcile = createResourceReconcile(type, {
    operatorNamespace: "ops",
    apiFor,
    secrets: { read: async () => ({ data: { CLOUDFLARE_API_TOKEN: btoa("test-token") } }) } as never,
    assertAlone: async () => {},
    clusterId: "",
    clock: systemClock,
    backoff: createBackoff(),
    waiters: createWaiters(),
  } as never);
  const ctx: ReconcileContext = testContext(client, client, {
    events: { record: (_: object, { reason }: { reason: string }) => void events.push(reason) } as never,
  });
  return {
    objects,
    events,
    add,
    refuse: (value: boolean) => {
      refused = value;
    },
    run: (name = "one") => reconcile({ namespace: kind.namespaced ? "shop" : "", name }, ctx),
    ready: (name = "one") =>
      objects.get(name)?.status?.conditions?.find(({ type: what }: Loose) => what === "Ready"),
  };
}

const changing = (): string[] =>
  double.requests.filter(({ method }) => method !== "GET").map(({ method }) => method);

describe.each(ROWS)("%s", (_name, type, spec, change) => {
  it("TUN-905 TUN-907 TUN-909 is created, left alone, changed and deleted", async () => {
    const { add, run, ready, objects, events } = stage(type, spec);
    add("one");
    await run();
    expect(ready()).toMatchObject({ status: "True", reason: "Synced" });
    const calls = double.requests.length;
    await run();
    expect(double.requests).toHaveLength(calls);
    const object = objects.get("one");
    Object.assign(object.spec, change);
    object.metadata.generation = 2;
    await run();
    expect(ready()).toMatchObject({ status: "True", observedGeneration: 2 });
    expect(events).toContain("Updated");
    const before = changing().length;
    object.metadata.annotations = { "cloudflare-operator.io/adopt": "true" };
    await run();
    expect(changing()).toHaveLength(before);
    objects.get("one").metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
    await run();
    expect([objects.has("one"), changing().at(-1), events.at(-1)]).toEqual([false, "DELETE", "Deleted"]);
  });

  it("TUN-912 TUN-941 nothing is made while the status cannot be written, and what an answer was lost of is found again", async () => {
    const { add, run, ready, refuse, objects } = stage(type, spec);
    add("one");
    refuse(true);
    await expect(run()).rejects.toThrow("cannot be written");
    expect(changing()).toEqual([]);
    refuse(false);
    double.faults.add({ path: /./, method: /POST/, cut: true, afterwards: true, times: 1 });
    await run();
    expect(ready()).toMatchObject({ status: "False", reason: "APIError" });
    expect(objects.get("one").status.claim).toBe("one");
    await run();
    expect(ready()).toMatchObject({ status: "True" });
    expect(objects.get("one").status.claim).toBeUndefined();
  });

  it("TUN-912 what an answer was lost of is this object's under a new name too, and is looked for in no other account", async () => {
    const { add, run, ready, objects } = stage(type, spec);
    add("one");
    const { faults } = double;
    faults.add({ path: /./, method: /POST/, cut: true, afterwards: true, times: 1 });
    await run();
    const { spec: wish } = objects.get("one");
    wish.cloudflare.accountId = "other";
    const calls = double.requests.length;
    await run();
    expect(ready()).toMatchObject({ status: "False", reason: "ImmutableField" });
    expect(changing().slice(calls)).toEqual([]);
    wish.cloudflare.accountId = ACCOUNT;
    wish.name = "two";
    await run();
    const created = double.requests.filter(
      ({ method, path }) => method === "POST" && !path.includes("/policies"),
    );
    expect(created).toHaveLength(1);
    // A bucket cannot be renamed; of all others the object has the name now.
    const { status } = objects.get("one");
    expect([status.claim, status[type.idField]]).toEqual([undefined, expect.any(String)]);
    expect(ready()).toMatchObject(
      type.kind.kind === "R2Bucket" ? { reason: "ImmutableField" } : { status: "True", reason: "Synced" },
    );
  });

  it("TUN-911 TUN-912 a second object of the name has to wait; an object that made nothing goes without a call", async () => {
    const { add, run, ready, objects } = stage(type, spec);
    add("one");
    await run();
    add("two", { creationTimestamp: "2026-01-02T00:00:00Z" });
    objects.get("two").spec.name = "one";
    await run("two");
    expect(ready("two")).toMatchObject({ status: "False", reason: "AdoptionConflict" });
    expect(ready("two").message).toContain("managed by");
    const calls = double.requests.length;
    objects.get("two").metadata.deletionTimestamp = "2026-01-03T00:00:00Z";
    await run("two");
    expect([objects.has("two"), double.requests.length]).toEqual([false, calls]);
  });
});

const ofKind = (name: string) => {
  const [, type, spec] = ROWS.find(([kind]) => kind === name)!;
  return stage(type, spec);
};

it("TUN-906 what the API says is there already is looked up once more: it is this object's, or somebody's", async () => {
  const { add, run, ready, objects } = ofKind("VirtualNetwork");
  const { networks } = double.state.lists;
  const raw = JSON.stringify({ success: true, errors: [], result: [] });
  for (const [name, comment, reason] of [
    ["one", "[managed-by:VirtualNetwork/one]", "Synced"],
    ["two", "by hand", "AdoptionConflict"],
  ] as const) {
    networks.set(name, {
      id: name,
      account: ACCOUNT,
      name,
      comment,
      is_default_network: false,
      deleted_at: null,
    });
    // The list is read before somebody else's creation, ours comes after it.
    double.faults.add({ path: /virtual_networks/, method: /GET/, status: 200, raw, times: 1 });
    add(name);
    await run(name);
    expect(ready(name)).toMatchObject({ reason });
    expect([...networks.values()].filter((one) => one.name === name)).toHaveLength(1);
    expect(objects.get(name).status.claim).toBeUndefined();
  }
});

it("TUN-936 an application whose domain is not known yet is tried again after half a minute", async () => {
  const { add, run, ready } = ofKind("AccessApplication");
  double.faults.add({ path: /access\/apps/, method: /POST/, status: 400, code: 12130, times: 1 });
  add("one");
  expect(await run()).toMatchObject({ requeueAfter: 30_000 });
  expect(ready()).toMatchObject({ status: "False" });
  await run();
  expect(ready()).toMatchObject({ status: "True" });
});

it("TUN-945 an account without R2 is looked at again after an hour", async () => {
  const { add, run, ready } = ofKind("R2Bucket");
  double.state.withoutR2.add(ACCOUNT);
  add("one");
  expect(await run()).toMatchObject({ requeueAfter: 3_600_000 });
  expect(ready()).toMatchObject({ status: "False", reason: "FeatureNotEnabled" });
});

it("TUN-942 TUN-943 a bucket goes when it is empty, and one that was taken over when that is asked for", async () => {
  const { add, run, ready, objects } = ofKind("R2Bucket");
  const buckets = double.state.buckets;
  const id = `${ACCOUNT}/one`;
  add("one");
  await run();
  buckets.get(id)!.objects = 1;
  objects.get("one").metadata.deletionTimestamp = new Date().toISOString();
  expect(await run()).toMatchObject({ requeueAfter: 300_000 });
  expect(ready()).toMatchObject({ status: "False", reason: "BucketNotEmpty" });
  buckets.get(id)!.objects = 0;
  await run();
  expect([objects.has("one"), buckets.has(id)]).toEqual([false, false]);

  for (const [policy, stays] of [
    [undefined, true],
    ["Delete", false],
  ] as const) {
    buckets.set(id, {
      fields: { name: "one", location: "WEUR" },
      cors: [],
      lifecycle: [],
      objects: 0,
    } as never);
    const adopt = { "cloudflare-operator.io/adopt": "true" };
    add("one", { annotations: adopt });
    await run();
    expect(objects.get("one").status).toMatchObject({ adopted: true, bucketName: "one" });
    objects.get("one").metadata.deletionTimestamp = new Date().toISOString();
    if (policy)
      objects.get("one").metadata.annotations = {
        ...adopt,
        "cloudflare-operator.io/deletion-policy": policy,
      };
    await run();
    expect([objects.has("one"), buckets.has(id)]).toEqual([false, stays]);
  }
});
