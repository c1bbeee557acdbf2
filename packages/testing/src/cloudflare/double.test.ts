import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CloudflareDouble, createCloudflareDouble, DEFAULT_TOKEN } from "./double.ts";

let double: CloudflareDouble;
beforeEach(async () => {
  double = await createCloudflareDouble();
});
afterEach(() => double.close());

interface Reply {
  status: number;
  code: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint
  result: any;
}

async function call(method: string, path: string, body?: unknown): Promise<Reply> {
  const headers = { authorization: `Bearer ${DEFAULT_TOKEN}`, "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await fetch(double.url + path, init);
  const envelope = (await answer.json()) as { errors: { code: number }[]; result: unknown };
  return { status: answer.status, code: envelope.errors[0]?.code, result: envelope.result };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every path
async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return (await fetch(double.origin + path, init)).json();
}

const account = (path: string) => `/accounts/test-account-id${path}`;

describe("the Cloudflare double", () => {
  it("TUN-1102 TUN-1105 refuses callers without a token, unknown ones, unknown paths and methods", async () => {
    const plain = await fetch(`${double.url}/zones`);
    expect([plain.status, ((await plain.json()) as { errors: { code: number }[] }).errors[0]?.code]).toEqual([
      400, 6003,
    ]);
    const unknown = await fetch(`${double.url}/zones`, { headers: { authorization: "Bearer x" } });
    expect(unknown.status).toBe(401);
    expect(await call("GET", "/accounts/nobody")).toMatchObject({ status: 404, code: 7003 });
    expect(await call("GET", "/zones/none/dns_records")).toMatchObject({ status: 404, code: 7003 });
    expect((await call("PUT", "/zones")).status).toBe(405);
  });

  it("TUN-1101 TUN-1106 TUN-1118 answers in envelopes, with the identifiers and times of the API, from one account and two zones", async () => {
    const headers = { authorization: `Bearer ${DEFAULT_TOKEN}` };
    const whole = async (path: string) =>
      (await (await fetch(double.url + path, { headers })).json()) as Record<string, unknown>;
    const zones = await whole("/zones?per_page=1");
    expect(zones).toEqual({
      success: true,
      errors: [],
      messages: [],
      result: [expect.objectContaining({ id: "test-zone-id", name: "example.com", status: "active" })],
      result_info: { page: 1, per_page: 1, count: 1, total_count: 2, total_pages: 2 },
    });
    expect(await whole("/accounts/test-account-id")).toMatchObject({
      success: true,
      result: { id: "test-account-id", name: "Test Account" },
    });
    expect(await whole("/accounts/test-account-id")).not.toHaveProperty("result_info");
    expect(await whole("/zones/none")).toMatchObject({
      success: false,
      errors: [{ code: 7003, message: expect.stringContaining("/zones/none") }],
      result: null,
    });
    const { result: tunnel } = await call("POST", account("/cfd_tunnel"), { name: "t" });
    const record = { type: "A", name: "a.example.com", content: "192.0.2.1" };
    const { result: made } = await call("POST", "/zones/test-zone-id/dns_records", record);
    expect(tunnel.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(made.id).toMatch(/^[0-9a-f]{32}$/);
    for (const time of [tunnel.created_at, made.created_on])
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    const networks = await call("GET", account("/teamnet/virtual_networks"));
    expect(networks.result).toMatchObject([{ is_default_network: true }]);
  });

  it("TUN-930 TUN-932 networks and routes: one default, one route for a range, none deleted in use", async () => {
    const networks = account("/teamnet/virtual_networks");
    const routes = account("/teamnet/routes");
    const { result: office } = await call("POST", networks, {
      name: "office",
      comment: "c",
      is_default: true,
    });
    expect(office.is_default_network).toBe(true);
    expect((await call("POST", networks, { name: "office" })).status).toBe(409);
    const { result: all } = await call("GET", `${networks}?is_deleted=false`);
    expect(all.filter((network: { is_default_network: boolean }) => network.is_default_network)).toHaveLength(
      1,
    );
    const { result: tunnel } = await call("POST", account("/cfd_tunnel"), { name: "t" });
    const route = { network: "10.0.0.0/16", tunnel_id: tunnel.id };
    const { result: made } = await call("POST", routes, route);
    expect(made).toMatchObject({ virtual_network_id: office.id, tunnel_name: "t" });
    expect((await call("POST", routes, route)).status).toBe(409);
    expect((await call("DELETE", `${networks}/${office.id}`)).status).toBe(400);
    expect((await call("DELETE", account(`/cfd_tunnel/${tunnel.id}`))).status).toBe(400);
    const byNetwork = `${routes}/network/${encodeURIComponent("10.0.0.0/16")}`;
    expect((await call("DELETE", `${byNetwork}?virtual_network_id=default`)).status).toBe(404);
    expect((await call("DELETE", `${routes}/${made.id}`)).status).toBe(200);
    expect((await call("DELETE", account(`/cfd_tunnel/${tunnel.id}`))).status).toBe(200);
  });

  it("TUN-1116 Access, R2 and gateway rules answer with their codes", async () => {
    const groups = account("/access/groups");
    expect((await call("GET", `${groups}/none`)).code).toBe(11021);
    const everyone = { name: "g", include: [{ everyone: {} }] };
    const { result: group } = await call("POST", groups, everyone);
    expect((await call("PUT", `${groups}/${group.id}`, { ...everyone, name: "h" })).result.name).toBe("h");
    expect((await call("POST", groups, { name: "g", include: [{ a: {}, b: {} }] })).status).toBe(400);
    const app = { type: "self_hosted", name: "a", domain: "a.example.com" };
    const bad = { ...app, destinations: [{ type: "public", uri: "b.example.com" }] };
    expect((await call("POST", account("/access/apps"), bad)).code).toBe(12130);
    const { result: made } = await call("POST", account("/access/apps"), app);
    const policies = account(`/access/apps/${made.id}/policies`);
    await call("POST", policies, { name: "p", decision: "allow", include: [{ everyone: {} }] });
    await call("PUT", account(`/access/apps/${made.id}`), app);
    expect((await call("GET", policies)).result).toHaveLength(1);

    const buckets = account("/r2/buckets");
    await call("POST", buckets, { name: "data-1", locationHint: "weur" });
    expect((await call("POST", buckets, { name: "data-1" })).code).toBe(10004);
    double.state.buckets.get("test-account-id/data-1")!.objects = 1;
    expect((await call("DELETE", `${buckets}/data-1`)).code).toBe(10008);
    expect((await call("GET", `${buckets}/data-2`)).code).toBe(10006);
    await call("PUT", `${buckets}/data-1/cors`, { rules: [{ id: "r" }] });
    expect((await call("GET", `${buckets}/data-1/cors`)).result.rules).toHaveLength(1);
    double.state.withoutR2.add("test-account-id");
    expect(await call("GET", buckets)).toMatchObject({ status: 403, code: 10042 });

    const rules = account("/gateway/rules");
    const rule = { name: "r", action: "block", precedence: 1 };
    const { result: first } = await call("POST", rules, rule);
    expect((await call("POST", rules, rule)).status).toBe(400);
    expect((await call("PUT", `${rules}/${first.id}`, rule)).result.version).toBe(2);
  });

  it("TUN-1104 counts the calls of a user over all their tokens", async () => {
    await double.close();
    let now = 0;
    double = await createCloudflareDouble({ limit: { calls: 2, windowMs: 300_000 }, now: () => now });
    double.users.tokens.set("other", { name: "tester", permissions: [] });
    await call("GET", "/zones");
    await fetch(`${double.url}/user/tokens/verify`, { headers: { authorization: "Bearer other" } });
    const headers = { authorization: `Bearer ${DEFAULT_TOKEN}` };
    const refused = await fetch(`${double.url}/zones`, { headers });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "300"]);
    now += 300_001;
    const free = await fetch(`${double.url}/zones`, { headers });
    expect(free.headers.get("ratelimit")).toBe('"default";r=1;t=300');
    expect(free.headers.get("ratelimit-policy")).toBe('"default";q=2;w=300');
  });

  it("TUN-1117 can be told what to do, and tells what was asked", async () => {
    expect(await admin("GET", "/health")).toEqual({ status: "ok" });
    const { result: tunnel } = await call("POST", account("/cfd_tunnel"), { name: "t" });
    await admin("POST", `/admin/tunnels/${tunnel.id}/status`, { status: "healthy" });
    const path = account(`/cfd_tunnel/${tunnel.id}`);
    expect((await call("GET", path)).result).toMatchObject({ status: "healthy" });
    expect((await call("GET", `${path}/connections`)).result[0].conns).toHaveLength(4);
    const config = { ingress: [{ service: "http_status:404" }] };
    expect(await admin("POST", `/admin/configurations/${tunnel.id}`, { config })).toEqual({ version: 1 });
    await admin("POST", "/admin/errors", {
      pathRegex: "zones",
      type: "rate_limit",
      mode: "count",
      n: 1,
      retryAfter: 3,
    });
    expect((await call("GET", "/zones")).status).toBe(429);
    expect((await call("GET", "/zones")).status).toBe(200);
    const { count, requests } = await admin("GET", "/admin/requests?prefix=/accounts&method=POST");
    expect(count).toBe(1);
    expect(requests[0]).toMatchObject({ method: "POST", body: { name: "t" }, status: 200 });
    await admin("POST", "/admin/reset");
    expect(await admin("GET", "/admin/requests")).toEqual({ count: 0, requests: [] });
  });
});
