import { expect, it, vi } from "vitest";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { CONTENDED_BACKOFF, retryOnConflict } from "./retry-on-conflict.ts";
import { answer, CONFIG_MAP, object, serve, status } from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };

/** A server whose object changes with each read, and which refuses the first `conflicts` writes. */
const contended = (conflicts: number, code = 409, reason = "Conflict") => {
  let reads = 0;
  let writes = 0;
  return serve((request, response) => {
    if (request.method === "GET") {
      reads++;
      return answer(response, 200, object(CONFIG_MAP, "a", { resourceVersion: String(reads) }));
    }
    writes++;
    if (writes <= conflicts) return answer(response, code, status(code, reason, "refused"));
    answer(response, 200, { ...JSON.parse(request.body), written: true });
  });
};

/** Runs `work`, letting each wait pass, and gives the waits in milliseconds. */
async function waits(clock: FakeClock, count: number, work: Promise<unknown>): Promise<number[]> {
  const seen: number[] = [];
  for (let wait = 0; wait < count; wait++) {
    await vi.waitFor(() => expect(clock.pending).toBe(1), { interval: 1 });
    const before = clock.monotonic();
    while (clock.pending === 1) await clock.advance(0.25);
    seen.push(clock.monotonic() - before);
  }
  await work;
  return seen;
}

it("CORE-143 hands a live object to each of 5 tries, 10 to 11 ms apart", async () => {
  const { client } = await contended(4);
  const clock = fakeClock();
  const seen: (string | undefined)[] = [];
  const work = retryOnConflict(
    client,
    CONFIG_MAP,
    KEY,
    (live) => {
      seen.push(live.metadata.resourceVersion);
      return client.update(CONFIG_MAP, live);
    },
    { clock },
  );
  for (const wait of await waits(clock, 4, work)) {
    expect(wait).toBeGreaterThanOrEqual(10);
    expect(wait).toBeLessThanOrEqual(11.25);
  }
  await expect(work).resolves.toMatchObject({ written: true });
  expect(seen).toEqual(["1", "2", "3", "4", "5"]);
});

it("CORE-143 gives up after 5 conflicts", async () => {
  const { server, client } = await contended(99);
  const change = vi.fn((live) => client.update(CONFIG_MAP, live));
  await expect(retryOnConflict(client, CONFIG_MAP, KEY, change)).rejects.toMatchObject({
    reason: "Conflict",
  });
  expect(change).toHaveBeenCalledTimes(5);
  expect(server.requests).toHaveLength(10);
});

it("CORE-143 contended: 4 tries, each wait 5 times the last", async () => {
  const { client } = await contended(99);
  const clock = fakeClock();
  const change = vi.fn((live) => client.update(CONFIG_MAP, live));
  const work = retryOnConflict(client, CONFIG_MAP, KEY, change, { clock, backoff: CONTENDED_BACKOFF });
  const refused = expect(work).rejects.toMatchObject({ reason: "Conflict" });
  const seen = await waits(clock, 3, refused);
  expect(change).toHaveBeenCalledTimes(4);
  for (const [index, base] of [10, 50, 250].entries()) {
    expect(seen[index]).toBeGreaterThanOrEqual(base);
    expect(seen[index]).toBeLessThanOrEqual(base * 1.1 + 0.25);
  }
});

it.each([
  [409, "AlreadyExists"],
  [422, "Invalid"],
])("CORE-143 passes %i %s on at once", async (code, reason) => {
  const { client } = await contended(99, code, reason);
  const change = vi.fn((live) => client.update(CONFIG_MAP, live));
  await expect(retryOnConflict(client, CONFIG_MAP, KEY, change)).rejects.toMatchObject({ code, reason });
  expect(change).toHaveBeenCalledTimes(1);
});
