import { createNacosCluster, type NacosCluster, type NacosClusterOptions } from "@quartet/testing";
import { afterEach, describe, expect, it } from "vitest";
import { imageVersion } from "../desired/image.ts";
import { type CheckOptions, checkCluster } from "./check.ts";
import { answerBudget, type BaseUrl, podBaseUrl } from "./client.ts";
import { endpointOf } from "./endpoint.ts";
import type { Cluster } from "./evaluate.ts";
import type { NodeFacts } from "./node-facts.ts";

const IPS = ["127.0.0.11", "127.0.0.12", "127.0.0.13"];
const IDENTITY = { name: "serverIdentity", value: "security" };
const node = (podIP: string, ordinal: number): NodeFacts => ({
  ordinal,
  podName: `demo-${ordinal}`,
  podIP,
  hostIP: "",
  nodeName: "",
  ready: true,
});
const cluster: Cluster = { name: "demo", type: "cluster", replicas: 3, nodes: IPS.map(node) };

let servers: NacosCluster | undefined;
afterEach(async () => {
  await servers?.close();
  servers = undefined;
});

/** Starts three nodes, each on a port of its own, and tells how to reach them. */
async function start(options: NacosClusterOptions = {}): Promise<BaseUrl> {
  const running = createNacosCluster({ port: 0, ...options });
  servers = running;
  await running.setMembers(
    IPS.map((ip, at) => ({ ip, host: `demo-${at}.demo-headless.t.svc.cluster.local` })),
  );
  return ({ podIP }) => `http://${podIP}:${running.portOf(podIP)}`;
}

function check(baseUrl: BaseUrl, more: Partial<CheckOptions> = {}): ReturnType<typeof checkCluster> {
  const signal = new AbortController().signal;
  const endpoint = endpointOf(new Map(), new Map());
  return checkCluster(cluster, { endpoint, baseUrl, signal, answers: answerBudget(), ...more });
}

const paths = (): string[] => [...new Set(servers!.requests.map(({ path }) => path))];

describe("health check over HTTP", () => {
  it("NACOS-903 asks Nacos 2 by its older address and remembers that", async () => {
    const { health, variant } = await check(await start());
    expect(health).toMatchObject({ state: "passed", version: "2.4.3" });
    expect(variant).toBe("v1");
    expect(paths()).toEqual(["/nacos/v1/core/cluster/nodes"]);
  });

  it("NACOS-903 falls back to the address of version 3 on 410, and begins there once it is known", async () => {
    const baseUrl = await start({ version: "3.0.1" });
    const first = await check(baseUrl);
    expect(first).toMatchObject({ variant: "v3", health: { state: "passed", version: "3.0.1" } });
    expect(paths()).toHaveLength(2);
    const before = servers!.requests.length;
    await check(baseUrl, { remembered: "v3" });
    await check(baseUrl, { version: imageVersion("nacos/nacos-server:v3.0.1")! });
    expect(servers!.requests.slice(before).every(({ path }) => path.includes("/v3/"))).toBe(true);
  });

  it.each([404, 410, 501])("NACOS-903 tries the other address after status %i", async (status) => {
    const baseUrl = await start({
      override: ({ path }) => (path.includes("/v1/") ? { status, body: "{}" } : undefined),
      version: "3.0.0",
    });
    expect((await check(baseUrl)).health.state).toBe("passed");
  });

  it("NACOS-903 puts IPv6 addresses into brackets", () => {
    expect(podBaseUrl({ podName: "x-0", podIP: "fd00::1" }, 8848)).toBe("http://[fd00::1]:8848");
    expect(podBaseUrl({ podName: "x-0", podIP: "10.0.0.1" }, 80)).toBe("http://10.0.0.1:80");
  });

  it("NACOS-906 NACOS-909 passes the login with the identity header, and stays unverified without", async () => {
    const baseUrl = await start({ version: "3.0.1", auth: true, identity: IDENTITY });
    expect((await check(baseUrl, { identity: IDENTITY })).health).not.toHaveProperty("unverified");
    expect((await check(baseUrl)).health).toMatchObject({
      state: "passed",
      unverified: { reason: "AuthRequired" },
    });
  });

  it("NACOS-905 gives up on nodes that do not answer after three seconds, all at once", async () => {
    const baseUrl = await start();
    for (const ip of IPS) servers!.behaviour.hung.add(ip);
    const begin = performance.now();
    const { health } = await check(baseUrl);
    // One after the other they would take nine.
    expect(performance.now() - begin).toBeLessThan(8_900);
    expect(health).toMatchObject({ state: "failed", code: 401, reason: "Timeout" });
  });

  it("NACOS-905 reads no more than a mebibyte, and follows no redirect", async () => {
    const large = JSON.stringify({ code: 200, data: [], filler: "x".repeat(1_048_576) });
    expect((await check(await start({ override: () => ({ status: 200, body: large }) }))).health.state).toBe(
      "failed",
    );
    servers!.behaviour.override = () => ({ status: 302, body: "" });
    const base: BaseUrl = ({ podIP }) => `http://${podIP}:${servers!.portOf(podIP)}`;
    expect((await check(base)).health).toMatchObject({
      reason: "HttpStatus",
      message: expect.stringContaining("302"),
    });
  });

  it.each([
    ["no JSON", 200, "<html>MARK</html>"],
    ["an error code", 200, '{"code":500,"data":[],"message":"MARK"}'],
    ["no list", 200, '{"code":200,"data":"MARK"}'],
    ["a server error", 500, "MARK"],
  ])("NACOS-907 NACOS-908 NACOS-813 fails on %s without repeating it", async (_what, status, body) => {
    const { health } = await check(await start({ override: () => ({ status, body }) }));
    expect(health).toMatchObject({ state: "failed", code: 401 });
    expect(JSON.stringify(health)).not.toContain("MARK");
  });

  it("NACOS-908 fails when nothing listens", async () => {
    const baseUrl = await start();
    const port = servers!.portOf(IPS[0]!);
    await servers!.close();
    const { health } = await check(({ podIP }) =>
      podIP === IPS[0] ? `http://${podIP}:${port}` : baseUrl({ podName: "", podIP }, 0),
    );
    expect(health).toMatchObject({ state: "failed", reason: "Unreachable" });
  });
});

describe("address of the API", () => {
  const endpoint = (properties: Record<string, string>, env: Record<string, string> = {}) =>
    endpointOf(new Map(Object.entries(properties)), new Map(Object.entries(env)));

  it("NACOS-904 follows the properties of both versions, and else Nacos' defaults", () => {
    expect(endpoint({})).toEqual({ port: 8848, contextPath: "/nacos" });
    expect(endpoint({ "server.port": "9000", "server.servlet.contextPath": "/n/" })).toEqual({
      port: 9000,
      contextPath: "/n",
    });
    expect(endpoint({ "server.servlet.context-path": "/" })).toEqual({ port: 8848, contextPath: "" });
    expect(endpoint({ "nacos.server.main.port": "9001", "nacos.server.contextPath": "api" })).toEqual({
      port: 9001,
      contextPath: "/api",
    });
    expect(endpoint({ "server.port": "high" }).port).toBe(8848);
  });

  it("NACOS-904 resolves placeholders by the container's environment, else by their default", () => {
    const port = "$" + "{NACOS_PORT:9100}";
    expect(endpoint({ "server.port": port }, { NACOS_PORT: "9200" }).port).toBe(9200);
    expect(endpoint({ "server.port": port }).port).toBe(9100);
    expect(endpoint({ "server.servlet.contextPath": "$" + "{CTX:/x}" }, { CTX: "" }).contextPath).toBe("");
  });
});
