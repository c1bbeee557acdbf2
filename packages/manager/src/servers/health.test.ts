import { createLogging, type HealthCheck, parseLogLevels } from "@quartet/core";
import { afterEach, describe, expect, it } from "vitest";
import { startHealthServer } from "./health.ts";
import type { RunningServer } from "./http-server.ts";

const servers: RunningServer[] = [];
const lines: string[] = [];
const { log } = createLogging({
  levels: parseLogLevels("info"),
  destination: { write: (line) => lines.push(line) },
});

afterEach(async () => {
  lines.length = 0;
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(
  healthz: Record<string, HealthCheck>,
  readyz: Record<string, HealthCheck> = {},
): Promise<(path: string, method?: string) => Promise<{ code: number; text: string }>> {
  const server = await startHealthServer({
    address: { host: "127.0.0.1", port: 0 },
    healthz: new Map(Object.entries(healthz)),
    readyz: new Map(Object.entries(readyz)),
    log,
  });
  servers.push(server);
  return async (path, method = "GET") => {
    const response = await fetch(server.url + path, { method });
    return { code: response.status, text: await response.text() };
  };
}

describe("health endpoints", () => {
  it("CORE-280 answers 200 ok when all is well, per endpoint and per check", async () => {
    const get = await start({ ping: () => undefined }, { caches: () => undefined, bad: () => "no" });
    expect(await get("/healthz")).toEqual({ code: 200, text: "ok" });
    expect(await get("/healthz/")).toEqual({ code: 200, text: "ok" });
    expect(await get("/healthz/ping")).toEqual({ code: 200, text: "ok" });
    expect(await get("/readyz/caches")).toEqual({ code: 200, text: "ok" });
    expect(await get("/healthz?verbose")).toEqual({ code: 200, text: "[+]ping ok\nhealthz check passed\n" });
  });

  it("CORE-280 answers 500 with a line per check and tells the reason to the log only", async () => {
    const get = await start({}, { caches: () => "secrets not synced", webhook: () => undefined });
    expect(await get("/readyz")).toEqual({
      code: 500,
      text: "[-]caches failed: reason withheld\n[+]webhook ok\nreadyz check failed\n",
    });
    expect((await get("/readyz/caches")).code).toBe(500);
    expect((await get("/readyz/webhook")).code).toBe(200);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      msg: "Health check failed",
      endpoint: "readyz",
      check: "caches",
      reason: "secrets not synced",
    });
  });

  it("logs a failing check once, and once more when it passes again", async () => {
    let reason: string | undefined = "down";
    const get = await start({ a: () => reason });
    await get("/healthz");
    await get("/healthz");
    reason = undefined;
    await get("/healthz");
    await get("/healthz");
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      "Health check failed",
      "Health check passes again",
    ]);
  });

  it("CORE-280 leaves excluded checks out, and says when one is unknown", async () => {
    const get = await start({ a: () => "no", b: () => undefined });
    expect(await get("/healthz?exclude=a")).toEqual({ code: 200, text: "ok" });
    expect(await get("/healthz?exclude=a&exclude=zz&verbose=1")).toEqual({
      code: 200,
      text: "[+]a excluded: ok\n[+]b ok\nwarn: some health checks cannot be excluded: no matches for zz\nhealthz check passed\n",
    });
  });

  it.each(["/", "/healthz/other", "/healthz/a/b", "/other", "/__proto__", "/readyz/constructor"])(
    "CORE-280 answers 404 to %s",
    async (path) => {
      const get = await start({ a: () => undefined });
      expect((await get(path)).code).toBe(404);
    },
  );

  it("counts a check that throws as failed and lets nobody write", async () => {
    const get = await start({
      a: () => {
        throw new Error("boom");
      },
    });
    expect((await get("/healthz")).code).toBe(500);
    expect((await get("/healthz", "POST")).code).toBe(405);
  });

  it("names the flag when the address is taken", async () => {
    await start({});
    const address = { host: "127.0.0.1", port: servers[0]!.port };
    await expect(startHealthServer({ address, healthz: new Map(), readyz: new Map(), log })).rejects.toThrow(
      /^--health-probe-bind-address 127.0.0.1:\d+: cannot listen: .*EADDRINUSE.*; name another address, or 0 for off$/,
    );
  });
});
