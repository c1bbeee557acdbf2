import { once } from "node:events";
import type { Agent } from "node:http";
import { type AddressInfo, createServer, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { fakeClock } from "../testkit/fake-clock.ts";
import { createPools, MAX_REQUEST_SOCKETS } from "./agents.ts";
import { ConnectionError } from "./errors.ts";
import {
  answer,
  CONFIG_MAP,
  clientOf,
  connectionTo,
  type Handler,
  LEASE,
  object,
  serve,
  startServer,
} from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const ok: Handler = (_, response) => answer(response, 200, object(CONFIG_MAP, "a"));
/** Never answers paths that end in `/hang`. */
const hangs: Handler = (request, response) => {
  if (!request.path.endsWith("/hang")) ok(request, response);
};
const until = (condition: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 5_000, interval: 5 });

it("CORE-106 sends 50 GETs in a row over one TLS connection", async () => {
  const { server, client } = await serve(ok);
  for (let i = 0; i < 50; i++) await client.get(CONFIG_MAP, KEY);
  expect(server.requests).toHaveLength(50);
  expect(server.opened()).toBe(1);
});

it("CORE-106 opens no more than its limit of request sockets", async () => {
  let most = 0;
  const { server, client } = await serve((request, response) => {
    most = Math.max(most, server.open());
    setTimeout(() => ok(request, response), 20);
  });
  await Promise.all(Array.from({ length: 200 }, () => client.get(CONFIG_MAP, KEY)));
  expect(server.requests).toHaveLength(200);
  expect(most).toBe(MAX_REQUEST_SOCKETS);
  expect(server.opened()).toBe(MAX_REQUEST_SOCKETS);
});

it("CORE-106 requests of one controller that hang, however many, take no socket of another's", async () => {
  const { server, client } = await serve((request, response) =>
    request.headers["user-agent"]?.endsWith(" slow") ? undefined : ok(request, response),
  );
  const stop = new AbortController();
  const slow = client.forController("slow");
  const hanging = Array.from({ length: 100 }, () => slow.get(CONFIG_MAP, KEY, { signal: stop.signal }));
  const ended = Promise.allSettled(hanging);
  await until(() => server.requests.length === MAX_REQUEST_SOCKETS);
  await client.forController("other").get(CONFIG_MAP, KEY);
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests).toHaveLength(MAX_REQUEST_SOCKETS + 2);
  stop.abort(new Error("enough"));
  await ended;
});

it("CORE-106 closes idle sockets after the free time, which is 90 s unless set", async () => {
  const server = await startServer(ok);
  const connection = connectionTo(server);
  const { tls } = await connection.credentials();
  const init = { server: connection.server, proxy: undefined, clock: systemClock };
  const byDefault = createPools(init).agent("requests", tls, "") as Agent & { options: { timeout?: number } };
  expect(byDefault.options.timeout).toBe(90_000);

  const pools = createPools({ ...init, freeSocketMs: 50 });
  const { exchange } = await import("./exchange.ts");
  const request = { server: connection.server, method: "GET", path: "/", headers: {}, body: undefined };
  const more = { timeoutMs: undefined, signal: undefined, agent: pools.agent("requests", tls, "") };
  await exchange({ ...request, ...more }, systemClock);
  expect(server.open()).toBe(1);
  await until(() => server.open() === 0);
});

it("CORE-106 sets TCP_NODELAY and keep-alive probes after 30 s on request and watch sockets", async () => {
  const noDelay = vi.spyOn(Socket.prototype, "setNoDelay");
  const keepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
  onTestFinished(() => void vi.restoreAllMocks());
  const { server, client } = await serve((request, response) =>
    request.query.has("watch") ? response.write("\n") : ok(request, response),
  );
  const towardsServer = (contexts: unknown[], wanted: (call: number) => boolean): Set<number | undefined> =>
    new Set(
      contexts
        .filter((socket, call) => (socket as Socket).remotePort === server.port && wanted(call))
        .map((socket) => (socket as Socket).localPort),
    );
  const controller = new AbortController();
  const watching = client.watch(CONFIG_MAP, { signal: controller.signal })[Symbol.asyncIterator]().next();
  await client.get(CONFIG_MAP, KEY);
  await until(() => server.open() === 2);
  const quick = towardsServer(noDelay.mock.contexts, (call) => noDelay.mock.calls[call]?.[0] !== false);
  const probed = towardsServer(keepAlive.mock.contexts, (call) => {
    const [enabled, delayMs] = keepAlive.mock.calls[call] ?? [];
    return enabled === true && delayMs === 30_000;
  });
  expect(quick.size).toBe(2);
  expect(probed).toEqual(quick);
  controller.abort(new Error("seen"));
  await expect(watching).rejects.toThrow("seen");
});

it("CORE-107 gives each watch a socket of its own, which a full request pool cannot delay", async () => {
  const { server, client } = await serve((request, response) => {
    if (request.query.has("watch")) response.write(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
    else hangs(request, response);
  });
  const busy = new AbortController();
  const hanging = Array.from({ length: MAX_REQUEST_SOCKETS + 20 }, () =>
    client.raw("GET", "/hang", undefined, { signal: busy.signal }),
  );
  const ended = Promise.allSettled(hanging);
  await until(() => server.requests.length === MAX_REQUEST_SOCKETS);

  const watches = Array.from({ length: 20 }, () =>
    client.watch(CONFIG_MAP, { signal: busy.signal })[Symbol.asyncIterator](),
  );
  const first = await Promise.all(watches.map((watch) => watch.next()));
  expect(first.map(({ value }) => value?.type)).toEqual(Array.from({ length: 20 }, () => "ADDED"));
  expect(server.open()).toBe(MAX_REQUEST_SOCKETS + 20);
  busy.abort(new Error("enough"));
  await ended;
});

it("CORE-107 lets open watches delay no request", async () => {
  const { server, client } = await serve((request, response) =>
    request.query.has("watch") ? response.write("\n") : ok(request, response),
  );
  const stop = new AbortController();
  const watches = Array.from({ length: 40 }, () =>
    client.watch(CONFIG_MAP, { signal: stop.signal })[Symbol.asyncIterator]().next(),
  );
  const ended = Promise.allSettled(watches);
  await until(() => server.open() === 40);
  await expect(client.get(CONFIG_MAP, KEY)).resolves.toMatchObject({ kind: "ConfigMap" });
  stop.abort(new Error("enough"));
  await ended;
});

it("CORE-108 sends lease traffic through sockets of its own", async () => {
  const { server, client } = await serve((request, response) => {
    if (request.path.includes("/leases/")) answer(response, 200, object(LEASE, "l"));
  });
  const stop = new AbortController();
  const hanging = Array.from({ length: MAX_REQUEST_SOCKETS + 4 }, () =>
    client.get(CONFIG_MAP, KEY, { signal: stop.signal }),
  );
  const ended = Promise.allSettled(hanging);
  await until(() => server.requests.length === MAX_REQUEST_SOCKETS);
  await expect(client.get(LEASE, { namespace: "ns", name: "l" })).resolves.toMatchObject({ kind: "Lease" });
  await expect(client.update(LEASE, object(LEASE, "l", { resourceVersion: "1" }))).resolves.toBeDefined();
  stop.abort(new Error("enough"));
  await ended;
});

it("CORE-108 gives up on a lease request after 5 s", async () => {
  const clock = fakeClock();
  const { server, client } = await serve(() => {}, { clock });
  const renewal = client.update(LEASE, object(LEASE, "l", { resourceVersion: "1" }));
  const outcome = vi.fn();
  const settled = renewal.then(outcome, outcome);
  await until(() => server.requests.length === 1);
  await clock.advance(4_999);
  expect(outcome).not.toHaveBeenCalled();
  await clock.advance(1);
  await settled;
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: "ETIMEDOUT" }));
});

it("CORE-109 gives up on connecting when TLS is not up after 10 s", async () => {
  const silent = createServer(() => {});
  await once(silent.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void silent.close());
  const accepted = once(silent, "connection");
  const clock = fakeClock();
  const server = await startServer(ok);
  const url = new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const client = clientOf(server, { connection: connectionTo(server, { server: url }), clock });
  const outcome = vi.fn();
  const settled = client.get(CONFIG_MAP, KEY).then(outcome, outcome);
  const [socket] = (await accepted) as [Socket];
  socket.on("error", () => {});
  await clock.advance(9_999);
  expect(outcome).not.toHaveBeenCalled();
  await clock.advance(1);
  await settled;
  const error = outcome.mock.calls[0]?.[0] as ConnectionError;
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.code).toBe("ETIMEDOUT");
  expect(error.message).toContain("no connection within 10 s");
});

it("CORE-109 gives up on a request whose answer is not complete after 60 s, and closes its socket", async () => {
  const clock = fakeClock();
  const { server, client } = await serve((_, response) => response.write('{"half":'), { clock });
  const outcome = vi.fn();
  const settled = client.get(CONFIG_MAP, KEY).then(outcome, outcome);
  await until(() => server.requests.length === 1);
  await clock.advance(59_999);
  expect(outcome).not.toHaveBeenCalled();
  await clock.advance(1);
  await settled;
  expect(outcome).toHaveBeenCalledWith(
    expect.objectContaining({ name: "ConnectionError", code: "ETIMEDOUT" }),
  );
  await until(() => server.open() === 0);
});

it("CORE-109 takes a limit of the caller's own", async () => {
  const { client } = await serve(() => {});
  await expect(client.get(CONFIG_MAP, KEY, { timeoutMs: 30 })).rejects.toThrow(
    "GET /api/v1/namespaces/ns/configmaps/a: no complete answer within 0.03 s",
  );
});

it.each([
  ["a request without an answer", () => {}],
  ["an answer that has begun", (_, response) => void response.write('{"half":')],
] satisfies [string, Handler][])("CORE-109 abort of %s closes the socket within 1 s", async (_, handler) => {
  const { server, client } = await serve(handler);
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const request = client.get(CONFIG_MAP, KEY, { signal: stop.signal });
  const refused = expect(request).rejects.toBe(reason);
  await until(() => server.requests.length === 1);
  await delay(20);
  stop.abort(reason);
  await refused;
  await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 1_000, interval: 5 });
});

it("CORE-109 abort ends a watch before its first byte, and one that runs", async () => {
  const { server, client } = await serve((request, response) => {
    if (request.query.get("labelSelector") === "silent") return;
    response.write(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
  });
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const options = { signal: stop.signal };
  const silent = client.watch(CONFIG_MAP, { ...options, labelSelector: "silent" })[Symbol.asyncIterator]();
  const running = client.watch(CONFIG_MAP, options)[Symbol.asyncIterator]();
  const first = expect(silent.next()).rejects.toBe(reason);
  await running.next();
  const second = expect(running.next()).rejects.toBe(reason);
  await until(() => server.open() === 2);
  stop.abort(reason);
  await Promise.all([first, second]);
  await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 1_000, interval: 5 });
});

it("an aborted signal keeps a request from being sent", async () => {
  const { server, client } = await serve(ok);
  const signal = AbortSignal.abort(new Error("too late"));
  await expect(client.get(CONFIG_MAP, KEY, { signal })).rejects.toThrow("too late");
  expect(server.requests).toHaveLength(0);
});

it("many requests may share one signal without a warning of leaked listeners", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { client } = await serve(ok);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 60 }, () => client.get(CONFIG_MAP, KEY, { signal })));
  await delay(10);
  expect(warned).not.toHaveBeenCalled();
});

it("leaving a watch closes its socket", async () => {
  const { server, client } = await serve((_, response) => {
    response.write(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
  });
  for await (const _ of client.watch(CONFIG_MAP, {})) break;
  await until(() => server.open() === 0);
});

it("close rejects running requests, waiting ones included, and closes all sockets", async () => {
  const { server, client } = await serve((request, response) => {
    if (request.path === "/throttled") answer(response, 429, {}, { "retry-after": "20" });
  });
  const requests = [client.get(CONFIG_MAP, KEY), client.raw("GET", "/throttled")];
  const outcomes = Promise.allSettled(requests);
  await until(() => server.requests.length === 2);
  await delay(20);
  client.close();
  const reasons = (await outcomes).map((outcome) => String((outcome as PromiseRejectedResult).reason));
  expect(reasons).toEqual(["Error: the client is closed", "Error: the client is closed"]);
  await until(() => server.open() === 0);
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toThrow("the client is closed");
});

it("an answer that switches to another protocol, unasked, fails the request at once", async () => {
  const { client } = await serve((request) => {
    request.socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n");
  });
  await expect(client.create(CONFIG_MAP, object(CONFIG_MAP, "a"))).rejects.toMatchObject({ code: "EPROTO" });
});
