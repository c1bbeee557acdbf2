import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@quartet/core";
import { type FakeClock, fakeClock } from "@quartet/core/testkit";
import {
  ALL_PERMISSIONS,
  type CloudflareDouble,
  createCloudflareDouble,
  DEFAULT_TOKEN,
} from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApi } from "./api.ts";
import { createBudget } from "./budget.ts";
import { type ApiClient, createApiClient, endpointOf } from "./client.ts";
import type { ApiCredentials } from "./credentials.ts";
import { ApiError, classOf } from "./errors.ts";
import { createExchange } from "./exchange.ts";
import { retryAfterMs } from "./retry-after.ts";

const ACCOUNT = "test-account-id";
const ZONE = "test-zone-id";
const SECRET = Buffer.alloc(32, 7).toString("base64");

let double: CloudflareDouble;
beforeEach(async () => {
  double = await createCloudflareDouble();
});
afterEach(() => double.close());

function client(
  credentials: ApiCredentials = { type: "token", token: DEFAULT_TOKEN },
  baseUrl = double.url,
): ApiClient {
  const budget = createBudget(1000, systemClock);
  const exchange = createExchange();
  return createApiClient({
    baseUrl,
    credentials,
    budget,
    exchange,
    clock: systemClock,
    version: "0",
    timeoutMs: 2000,
  });
}

async function failure(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`expected an ApiError, got ${error}`);
}

const methods = (): string[] => double.requests.map(({ method, path }) => `${method} ${path}`);

describe("TUN-1119 the typed calls against the API", () => {
  it("TUN-203 TUN-206 creates a tunnel, gives its token, refuses a second one of its name", async () => {
    const api = createApi(client());
    const { id } = await api.createTunnel(ACCOUNT, "main", SECRET);
    const token = JSON.parse(Buffer.from(await api.tunnelToken(ACCOUNT, id), "base64").toString("utf8"));
    expect(token).toEqual({ a: ACCOUNT, t: id, s: SECRET });
    expect((await api.tunnelsNamed(ACCOUNT, "main")).map((tunnel) => tunnel.id)).toEqual([id]);
    const again = await failure(api.createTunnel(ACCOUNT, "main", SECRET));
    expect([again.status, again.is(1013), again.class]).toEqual([409, true, "conflict"]);
  });

  it("TUN-219 TUN-221 a connected tunnel is not deleted; one that is gone is no error", async () => {
    const api = createApi(client());
    const { id } = await api.createTunnel(ACCOUNT, "main", SECRET);
    await fetch(`${double.origin}/admin/tunnels/${id}/status`, {
      method: "POST",
      body: '{"status":"healthy"}',
    });
    expect((await failure(api.deleteTunnel(ACCOUNT, id))).is(1022)).toBe(true);
    await api.dropConnections(ACCOUNT, id);
    await api.deleteTunnel(ACCOUNT, id);
    await api.deleteTunnel(ACCOUNT, id);
    expect(await api.tunnel(ACCOUNT, id)).toBeUndefined();
    expect(await api.tunnelsNamed(ACCOUNT, "main")).toEqual([]);
  });

  it("TUN-1111 TUN-1112 TUN-1113 a configuration counts its versions, and is checked as cloudflared does", async () => {
    const api = createApi(client());
    const { id } = await api.createTunnel(ACCOUNT, "main", SECRET);
    expect(await api.configuration(ACCOUNT, id)).toMatchObject({ version: 0, config: null });
    const config = { ingress: [{ service: "http_status:404" }], future: 1 };
    expect(await api.putConfiguration(ACCOUNT, id, config)).toMatchObject({ version: 1, config });
    expect(await api.putConfiguration(ACCOUNT, id, config)).toMatchObject({
      version: 2,
      source: "cloudflare",
    });
    const bad = await failure(api.putConfiguration(ACCOUNT, id, { ingress: [] }));
    expect([bad.class, bad.message]).toEqual([
      "validation",
      expect.stringContaining("Bad Configuration: Validation failed:"),
    ]);
    const text = { ...config, originRequest: { connectTimeout: "30s" } };
    expect((await failure(api.putConfiguration(ACCOUNT, id, text))).message).toContain("connectTimeout");
    expect((await api.configuration(ACCOUNT, id)).version).toBe(2);
  });

  it("TUN-1103 reads every page of a list", async () => {
    const api = createApi(client());
    const zone = double.state.zones.get(ZONE)!;
    for (let index = 0; index < 1001; index += 1) {
      const name = `h${index}.example.com`;
      zone.records.set(name, { id: name, name, type: "A", content: "192.0.2.1", comment: null, tags: [] });
    }
    expect(await api.records(ZONE)).toHaveLength(1001);
    expect(methods()).toHaveLength(2);
  });

  it("TUN-1114 TUN-1115 records: filters, and the codes of what cannot be", async () => {
    const api = createApi(client());
    const record = (type: string, content: string, more = {}) => ({
      name: "a.example.com",
      type,
      content,
      ...more,
    });
    const { id } = await api.createRecord(ZONE, record("A", "192.0.2.1", { comment: "x" }));
    const codes = async (work: Promise<unknown>): Promise<readonly number[]> => (await failure(work)).codes;
    expect(await codes(api.createRecord(ZONE, record("A", "192.0.2.1")))).toContain(81058);
    expect(await codes(api.createRecord(ZONE, record("CNAME", "b.example.com")))).toContain(81053);
    expect(await codes(api.createRecord(ZONE, record("TXT", "t", { proxied: true })))).toContain(1004);
    expect(await codes(api.createRecord(ZONE, record("TXT", "t", { comment: "x".repeat(101) })))).toContain(
      9313,
    );
    expect(await codes(api.createRecord(ZONE, record("A", "no address")))).toContain(1004);
    await api.createRecord(ZONE, record("A", "192.0.2.2"));
    expect(
      await api.records(ZONE, { name: "A.example.com", type: "A", "comment.contains": "X" }),
    ).toMatchObject([{ id }]);
    await api.deleteRecord(ZONE, id);
    expect(await api.record(ZONE, id)).toBeUndefined();
  });
});

describe("who calls", () => {
  it("TUN-105 TUN-1102 signs with the token, or with key and e-mail", async () => {
    double.users.keys.set("a@example.com", "k3y");
    const keyed = createApi(client({ type: "key", key: "k3y", email: "a@example.com" }));
    expect((await keyed.account(ACCOUNT)).name).toBe("Test Account");
    const unknown = await failure(createApi(client({ type: "token", token: "unknown" })).account(ACCOUNT));
    expect([unknown.status, unknown.class]).toEqual([401, "auth"]);
  });

  it("TUN-115 names the right that the token lacks", async () => {
    const permissions = ALL_PERMISSIONS.filter((permission) => permission !== "dns:edit");
    double.users.tokens.set("weak", { name: "weak", permissions });
    const error = await failure(createApi(client({ type: "token", token: "weak" })).records(ZONE));
    expect([error.class, error.permission]).toEqual(["auth", "Zone · DNS · Edit"]);
    expect(error.message).toContain('the token needs "Zone · DNS · Edit"');
  });

  it("TUN-005 a server that echoes the token does not bring it into an error", async () => {
    const message = `bad token ${DEFAULT_TOKEN} `.repeat(100);
    double.faults.add({ path: /accounts/, status: 400, code: 1, message });
    const error = await failure(createApi(client()).account(ACCOUNT));
    expect(error.message).toContain("bad token <secret>");
    expect(error.message).not.toContain(DEFAULT_TOKEN);
    expect(error.message.length).toBeLessThanOrEqual(512);
  });
});

describe("faults", () => {
  it("TUN-1005 repeats what may be repeated, never a creation", async () => {
    const api = createApi(client());
    double.faults.add({ path: /zones/, method: /GET/, status: 502, raw: "<html>", times: 2 });
    expect(await api.zonesNamed("example.com")).toHaveLength(1);
    expect(methods()).toHaveLength(3);
    double.faults.add({ path: /cfd_tunnel/, method: /POST/, cut: true, afterwards: true, times: 1 });
    const error = await failure(api.createTunnel(ACCOUNT, "main", SECRET));
    expect([error.status, error.class]).toEqual([0, "transient"]);
    expect(methods().filter((call) => call.startsWith("POST"))).toHaveLength(1);
    expect(await api.tunnelsNamed(ACCOUNT, "main")).toHaveLength(1);
  });

  it("TUN-1005 repeats nothing while the API is down, and again once it has answered", async () => {
    const api = createApi(client());
    const calls = async (act: () => Promise<unknown>): Promise<number> => {
      const before = methods().length;
      await act().catch(() => {});
      return methods().length - before;
    };
    double.faults.add({ path: /zones/, method: /GET/, status: 502 });
    const list = () => api.zonesNamed("example.com");
    expect([await calls(list), await calls(list), await calls(list)]).toEqual([3, 1, 1]);
    double.faults.clear();
    double.faults.add({ path: /zones/, method: /GET/, status: 404, times: 1 });
    expect(await calls(list)).toBe(1);
    double.faults.add({ path: /zones/, method: /GET/, status: 502, times: 1 });
    expect(await calls(list)).toBe(2);
  });

  it("TUN-1006 an answer that is no envelope, and one that says no with 200, are errors", async () => {
    const api = createApi(client());
    double.faults.add({
      path: /accounts/,
      status: 200,
      raw: '{"success":false,"errors":[{"code":7,"message":"no"}]}',
      times: 1,
    });
    expect(await failure(api.account(ACCOUNT))).toMatchObject({ codes: [7], class: "validation" });
    double.faults.add({ path: /accounts/, status: 200, raw: "<html>welcome</html>" });
    expect((await failure(api.account(ACCOUNT))).class).toBe("transient");
  });

  it("TUN-1005 an answer that never comes ends in time", async () => {
    double.faults.add({ path: /zones/, hang: true });
    const error = await failure(client().call({ method: "POST", path: "/zones", body: {} }));
    expect(error.message).toContain("no answer within 2 s");
  });

  it("TUN-1006 an endless answer is cut off", async () => {
    const server: Server = createServer((_, response) => {
      const write = (): void =>
        void (response.write("x".repeat(1 << 20)) ? setImmediate(write) : response.once("drain", write));
      write();
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const { port } = server.address() as AddressInfo;
    const error = await failure(
      client(undefined, `http://127.0.0.1:${port}`).call({ method: "POST", path: "/x", body: 1 }),
    );
    expect(error.message).toContain("answer longer than");
    server.closeAllConnections();
    server.close();
  });

  it("TUN-1004 one refused as too many waits as it was told, and goes out again", async () => {
    double.faults.add({ path: /zones/, status: 429, headers: { "retry-after": "1" }, times: 1 });
    await createApi(client()).zonesNamed("example.com");
    const [first, second] = double.requests;
    expect(second!.time - first!.time).toBeGreaterThanOrEqual(990);
  });

  it("TUN-1104 the limit of the server ends in a refusal that says how long", async () => {
    await double.close();
    double = await createCloudflareDouble({ limit: { calls: 2, windowMs: 300_000 } });
    const api = createApi(client());
    await api.account(ACCOUNT);
    await api.account(ACCOUNT);
    const error = await failure(api.account(ACCOUNT));
    expect(error.class).toBe("rate-limited");
    expect(error.retryAfterMs).toBeGreaterThan(200_000);
    expect(methods()).toHaveLength(3);
  });
});

describe("the budget", () => {
  let clock: FakeClock;
  beforeEach(() => {
    clock = fakeClock();
  });

  const passed = async (work: Promise<void>): Promise<boolean> => {
    let done = false;
    work.then(
      () => {
        done = true;
      },
      () => {},
    );
    await new Promise((resolve) => setImmediate(resolve));
    return done;
  };

  it("TUN-1002 lets through as many as the window holds, the most urgent first", async () => {
    const budget = createBudget(2, clock);
    await budget.take("read");
    await budget.take("read");
    expect(budget.remaining()).toBe(0);
    const order: string[] = [];
    const waiting = (["check", "read", "config"] as const).map((priority) =>
      budget.take(priority).then(() => order.push(priority)),
    );
    await clock.advance(299_000);
    expect(order).toEqual([]);
    await clock.advance(1_001);
    expect(order).toEqual(["config", "read"]);
    await clock.advance(300_001);
    await Promise.all(waiting);
    expect(order).toEqual(["config", "read", "check"]);
  });

  it("TUN-1002 sends no more than 40 within a second", async () => {
    const budget = createBudget(1000, clock);
    for (let index = 0; index < 40; index += 1) await budget.take("read");
    const next = budget.take("read");
    expect(await passed(next)).toBe(false);
    await clock.advance(1_001);
    expect(await passed(next)).toBe(true);
  });

  it("TUN-1004 is silent after a refusal, longer with each that names no time", async () => {
    const budget = createBudget(1000, clock);
    budget.refused(undefined);
    expect(budget.pausedMs()).toBe(60_000);
    const next = budget.take("config");
    expect(await passed(next)).toBe(false);
    await clock.advance(60_001);
    expect(await passed(next)).toBe(true);
    budget.refused(undefined);
    expect(budget.pausedMs()).toBe(120_000);
  });

  it("TUN-1002 a call that is given up leaves the queue", async () => {
    const budget = createBudget(1, clock);
    await budget.take("read");
    const given = new AbortController();
    const work = budget.take("read", given.signal);
    given.abort(new Error("stop"));
    await expect(work).rejects.toThrow("stop");
    const next = budget.take("read");
    await clock.advance(300_001);
    expect(await passed(next)).toBe(true);
  });
});

describe("pure parts", () => {
  it("TUN-1011 Retry-After is seconds or a date; a past one is no wait", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfterMs("3", now)).toBe(3000);
    expect(retryAfterMs("Thu, 01 Jan 2026 00:00:10 GMT", now)).toBe(10_000);
    expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
    expect(retryAfterMs("100000", now)).toBe(900_000);
    expect(retryAfterMs("soon", now)).toBeUndefined();
  });

  it("TUN-1001 classes follow status and code, not words", () => {
    expect(classOf(400, [9313])).toBe("validation");
    expect(classOf(400, [81053])).toBe("conflict");
    expect(classOf(400, [81044])).toBe("not-found");
    expect(classOf(400, [6003])).toBe("auth");
    expect(classOf(500, [10006])).toBe("transient");
    expect(classOf(403, [])).toBe("auth");
  });

  it("TUN-1008 endpoints of metrics hold no identifiers", () => {
    expect(endpointOf("/accounts/x/cfd_tunnel/y/configurations")).toBe(
      "/accounts/:id/cfd_tunnel/:id/configurations",
    );
  });
});
