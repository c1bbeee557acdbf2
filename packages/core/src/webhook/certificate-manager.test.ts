import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { apiError } from "../cache/fixtures.testkit.ts";
import type { Cache, CacheHandler } from "../cache/types.ts";
import type { Client } from "../client/types.ts";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { createCertificateManager } from "./certificate-manager.ts";
import { type CertificateSet, rotate } from "./rotation.ts";
import { silentLog } from "./webhook.testkit.ts";

const NAMES = ["q.n.svc"];
const LIFE = { leafLifeMs: 90 * 86_400_000, caLifeMs: 5 * 365 * 86_400_000 };

let life: AbortController;
beforeEach(() => {
  life = new AbortController();
});
afterEach(() => life.abort());

/** A manager that follows a Secret; `set` replaces its content as another replica would. */
async function following() {
  const clock = fakeClock(Date.now());
  const fresh = async (): Promise<CertificateSet> =>
    (
      await rotate(undefined, {
        names: NAMES,
        now: clock.now(),
        renews: true,
        isTrusted: () => true,
        ...LIFE,
      })
    ).set;
  let content = await fresh();
  let reads = 0;
  let failures = 0;
  let slow: Promise<void> | undefined;
  let notify: CacheHandler = () => {};
  const client = {
    async list() {
      reads++;
      const data = Object.fromEntries(
        Object.entries(content).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
      );
      if (failures-- > 0) throw apiError(503);
      await slow;
      return { items: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n" }, data }] };
    },
  } as unknown as Client;
  const cache = {
    informer: () => ({
      addHandler(handler: CacheHandler) {
        notify = handler;
        return () => {};
      },
    }),
    release: () => {},
  } as unknown as Cache;
  const served: string[] = [];
  const manager = createCertificateManager({
    client,
    cache,
    clock,
    log: silentLog,
    events: { record: () => {} },
    secret: { namespace: "n", name: "s" },
    renews: () => true,
    isInjected: () => true,
    names: NAMES,
    onChange: ({ cert }) => void served.push(cert),
  });
  await manager.start();
  void manager.run(life.signal);
  return {
    clock,
    served,
    reads: () => reads,
    fail(times: number) {
      failures = times;
    },
    holdReads(until: Promise<void> | undefined) {
      slow = until;
    },
    async set(): Promise<string> {
      content = await fresh();
      notify({} as never);
      return content["tls.crt"];
    },
  };
}

/** Until certificates were made and read, which takes real time; the fake clock moves on a little each time. */
const eventually = (clock: FakeClock, stepMs: number, check: () => void): Promise<void> =>
  vi.waitFor(
    async () => {
      await clock.advance(stepMs);
      check();
    },
    { timeout: 20_000, interval: 10 },
  );

it("CORE-349 a change of the Secret that comes while it is being read is followed, too", async () => {
  const { clock, served, reads, set, holdReads } = await following();
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = reads();
  holdReads(promise);
  await set();
  await eventually(clock, 0, () => expect(reads()).toBe(before + 1));
  holdReads(undefined);
  const last = await set();
  resolve();
  await eventually(clock, 0, () => expect(served.at(-1)).toBe(last));
});

it("CORE-349 a Secret that could not be read is read again within a minute", async () => {
  const { clock, served, reads, set, fail } = await following();
  const before = reads();
  fail(1);
  const last = await set();
  await eventually(clock, 0, () => expect(reads()).toBe(before + 1));
  const began = clock.monotonic();
  await eventually(clock, 1_000, () => expect(served.at(-1)).toBe(last));
  expect(clock.monotonic() - began).toBeLessThan(60_000);
});
