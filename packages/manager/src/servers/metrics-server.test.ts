import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogging, createMetrics, parseLogLevels } from "@quartet/core";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import { createCa, issueServing } from "@quartet/core/webhook";
import { afterEach, describe, expect, it } from "vitest";
import type { RunningServer } from "./http-server.ts";
import { accessReviewer } from "./metrics-access.ts";
import { startMetricsServer } from "./metrics-server.ts";

const servers: RunningServer[] = [];
const { log } = createLogging({ levels: parseLogLevels("error"), destination: { write: () => true } });

afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

const address = { host: "127.0.0.1", port: 0 };

/** API server that knows the tokens `scraper` (may read metrics) and `nobody` (may not). */
function reviews(): {
  calls: string[];
  down: boolean;
  raw(method: string, path: string, body?: unknown): Promise<unknown>;
} {
  const server = {
    calls: [] as string[],
    down: false,
    async raw(_method: string, path: string, body?: unknown): Promise<unknown> {
      server.calls.push(path.split("/").at(-1)!);
      if (server.down) throw new Error("connection refused");
      const { spec } = body as { spec: Record<string, unknown> };
      if (path.endsWith("tokenreviews")) {
        const known = spec.token === "scraper" || spec.token === "nobody";
        return { status: { authenticated: known, user: { username: spec.token, groups: ["g"] } } };
      }
      const right = { path: "/metrics", verb: "get" };
      const asked = JSON.stringify(spec.nonResourceAttributes) === JSON.stringify(right);
      return { status: { allowed: asked && spec.user === "scraper" } };
    },
  };
  return server;
}

async function startSecure(clock: FakeClock): Promise<{
  api: ReturnType<typeof reviews>;
  server: RunningServer;
  get(token?: string, ca?: string): Promise<{ code: number; text: string }>;
}> {
  const api = reviews();
  const ca = await createCa(Date.now());
  const tls = await issueServing(ca, ["localhost"], Date.now());
  const server = await startMetricsServer({
    address,
    metrics: createMetrics({ processMetrics: false }),
    log,
    secure: { tls, access: accessReviewer(api, "/metrics", clock) },
  });
  servers.push(server);
  const get = (token?: string, trusted = ca.cert): Promise<{ code: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const options = { ca: trusted, servername: "localhost", headers, agent: false as const };
      request(`${server.url}/metrics`, options, (response) => {
        let text = "";
        response
          .on("data", (chunk) => (text += chunk))
          .on("end", () => resolve({ code: response.statusCode!, text }));
      })
        .on("error", reject)
        .end();
    });
  return { api, server, get };
}

describe("metrics endpoint", () => {
  it("CORE-283 serves the text format 0.0.4 at /metrics and nothing else", async () => {
    const metrics = createMetrics({ processMetrics: false });
    metrics.counter("x_total", "X.").inc();
    const server = await startMetricsServer({ address, metrics, log });
    servers.push(server);
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toContain("x_total 1");
    expect((await fetch(`${server.url}/other`)).status).toBe(404);
    expect((await fetch(`${server.url}/metrics`, { method: "POST" })).status).toBe(405);
  });

  it("CORE-283 serves new connections by a renewed certificate", async () => {
    const { server, get } = await startSecure(fakeClock());
    expect((await get("scraper")).code).toBe(200);
    const ca = await createCa(Date.now());
    server.renew(await issueServing(ca, ["localhost"], Date.now()));
    await expect(get("scraper")).rejects.toThrow(/certificate/);
    expect((await get("scraper", ca.cert)).code).toBe(200);
  });

  it("CORE-283 demands a token that may get /metrics when it is secure", async () => {
    const { get } = await startSecure(fakeClock());
    expect((await get()).code).toBe(401);
    expect((await get("unknown")).code).toBe(401);
    expect((await get("nobody")).code).toBe(403);
    expect((await get("scraper")).code).toBe(200);
  });

  it("CORE-283 asks the API server again after one minute only", async () => {
    const clock = fakeClock();
    const { api, get } = await startSecure(clock);
    await get("scraper");
    await get("scraper");
    await clock.advance(59_999);
    await get("scraper");
    expect(api.calls).toEqual(["tokenreviews", "subjectaccessreviews"]);
    await clock.advance(1);
    await get("scraper");
    expect(api.calls).toHaveLength(4);
  });

  it("CORE-262 ends in spite of a connection that never began its TLS handshake", async () => {
    await startSecure(fakeClock());
    const server = servers.pop()!;
    const silent = connect({ host: "127.0.0.1", port: server.port }).on("error", () => {});
    await once(silent, "connect");
    const late = Symbol("late");
    expect(await Promise.race([server.stop(), sleep(10_000, late)])).not.toBe(late);
    silent.destroy();
  });

  it("answers 500 while the API server cannot be asked, and remembers nothing of it", async () => {
    const { api, get } = await startSecure(fakeClock());
    api.down = true;
    expect(await get("scraper")).toEqual({ code: 500, text: "internal error\n" });
    api.down = false;
    expect((await get("scraper")).code).toBe(200);
  });
});
