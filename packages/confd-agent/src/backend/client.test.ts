/** A backend with its connection's state, over a source that fails as it is told. */
import { afterEach, expect, it } from "vitest";
import { type BackendSettings, loadSettings } from "../config/settings.ts";
import { NO_METRICS } from "../observe/metrics.ts";
import type { Backend } from "./backend.ts";
import { type Client, createClient } from "./client.ts";

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** A client; `read` is what its backend does, and `state` what happened. */
function connect(read: Backend["read"], more: Partial<BackendSettings> = {}) {
  const state = { connections: 0, closed: 0, log: [] as string[] };
  const settings = { ...loadSettings(new Map(), {}).settings, nodes: ["a:1", "b:2"], ...more };
  const client = createClient({
    settings,
    connect: async () => {
      state.connections += 1;
      return {
        label: "test",
        read,
        health: async () => {},
        close: async () => {
          state.closed += 1;
        },
      };
    },
    log: (level, message) => void state.log.push(`${level} ${message}`),
    metrics: NO_METRICS,
    signal: new AbortController().signal,
  });
  clients.push(client);
  return { client, state };
}

it("CONFD-CFG-11 nodes of SRV records are asked for again after a failure, others are not", async () => {
  const failing = async (): Promise<never> => {
    throw new Error("away");
  };
  const found = connect(failing, { srvDomain: "example.com" });
  const named = connect(failing);
  for (const { client } of [found, named]) {
    for (let i = 0; i < 3; i++) await expect(client.read(["/a"])).rejects.toThrow("away");
  }
  expect(found.state).toMatchObject({ connections: 3, closed: 3 });
  expect(named.state).toMatchObject({ connections: 1, closed: 0 });
});

it("CONFD-BE-6 CONFD-PROC-11 a read without an answer ends at its limit and names the nodes", async () => {
  let aborted = false;
  const { client } = connect(
    (_ranges, { signal }) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise(() => {});
    },
    { backendTimeout: 30, backend: "redis" },
  );
  await expect(client.read(["/a"])).rejects.toThrow(
    "cannot read from redis a:1, b:2: no answer within 0.03s",
  );
  expect(aborted).toBe(true);
  expect(client.outageSince()).toBeDefined();
});

it("CONFD-READ-1 CONFD-WATCH-4 ranges within others are asked once", async () => {
  const asked: (readonly string[])[] = [];
  const { client } = connect(async (ranges) => {
    asked.push(ranges);
    return { values: new Map() };
  });
  await client.read(["/a/b", "/a", "/a", "/ab", "/a/b/c"]);
  await client.read(["/x", "/"]);
  expect(asked).toEqual([["/a", "/ab"], ["/"]]);
});
