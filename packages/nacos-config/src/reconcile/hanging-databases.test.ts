/** Many resources whose databases accept connections and never answer. */
import { createServer, type Server, type Socket } from "node:net";
import { createProbes, type Probes } from "@quartet/core";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseLimits } from "../database/connection.ts";
import { hostRules } from "../database/hosts.ts";
import { nacos, passOf, secret, stored } from "../fixtures.testkit.ts";
import { databaseStep } from "./database-step.ts";
import { createMemoryStore, type MemoryStore } from "./memory.ts";

const NAMES = Array.from({ length: 200 }, (_, index) => `r${index}`);
/** Longer than a pass waits for an answer, and than a failure keeps it from trying again, in milliseconds. */
const GRACE_MS = 1_000;
const RETRY_MS = 5_000;

const databases = databaseLimits(hostRules("127.0.0.1"));
let server: Server;
let sockets: Socket[];
let probes: Probes;
let ending: AbortController;
let clock: FakeClock;
let queued: Set<string>;
let memories: MemoryStore;
beforeEach(async () => {
  sockets = [];
  queued = new Set();
  clock = fakeClock();
  memories = createMemoryStore();
  ending = new AbortController();
  probes = createProbes(clock, "test");
  void probes.source.start(({ name }) => queued.add(name), ending.signal);
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    // Unread, it would not notice its end.
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  ending.abort();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const login = stored(secret("pg-login", { username: "nacos", password: "p" }));

/** One pass of a resource; its failures. */
async function step(name: string, timeoutSeconds = 600, uid = "uid"): Promise<string[]> {
  const { port } = server.address() as { port: number };
  const postgres = {
    host: "127.0.0.1",
    port: String(port),
    database: "nacos",
    credentialsSecretRef: { name: "pg-login" },
  };
  const resource = nacos({ postgres, pgInit: { timeoutSeconds } }, { name, uid });
  const memory = memories.of(name, uid);
  const pass = passOf(resource, login, { memory, probes, clock, databases });
  await databaseStep(pass, true);
  return pass.failures.map(({ reason }) => reason);
}

const open = (): number => sockets.filter((socket) => !socket.closed).length;

describe("databases that hang", () => {
  it("NACOS-722 NACOS-715 cost a connection each however many passes there are, and end with their resources", async () => {
    const first = Promise.all(NAMES.map((name) => step(name)));
    await clock.advance(GRACE_MS);
    await first;
    // Each two seconds some more begin.
    await clock.advance(30_000);
    await expect.poll(open, { timeout: 30_000 }).toBe(NAMES.length);
    // Nobody waits any more.
    for (const name of [...NAMES, ...NAMES]) expect(await step(name)).toEqual([]);
    expect(sockets).toHaveLength(NAMES.length);
    expect(queued.size).toBe(0);
    for (const name of NAMES) probes.forget({ namespace: "t", name });
    await expect.poll(open, { timeout: 30_000 }).toBe(0);
  });

  it("NACOS-722 hold up no pass once they are known to", async () => {
    const first = step("r0", 1);
    await clock.advance(GRACE_MS);
    await first;
    await expect.poll(() => queued.size, { timeout: 30_000 }).toBe(1);
    expect(await step("r0", 1)).toEqual(["DatabaseUnreachable"]);
    await clock.advance(RETRY_MS);
    // The clock stands still: a pass that waited would never end.
    expect(await step("r0", 1)).toEqual(["DatabaseUnreachable"]);
    await expect.poll(() => sockets.length, { timeout: 30_000 }).toBe(2);
  });

  it("NACOS-1002 say nothing of a later resource of the same name, whose spec may name another database", async () => {
    const first = step("r0", 1);
    await clock.advance(GRACE_MS);
    await first;
    await expect.poll(() => queued.size, { timeout: 30_000 }).toBe(1);
    // No pass has seen that the first one was gone.
    expect(await step("r0", 1, "uid-later")).toEqual([]);
    await expect.poll(() => sockets.length, { timeout: 30_000 }).toBe(2);
  });
});
