import { describe, expect, it } from "vitest";
import type { Cache, CacheHandler } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import type { KubeObject } from "../object.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { startCaInjection } from "./ca-injection.ts";
import { silentLog } from "./webhook.testkit.ts";

/** One validating configuration without a CA, and a client that refuses as often as told. */
function setUp(refusals: number) {
  const clock = fakeClock();
  const applied: KubeObject[] = [];
  const configuration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "q" },
    webhooks: [{ name: "v.quartet.io", clientConfig: {} as { caBundle?: string } }],
  };
  let left = refusals;
  const client = {
    async apply(_kind: unknown, object: KubeObject & Pick<typeof configuration, "webhooks">) {
      applied.push(object);
      if (left-- > 0) throw new Error("the server is starting");
      configuration.webhooks = object.webhooks;
    },
  } as unknown as Client;
  const cache = {
    informer: ({ kind }: { kind: string }) => ({
      addHandler: (_handler: CacheHandler) => () => {},
      list: () => (kind === configuration.kind ? [configuration] : []),
    }),
    release: () => {},
  } as unknown as Cache;
  const injection = startCaInjection({
    client,
    cache,
    clock,
    log: silentLog,
    configurations: ["q"],
    crds: [],
  });
  const bundle = (): string =>
    Buffer.from(configuration.webhooks[0]!.clientConfig.caBundle ?? "", "base64").toString();
  return { clock, applied, injection, bundle };
}

describe("CA injection", () => {
  it("CORE-348 tries a write that failed again, less and less often, until the CA is there", async () => {
    const { clock, applied, injection, bundle } = setUp(2);
    injection.setBundle("CA");
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

  it("CORE-348 sends nothing more once it is stopped", async () => {
    const { clock, applied, injection } = setUp(100);
    injection.setBundle("CA");
    await clock.advance(600_000);
    expect(applied.length).toBeLessThan(20);
    const before = applied.length;
    injection.stop();
    await clock.advance(600_000);
    expect(applied).toHaveLength(before);
    expect(clock.pending).toBe(0);
  });
});
