import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, vi } from "vitest";
import { type FakeClock, fakeClock } from "../testkit/fake-clock.ts";
import { isResourceVersionTooLarge } from "./errors.ts";
import type { ClientObserver, RequestReport } from "./observer.ts";
import {
  answer,
  CONFIG_MAP,
  clientOf,
  connectionTo,
  type Handler,
  object,
  serve,
  startServer,
  status,
  type TestServer,
} from "./testkit.testkit.ts";
import type { Client } from "./types.ts";

const KEY = { namespace: "ns", name: "a" };
const THING = object(CONFIG_MAP, "a", { resourceVersion: "1" });
const ok: Handler = (_, response) => answer(response, 200, THING);

const received = (server: TestServer, count: number): Promise<void> =>
  vi.waitFor(() => expect(server.requests.length).toBe(count), { timeout: 5_000, interval: 2 });

/** Tells when the client waits before a repeat: it reports the repeat and then sleeps at once. */
function repeats(): { observer: ClientObserver; codes: string[]; waiting(count: number): Promise<void> } {
  const codes: string[] = [];
  return {
    codes,
    observer: { onRetry: ({ code }) => void codes.push(code) },
    waiting: (count) => vi.waitFor(() => expect(codes).toHaveLength(count), { timeout: 5_000, interval: 2 }),
  };
}

/** Every verb, by name. */
const VERBS: [string, (client: Client) => Promise<unknown>][] = [
  ["get", (client) => client.get(CONFIG_MAP, KEY)],
  ["list", (client) => client.list(CONFIG_MAP)],
  ["create", (client) => client.create(CONFIG_MAP, object(CONFIG_MAP, "a"))],
  ["update", (client) => client.update(CONFIG_MAP, THING)],
  ["patch", (client) => client.patch(CONFIG_MAP, KEY, { type: "merge", body: {} })],
  ["apply", (client) => client.apply(CONFIG_MAP, THING)],
  ["delete", (client) => client.delete(CONFIG_MAP, KEY)],
];

it.each(VERBS)(
  "CORE-110 repeats a throttled %s after the seconds that the server asked for",
  async (_, send) => {
    const clock = fakeClock();
    const { observer, codes, waiting } = repeats();
    const { server, client } = await serve(
      (request, response) => {
        if (server.requests.length === 1) answer(response, 429, {}, { "retry-after": "3" });
        else if (server.requests.length === 2) answer(response, 503, {}, { "retry-after": "1" });
        else if (request.path.endsWith("/configmaps") && request.method === "GET") {
          answer(response, 200, { kind: "ConfigMapList", apiVersion: "v1", metadata: {}, items: [] });
        } else ok(request, response);
      },
      { clock, observer },
    );
    const sent = send(client);
    await waiting(1);
    await clock.advance(2_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    await waiting(2);
    await clock.advance(1_000);
    await sent;
    expect(server.requests).toHaveLength(3);
    expect(codes).toEqual(["429", "503"]);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  },
);

it("CORE-110 waits at most 30 s and repeats at most 10 times, then hands the answer out", async () => {
  const clock = fakeClock();
  const { observer, waiting } = repeats();
  const { server, client } = await serve(
    (_, response) => answer(response, 503, {}, { "retry-after": "300" }),
    { clock, observer },
  );
  const outcome = client.create(CONFIG_MAP, object(CONFIG_MAP, "a")).catch((error: unknown) => error);
  for (let repeat = 1; repeat <= 10; repeat++) {
    await waiting(repeat);
    await clock.advance(30_000);
  }
  await expect(outcome).resolves.toMatchObject({ code: 503, retryAfterSeconds: 300 });
  expect(server.requests).toHaveLength(11);
});

it.each([
  ["500 without Retry-After", 500, {}],
  ["429 without Retry-After", 429, {}],
  ["409 with Retry-After", 409, { "retry-after": "1" }],
])("CORE-110 hands out a %s at once", async (_, code, headers) => {
  const { server, client } = await serve((_request, response) => answer(response, code, {}, headers));
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ code });
  expect(server.requests).toHaveLength(1);
});

it("hands out a resource version that is ahead of the server at once, so that the caller can read without it", async () => {
  const details = { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 };
  const { server, client } = await serve((_, response) =>
    answer(response, 504, status(504, "Timeout", "Too large resource version", details), {
      "retry-after": "1",
    }),
  );
  const read = client.list(CONFIG_MAP, { resourceVersion: "99" });
  await expect(read).rejects.toSatisfy(isResourceVersionTooLarge);
  await expect(read).rejects.toMatchObject({ retryAfterSeconds: 1 });
  expect(server.requests).toHaveLength(1);
});

it("aborting ends the wait before a repeat", async () => {
  const { server, client } = await serve((_, response) => answer(response, 429, {}, { "retry-after": "20" }));
  const stop = new AbortController();
  const sent = expect(client.get(CONFIG_MAP, KEY, { signal: stop.signal })).rejects.toThrow("enough");
  await received(server, 1);
  stop.abort(new Error("enough"));
  await sent;
});

/** A client whose server refuses connections, with the reports of its attempts. */
async function withoutServer(
  clock: FakeClock,
  more: ClientObserver = {},
): Promise<{ client: Client; attempts: RequestReport[] }> {
  const server = await startServer(ok);
  const gone = createServer();
  await once(gone.listen(0, "127.0.0.1"), "listening");
  const url = new URL(`https://127.0.0.1:${(gone.address() as AddressInfo).port}`);
  await new Promise((resolve) => gone.close(resolve));
  const attempts: RequestReport[] = [];
  const connection = connectionTo(server, { server: url });
  const observer = { ...more, onRequest: (report: RequestReport) => void attempts.push(report) };
  return { client: clientOf(server, { connection, clock, observer }), attempts };
}

it.each(VERBS.slice(0, 2))("CORE-111 repeats a refused %s after 1 s, at most 10 times", async (_, send) => {
  const clock = fakeClock();
  const { observer, waiting } = repeats();
  const { client, attempts } = await withoutServer(clock, observer);
  const outcome = send(client).catch((error: unknown) => error);
  for (let repeat = 1; repeat <= 10; repeat++) {
    await waiting(repeat);
    await clock.advance(999);
    expect(attempts).toHaveLength(repeat);
    await clock.advance(1);
  }
  await expect(outcome).resolves.toMatchObject({ name: "ConnectionError", code: "ECONNREFUSED" });
  expect(attempts).toHaveLength(11);
  expect(attempts[0]).toMatchObject({ code: "<error>", responseBytes: 0 });
});

it.each(VERBS.slice(2))("CORE-111 hands a refused %s to the caller at once", async (_, send) => {
  const { client, attempts } = await withoutServer(fakeClock());
  await expect(send(client)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(attempts).toHaveLength(1);
});

/** Answers one GET per connection and resets the connection on the next request. */
function closesIdleSockets(): Handler {
  const used = new WeakSet<object>();
  return (request, response) => {
    if (used.has(request.socket)) return void request.socket.destroy();
    used.add(request.socket);
    ok(request, response);
  };
}

const afterIdle = async (
  send: (client: Client) => Promise<unknown>,
): Promise<{ sent: number; outcome: unknown }> => {
  const { server, client } = await serve(closesIdleSockets());
  await client.get(CONFIG_MAP, KEY);
  const outcome = await send(client).catch((error: unknown) => error);
  return { sent: server.requests.length - 1, outcome };
};

it.each(VERBS.filter(([name]) => ["get", "update", "apply", "delete"].includes(name)))(
  "CORE-111 repeats a %s once when a reused idle socket was reset",
  async (_, send) => {
    const { sent, outcome } = await afterIdle(send);
    expect(outcome).not.toBeInstanceOf(Error);
    expect(sent).toBe(2);
  },
);

it.each([
  ...VERBS.filter(([name]) => ["create", "patch"].includes(name)),
  [
    "update without resource version",
    (client: Client) => client.update(CONFIG_MAP, object(CONFIG_MAP, "a"), { force: true }),
  ] as (typeof VERBS)[number],
])("CORE-111 never repeats a %s whose connection was reset", async (_, send) => {
  const { sent, outcome } = await afterIdle(send);
  expect(outcome).toMatchObject({ name: "ConnectionError", code: "ECONNRESET" });
  expect(sent).toBe(1);
});

it.each(VERBS.filter(([name]) => ["update", "apply", "delete"].includes(name)))(
  "CORE-111 hands out the reset of a new socket to a %s",
  async (_, send) => {
    const { server, client } = await serve((request) => void request.socket.destroy());
    await expect(send(client)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(server.requests).toHaveLength(1);
  },
);

it("CORE-111 repeats a GET whose answer broke off", async () => {
  const clock = fakeClock();
  const { observer, waiting } = repeats();
  const { server, client } = await serve(
    (request, response) => {
      if (server.requests.length > 1) return ok(request, response);
      response.write('{"half":');
      setTimeout(() => request.socket.destroy(), 5);
    },
    { clock, observer },
  );
  const sent = client.get(CONFIG_MAP, KEY);
  await waiting(1);
  await clock.advance(1_000);
  await expect(sent).resolves.toEqual(THING);
});
