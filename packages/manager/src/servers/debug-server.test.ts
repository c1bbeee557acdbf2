import { request } from "node:http";
import { createLogging, createMetrics, parseLogLevels } from "@quartet/core";
import { expect, it } from "vitest";
import { loadSettings } from "../config/load.ts";
import { startDebugServer } from "./debug-server.ts";
import { startHealthServer } from "./health.ts";
import { startMetricsServer } from "./metrics-server.ts";

it("answers about objects in JSON, without secrets, and 404 for kinds that nobody works on", async () => {
  const asked: string[][] = [];
  const server = await startDebugServer({ host: "127.0.0.1", port: 0 }, (kind, key) => {
    asked.push([kind, key]);
    return kind === "nacos"
      ? { state: "Running", error: "Bearer abcdefgh12345678 refused" }
      : `nobody works on ${kind}`;
  });
  const get = (path: string): Promise<Response> => fetch(server.url + path);
  const answer = await get("/debug/explain?kind=nacos&key=n/x");
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(await answer.json()).toEqual({ state: "Running", error: "Bearer [redacted] refused" });
  expect(asked).toEqual([["nacos", "n/x"]]);
  const unknown = await get("/debug/explain?kind=pods&key=n/x");
  expect([unknown.status, await unknown.text()]).toEqual([404, "nobody works on pods\n"]);
  expect((await get("/other")).status).toBe(404);
  await server.stop();
});

it("CORE-280 probes, metrics and debug answer 404 to a request target that is no URL", async () => {
  const address = { host: "127.0.0.1", port: 0 };
  const { log } = createLogging({ levels: parseLogLevels("error") });
  const none = new Map();
  const servers = [
    await startDebugServer(address, () => ({})),
    await startHealthServer({ address, healthz: none, readyz: none, log }),
    await startMetricsServer({ address, metrics: createMetrics({ processMetrics: false }), log }),
  ];
  for (const { port, stop } of servers) {
    const code = await new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port, path: "//", agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(code).toBe(404);
    await stop();
  }
});

const module = { name: "nacos", aliases: [], flags: [] };

it("NACOS-1010 listens on this machine alone unless told otherwise, and has nothing to profile with", async () => {
  const { settings } = await loadSettings({ args: [], env: {}, modules: [module] });
  expect(settings.debug.address?.host).toBe("127.0.0.1");
  const server = await startDebugServer({ host: "127.0.0.1", port: 0 }, () => ({}));
  const codes = await Promise.all(
    ["/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile", "/json/list"].map(
      async (path) => (await fetch(server.url + path)).status,
    ),
  );
  expect(codes).toEqual([404, 404, 404, 404]);
  await server.stop();
});
