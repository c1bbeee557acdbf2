import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import type { Duplex } from "node:stream";
import { expect, it, onTestFinished, vi } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { ConfigurationError } from "./errors.ts";
import { proxyFor } from "./proxy.ts";
import {
  answer,
  CONFIG_MAP,
  clientOf,
  connectionTo,
  object,
  startServer,
  type TestServer,
} from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const API = new URL("https://api.example.com:6443");

/** A CONNECT proxy that leads every tunnel to the test server. */
async function startProxy(target: TestServer, refuse = 0) {
  const connects: { authority: string; authorization: string | undefined }[] = [];
  const proxy = createServer();
  proxy.on("connect", (request: IncomingMessage, client: Duplex) => {
    connects.push({ authority: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (refuse > 0) return void client.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
    const upstream = connect(target.port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    for (const side of [client, upstream]) side.on("error", () => side.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void proxy.close());
  return { url: new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`), connects };
}

it.each([false, true])("CORE-116 tunnels to the server through the proxy, http server: %s", async (http) => {
  const server = await startServer(
    (request, response) => {
      if (request.query.has("watch")) response.end(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
      else answer(response, 200, object(CONFIG_MAP, "a"));
    },
    { http },
  );
  const { url, connects } = await startProxy(server);
  url.username = "me";
  url.password = "p%40ss";
  const client = clientOf(server, { connection: connectionTo(server, { proxy: url }) });
  for (let i = 0; i < 3; i++) await client.get(CONFIG_MAP, KEY);
  for await (const { type } of client.watch(CONFIG_MAP, {})) expect(type).toBe("ADDED");
  const authorization = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  expect(connects).toEqual([
    { authority: `127.0.0.1:${server.port}`, authorization },
    { authority: `127.0.0.1:${server.port}`, authorization },
  ]);
  expect(server.requests).toHaveLength(4);
  expect(server.requests.every(({ headers }) => headers["proxy-authorization"] === undefined)).toBe(true);
});

it("CORE-116 verifies the server behind the proxy by the server's own name", async () => {
  const answers = (): void => {};
  const server = await startServer(answers, { names: ["api.example.com"] });
  const { url } = await startProxy(server);
  const wrong = new URL("https://elsewhere.example.com:6443");
  const client = clientOf(server, { connection: connectionTo(server, { proxy: url, server: wrong }) });
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

it("CORE-116 reaches a server that only the proxy can resolve", async () => {
  const server = await startServer((_, response) => answer(response, 200, object(CONFIG_MAP, "a")), {
    names: ["api.example.com"],
  });
  const { url, connects } = await startProxy(server);
  const client = clientOf(server, { connection: connectionTo(server, { proxy: url, server: API }) });
  await client.get(CONFIG_MAP, KEY);
  expect(connects.map(({ authority }) => authority)).toEqual(["api.example.com:6443"]);
});

it("CORE-116 names the proxy that refuses, without its password", async () => {
  const server = await startServer(() => {});
  const { url } = await startProxy(server, 407);
  url.password = "hidden";
  url.username = "me";
  const client = clientOf(server, { connection: connectionTo(server, { proxy: url }) });
  const error = await client.get(CONFIG_MAP, KEY).catch((caught: unknown) => caught as Error);
  expect(error).toMatchObject({ name: "ConnectionError", code: "EPROXY" });
  expect((error as Error).message).toContain(`proxy ${url.host} refused CONNECT`);
  expect((error as Error).message).not.toContain("hidden");
});

it("CORE-109 counts the proxy's part in the limit of 10 s", async () => {
  const silent = createTcpServer((socket) => socket.on("error", () => {}));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void silent.close());
  const accepted = once(silent, "connection");
  const server = await startServer(() => {});
  const clock = fakeClock();
  const proxy = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const client = clientOf(server, { connection: connectionTo(server, { proxy }), clock });
  const outcome = vi.fn();
  const settled = client.get(CONFIG_MAP, KEY).catch(outcome);
  await accepted;
  await clock.advance(9_999);
  expect(outcome).not.toHaveBeenCalled();
  await clock.advance(1);
  await settled;
  expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: "ETIMEDOUT" }));
});

it("CORE-116 prefers proxy-url, which holds for loopback servers too", () => {
  const env = { HTTPS_PROXY: "http://from-env:3128", NO_PROXY: "*" };
  expect(proxyFor(API, "https://from-config:3128", env)?.host).toBe("from-config:3128");
  expect(proxyFor(new URL("https://127.0.0.1:1"), "http://from-config", {})?.host).toBe("from-config");
});

it.each([
  ["HTTPS_PROXY", "http://p:1", "p:1"],
  ["https_proxy", "http://p:1", "p:1"],
  ["HTTPS_PROXY", "p:1", "p:1"],
  ["HTTP_PROXY", "http://p:1", undefined],
])("CORE-116 reads %s=%s", (name, value, host) => {
  expect(proxyFor(API, undefined, { [name]: value })?.host).toBe(host);
});

it.each(["https://127.0.0.1:6443", "https://localhost", "https://[::1]:6443", "http://api.example.com"])(
  "CORE-116 goes to %s directly, whatever the environment says",
  (server) => {
    expect(proxyFor(new URL(server), undefined, { HTTPS_PROXY: "http://p:1" })).toBeUndefined();
  },
);

it.each([
  ["*", "https://api.example.com", true],
  ["example.com", "https://api.example.com", true],
  ["example.com", "https://example.com", true],
  [".example.com", "https://api.example.com", true],
  [".example.com", "https://example.com", false],
  ["*.example.com", "https://api.example.com", true],
  ["ample.com", "https://api.example.com", false],
  ["a.test, EXAMPLE.com ,b.test", "https://api.example.com", true],
  ["example.com:6443", "https://api.example.com:6443", true],
  ["example.com:443", "https://api.example.com", true],
  ["example.com:6443", "https://api.example.com", false],
  ["10.0.0.1", "https://10.0.0.1:6443", true],
  ["10.0.0.1:443", "https://10.0.0.1:6443", false],
  ["10.0.0.0/8", "https://10.1.2.3", true],
  ["10.0.0.0/8", "https://11.1.2.3", false],
  ["fd00::/8", "https://[fd00::1]:6443", true],
  ["fd00::1", "https://[fd00::1]:6443", true],
  ["10.0.0.0/x", "https://10.1.2.3", false],
  ["", "https://api.example.com", false],
])("CORE-116 NO_PROXY=%s spares %s: %s", (noProxy, server, spared) => {
  const proxy = proxyFor(new URL(server), undefined, { HTTPS_PROXY: "http://p:1", NO_PROXY: noProxy });
  expect(proxy === undefined).toBe(spared);
});

it.each([
  ["socks5://p:1080", "proxy-url: socks proxy not supported"],
  ["socks://p", "socks proxy not supported"],
  ["ftp://p", "not supported; use http or https"],
  ["http://", "not a URL"],
])("CORE-116 refuses the proxy %s", (url, message) => {
  expect(() => proxyFor(API, url, {})).toThrow(ConfigurationError);
  expect(() => proxyFor(API, url, {})).toThrow(message);
});
