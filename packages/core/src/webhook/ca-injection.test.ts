import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cache, CacheHandler } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { KubeObject } from "../object.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createCaInjection } from "./ca-injection.ts";
import { silentLog } from "./webhook.testkit.ts";

const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

let lead: AbortController;
beforeEach(() => {
  lead = new AbortController();
});
afterEach(() => lead.abort());

const CONFIGURATION = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "q", labels: { a: "b" } },
  webhooks: [{ name: "v.quartet.io", clientConfig: {} as { caBundle?: string } }],
};

/** Objects that exist, a CA injection that follows them, and a client that refuses as often as told. */
function setUp({ refusals = 0, objects = [structuredClone(CONFIGURATION)] as KubeObject[] } = {}) {
  const clock = fakeClock();
  const applied: KubeObject[] = [];
  const handlers = new Map<string, CacheHandler>();
  let left = refusals;
  const client = {
    async apply(_kind: unknown, object: KubeObject) {
      applied.push(object);
      if (left-- > 0) throw new Error("the server is starting");
      const stored = objects.find(({ kind }) => kind === object.kind)!;
      const { metadata: _metadata, ...fields } = object;
      Object.assign(stored, fields);
    },
  } as unknown as Client;
  const cache = {
    informer: ({ kind }: { kind: string }) => ({
      addHandler: (handler: CacheHandler) => handlers.set(kind, handler),
      list: () => objects.filter((object) => object.kind === kind),
      everSynced: true,
    }),
    release: () => {},
  } as unknown as Cache;
  const injection = createCaInjection({
    client,
    cache,
    clock,
    log: silentLog,
    configurations: ["q"],
    crds: ["echoes.test.quartet.io"],
    service: { namespace: "ops", name: "q" },
  });
  const bundle = (): string => {
    const [first] = objects as (typeof CONFIGURATION)[];
    return Buffer.from(first?.webhooks[0]?.clientConfig.caBundle ?? "", "base64").toString();
  };
  const change = (object: KubeObject): void =>
    handlers.get(object.kind)?.({ type: "update", object, old: object, resync: false });
  return { clock, applied, injection, bundle, change, objects };
}

describe("CA injection", () => {
  it("CORE-348 applies the CA and nothing else, once, and again when somebody clears it", async () => {
    const { clock, applied, injection, objects, change } = setUp();
    injection.setBundle("CA");
    void injection.run(lead.signal);
    await clock.flush();
    const patch = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "q" },
      webhooks: [{ name: "v.quartet.io", clientConfig: { caBundle: base64("CA") } }],
    };
    expect(applied).toEqual([patch]);
    change(objects[0]!);
    expect(applied).toHaveLength(1);
    change(structuredClone(CONFIGURATION));
    expect(applied).toEqual([patch, patch]);
  });

  it("CORE-348 injects into CRDs with a conversion webhook only", async () => {
    const crd = (conversion?: object) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "echoes.test.quartet.io" },
      spec: { ...(conversion === undefined ? {} : { conversion }) },
    });
    const without = setUp({ objects: [crd()] });
    without.injection.setBundle("CA");
    void without.injection.run(lead.signal);
    expect(without.applied).toEqual([]);
    expect(without.injection.missing(pem("CA"))).toEqual([]);
    const hooked = setUp({ objects: [crd({ strategy: "Webhook", webhook: { clientConfig: {} } })] });
    hooked.injection.setBundle("CA");
    void hooked.injection.run(lead.signal);
    expect(hooked.applied).toMatchObject([
      {
        metadata: { name: "echoes.test.quartet.io" },
        spec: { conversion: { webhook: { clientConfig: { caBundle: base64("CA") } } } },
      },
    ]);
  });

  it("CORE-348 DSP-114 leaves a CRD alone that another program's Service converts", () => {
    const crd = (namespace: string, name: string) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "echoes.test.quartet.io" },
      spec: {
        conversion: { strategy: "Webhook", webhook: { clientConfig: { service: { namespace, name } } } },
      },
    });
    for (const [namespace, name, count] of [
      ["ops", "q", 1],
      ["ops", "other", 0],
      ["elsewhere", "q", 0],
    ] as const) {
      const { injection, applied } = setUp({ objects: [crd(namespace, name)] });
      injection.setBundle("CA");
      expect(injection.missing(pem("CA"))).toHaveLength(count);
      void injection.run(lead.signal);
      expect(applied).toHaveLength(count);
    }
  });

  it("CORE-348 a replica that does not lead writes nothing, nor one that led before", async () => {
    const { clock, applied, injection, change } = setUp();
    injection.setBundle("older");
    change(structuredClone(CONFIGURATION));
    await clock.flush();
    expect(applied).toEqual([]);
    const running = injection.run(lead.signal);
    await clock.flush();
    expect(applied).toHaveLength(1);
    lead.abort();
    await running;
    injection.setBundle("newer");
    await clock.flush();
    expect(applied).toHaveLength(1);
  });

  it("CORE-347 tells where a CA is missing, whoever wrote the bundle", () => {
    const bundles = pem("new") + pem("old");
    const held = structuredClone(CONFIGURATION);
    held.webhooks[0]!.clientConfig.caBundle = base64(bundles);
    const { injection } = setUp({ objects: [held] });
    expect(injection.missing(pem("new"))).toEqual([]);
    expect(injection.missing(pem("old"))).toEqual([]);
    expect(injection.missing(pem("other"))).toEqual(["ValidatingWebhookConfiguration q"]);
    expect(setUp().injection.missing(pem("new"))).toEqual(["ValidatingWebhookConfiguration q"]);
    expect(setUp({ objects: [] }).injection.missing(pem("new"))).toEqual([]);
  });

  it("CORE-348 tries a write that failed again, less and less often, until the CA is there", async () => {
    const { clock, applied, injection, bundle } = setUp({ refusals: 2 });
    injection.setBundle("CA");
    void injection.run(lead.signal);
    await clock.flush();
    expect([applied.length, bundle()]).toEqual([1, ""]);
    await clock.advance(1_000);
    expect([applied.length, bundle()]).toEqual([2, ""]);
    await clock.advance(2_000);
    expect([applied.length, bundle()]).toEqual([3, "CA"]);
    await clock.advance(3_600_000);
    expect(applied).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it("CORE-348 sends nothing more once it has ended", async () => {
    const { clock, applied, injection } = setUp({ refusals: 100 });
    injection.setBundle("CA");
    void injection.run(lead.signal);
    await clock.advance(600_000);
    expect(applied.length).toBeLessThan(20);
    const before = applied.length;
    lead.abort();
    await clock.advance(600_000);
    expect(applied).toHaveLength(before);
    expect(clock.pending).toBe(0);
  });
});
