import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createCa, issueServing } from "./certificates.ts";
import { followServingPair, readServingPair } from "./file-certificates.ts";
import type { ServingPair } from "./server.ts";
import { silentLog } from "./webhook.testkit.ts";

const clock = fakeClock();
let folder: string;
let life: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quartet-cert-"));
  life = new AbortController();
});
afterEach(async () => {
  life.abort();
  await rm(folder, { recursive: true });
});

const issue = async (): Promise<ServingPair> =>
  issueServing(await createCa(clock.now()), ["hooks.ops.svc"], clock.now());

async function put(pair: Partial<ServingPair>): Promise<void> {
  if (pair.cert !== undefined) await writeFile(join(folder, "tls.crt"), pair.cert);
  if (pair.key !== undefined) await writeFile(join(folder, "tls.key"), pair.key);
}

/** Certificates as they come into use, and whether each look at the files could be used. */
function follow(): { pairs: ServingPair[]; reads: boolean[]; look(): Promise<void> } {
  const pairs: ServingPair[] = [];
  const reads: boolean[] = [];
  const onChange = (pair: ServingPair): void => void pairs.push(pair);
  const onRead = (ok: boolean): void => void reads.push(ok);
  void followServingPair({ folder, clock, log: silentLog, onChange, onRead }, life.signal);
  return {
    pairs,
    reads,
    async look() {
      const before = reads.length;
      await clock.advance(10_000);
      await vi.waitFor(() => expect(reads).toHaveLength(before + 1));
    },
  };
}

describe("certificates from files", () => {
  it("CORE-351 a new pair is taken into use within 10 s, an unchanged one is not", async () => {
    const [first, second] = [await issue(), await issue()];
    await put(first);
    const { pairs, reads, look } = follow();
    await vi.waitFor(() => expect(reads).toEqual([true]));
    await look();
    expect(pairs).toEqual([first]);
    await put(second);
    await look();
    expect(pairs).toEqual([first, second]);
  });

  it("CORE-351 a bad new pair keeps the old one, counts an error, and is taken once it is whole", async () => {
    const [first, second] = [await issue(), await issue()];
    await put(first);
    const { pairs, reads, look } = follow();
    await vi.waitFor(() => expect(reads).toEqual([true]));
    await put({ cert: second.cert });
    await look();
    await put({ key: "not a key" });
    await look();
    expect([pairs, reads]).toEqual([[first], [true, false, false]]);
    await put(second);
    await look();
    expect(pairs).toEqual([first, second]);
  });

  it("CORE-351 a folder without a usable pair is an error at the start", async () => {
    await expect(readServingPair(folder, clock.now())).rejects.toThrow("tls.crt");
    const [first, second] = [await issue(), await issue()];
    await put({ cert: first.cert, key: second.key });
    await expect(readServingPair(folder, clock.now())).rejects.toThrow(folder);
  });
});
