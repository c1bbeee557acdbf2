import { createServer, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiServer } from "../api-server.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { type CertificateAuthority, createAuthority } from "../control-plane/pki.ts";
import { type TestClient, testClient } from "../request.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

interface Seen {
  method: string;
  url: string;
  user: string;
  authorization: string | undefined;
  body: string;
}

let authority: CertificateAuthority;
let server: Server;
let upstream: ApiServer;
let proxy: FaultProxy;
let client: TestClient;
/** Requests that reached the server. */
let seen: Seen[] = [];
/** Open watches of the server. */
let watches: ServerResponse[] = [];

/** Echoes requests; `/watch` streams what the test writes to it. */
beforeAll(async () => {
  authority = await createAuthority();
  const serving = await authority.serving("upstream", ["127.0.0.1"]);
  const options = { ...serving, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
  server = createSecureServer(options, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const names = subject as { CN?: string; O?: string | string[] } | undefined;
    const user = [names?.CN ?? "-", ...[names?.O ?? []].flat()].join(",");
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, user, authorization: headers.authorization, body });
    response.setHeader("content-type", "application/json");
    if (url.startsWith("/watch")) {
      watches.push(response);
      response.flushHeaders();
    } else response.end('{"kind":"Answer","text":"complete"}');
  }) as unknown as Server;
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  upstream = {
    target: "double",
    url,
    ca: authority.cert,
    version: "v0",
    kubeconfig: async ({ user = "admin", groups = [], server: address = url } = {}) =>
      kubeconfigText(address, authority.cert, user, await authority.client(user, groups)),
    requests: async () => [],
    stop: async () => {},
  };
});
afterAll(() => void server.close());

beforeEach(async () => {
  seen = [];
  watches = [];
  proxy = await startFaultProxy({ upstream });
  client = testClient(await proxy.kubeconfig({ user: "jane", groups: ["devs", "ops"] }));
});
afterEach(async () => {
  client.close();
  await proxy.stop();
  for (const watch of watches) watch.destroy();
});

/** Lines of a stream that the test reads one by one; `failed` once it broke off. */
function openWatch(path = "/watch?watch=true"): { lines: unknown[]; failed: Promise<string>; close(): void } {
  const lines: unknown[] = [];
  const abort = new AbortController();
  const failed = (async () => {
    try {
      for await (const line of client.stream(path, abort.signal)) lines.push(line);
      return "ended";
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    }
  })();
  return { lines, failed, close: () => abort.abort() };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 500) throw new Error("condition does not hold after 5 s");
    await sleep(10);
  }
}

describe("without rules", () => {
  it("passes requests, bodies and answers on, with the client's identity", async () => {
    const answer = await client.request("POST", "/api?x=1", { a: 1 });
    expect(answer).toMatchObject({ code: 200, body: { kind: "Answer" } });
    expect(seen).toEqual([
      { method: "POST", url: "/api?x=1", user: "jane,devs,ops", authorization: undefined, body: '{"a":1}' },
    ]);
  });

  it("passes bearer tokens on as they are", async () => {
    const plain = (await proxy.kubeconfig()).replace(/client-certificate-data: .*/, "token: secret");
    const withToken = testClient(plain.replace(/client-key-data: .*/, ""));
    await withToken.ok("GET", "/api");
    expect(seen[0]).toMatchObject({ user: "-", authorization: "Bearer secret" });
    withToken.close();
  });

  it("passes each line of a watch on at once, and ends it with the server or the client", async () => {
    const first = openWatch();
    await until(() => watches.length === 1);
    for (const n of [1, 2]) {
      watches[0]!.write(`{"n":${n}}\n`);
      await until(() => first.lines.length === n);
    }
    expect(proxy.running({ watch: true })).toBe(1);
    watches[0]!.end();
    expect(await first.failed).toBe("ended");
    await until(() => proxy.running() === 0);

    const second = openWatch();
    await until(() => watches.length === 2);
    second.close();
    await until(() => watches[1]!.destroyed);
  });

  it("breaks off the client's connection when the server's breaks", async () => {
    const watch = openWatch();
    await until(() => watches.length === 1);
    watches[0]!.destroy();
    expect(await watch.failed).toBe("ECONNRESET");
  });
});

describe("CORE-448", () => {
  it("CORE-448 cuts: before the server hears of it, or after it has done its work", async () => {
    const before = proxy.add({ fault: { kind: "cut" }, path: "/a", times: 1 });
    await expect(client.request("PUT", "/a", {})).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(seen).toEqual([]);
    proxy.add({ fault: { kind: "cut", when: "after" }, path: "/b", times: 1 });
    await expect(client.request("PUT", "/b", {})).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(seen.map(({ url }) => url)).toEqual(["/b"]);
    expect(before.hits).toBe(1);
    await client.ok("PUT", "/a", {});
  });

  it("CORE-448 swallows: the connection stays open without a byte", async () => {
    proxy.add({ fault: { kind: "blackhole" }, method: "GET", path: "/a" });
    const outcome = client.request("GET", "/a", undefined, { signal: AbortSignal.timeout(200) });
    await expect(outcome).rejects.toThrow("aborted");
    expect(seen).toEqual([]);
    await client.ok("PUT", "/a", {});
  });

  it("CORE-448 delays", async () => {
    proxy.add({ fault: { kind: "delay", ms: 150 }, path: "/a" });
    const started = performance.now();
    await client.ok("GET", "/a");
    expect(performance.now() - started).toBeGreaterThan(145);
  });

  it("CORE-448 hands on late what the server says, in order, and takes requests in time", async () => {
    proxy.add({ fault: { kind: "late", ms: 300 }, path: "/watch" });
    const watch = openWatch();
    const started = performance.now();
    await vi.waitFor(() => expect(watches).toHaveLength(1), 5_000);
    for (const line of [1, 2, 3]) watches[0]!.write(`${line}\n`);
    await vi.waitFor(() => expect(watch.lines).toEqual([1, 2, 3]), 5_000);
    expect(performance.now() - started).toBeGreaterThan(295);
    watch.close();
  });

  it("CORE-448 answers 429 with Retry-After, and 500, as an API server does", async () => {
    proxy.add({ fault: { kind: "tooManyRequests", retryAfterSeconds: 7 }, times: 1 });
    proxy.add({ fault: { kind: "serverError" }, times: 1 });
    const busy = await client.request("GET", "/a");
    expect(busy.code).toBe(429);
    expect(busy.headers["retry-after"]).toBe("7");
    expect(busy.body).toMatchObject({ kind: "Status", reason: "TooManyRequests", code: 429 });
    const broken = await client.request("GET", "/a");
    expect(broken).toMatchObject({ code: 500, body: { kind: "Status", reason: "InternalError" } });
    expect(seen).toEqual([]);
  });

  it("CORE-448 truncates an answer in the middle of a line", async () => {
    proxy.add({ fault: { kind: "truncate", lines: 0 }, path: "/a" });
    await expect(client.request("GET", "/a")).rejects.toThrow("aborted");

    proxy.add({ fault: { kind: "truncate", lines: 2 }, watch: true });
    const watch = openWatch();
    await until(() => watches.length === 1);
    watches[0]!.write('{"n":1}\n{"n":2}\n');
    await until(() => watch.lines.length === 2);
    watches[0]!.write('{"n":3}\n');
    expect(await watch.failed).toBe("ECONNRESET");
    expect(watch.lines).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe("open requests", () => {
  it("CORE-448 cuts the watches of a path", async () => {
    const pods = openWatch("/watch/pods?watch=true");
    const nodes = openWatch("/watch/nodes?watch=true");
    await until(() => watches.length === 2);
    expect(proxy.cut({ path: "/watch/pods" })).toBe(1);
    expect(await pods.failed).toBe("ECONNRESET");
    expect(proxy.running()).toBe(1);
    nodes.close();
  });

  it("CORE-448 freezes a watch: it stays open, and events do not come", async () => {
    const watch = openWatch();
    await until(() => watches.length === 1);
    watches[0]!.write('{"n":1}\n');
    await until(() => watch.lines.length === 1);
    expect(proxy.freeze({ watch: true })).toBe(1);
    watches[0]!.write('{"n":2}\n');
    watches[0]!.end();
    await sleep(150);
    expect(watch.lines).toHaveLength(1);
    expect(proxy.running()).toBe(1);
    watch.close();
  });
});

describe("outage", () => {
  it("refuses connections while it is down, and serves the same address afterwards", async () => {
    const watch = openWatch();
    await until(() => watches.length === 1);
    await proxy.down();
    expect(await watch.failed).toBe("ECONNRESET");
    await expect(client.request("GET", "/a")).rejects.toThrow("ECONNREFUSED");
    await proxy.up();
    await client.ok("GET", "/a");
  });
});

it("breaks the client's connection when the server speaks no TLS", async () => {
  const plain = createServer();
  await new Promise<void>((resolve) => void plain.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const broken = await startFaultProxy({ upstream: { ...upstream, url } });
  const other = testClient(await broken.kubeconfig());
  await expect(other.request("GET", "/a")).rejects.toThrow(/socket hang up|ECONNRESET/);
  other.close();
  await broken.stop();
  plain.close();
});
