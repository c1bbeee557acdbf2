import { afterEach, describe, expect, it } from "vitest";
import { createNacosCluster, type NacosCluster, type NacosClusterOptions } from "./cluster.ts";

const V1 = "/v1/core/cluster/nodes";
const V3 = "/v3/admin/core/cluster/node/list";

let cluster: NacosCluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

async function oneNode(
  options: NacosClusterOptions = {},
): Promise<(path: string, headers?: object) => Promise<Response>> {
  cluster = createNacosCluster({ port: 0, ...options });
  await cluster.setMembers([{ ip: "127.0.0.1", host: "demo-0.demo-headless.t.svc.cluster.local" }]);
  const base = `http://127.0.0.1:${cluster.portOf("127.0.0.1")}`;
  return (path, headers = {}) => fetch(base + path, { headers: { ...headers } });
}

describe("simulated Nacos", () => {
  it("answers as Nacos 2 does: member list with code 200, no address of version 3", async () => {
    const get = await oneNode();
    const { code, data } = (await (await get(`/nacos${V1}`)).json()) as {
      code: number;
      data: Record<string, unknown>[];
    };
    expect(code).toBe(200);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ state: "UP", extendInfo: { version: "2.4.3" } });
    expect((await get(`/nacos${V3}`)).status).toBe(404);
    expect((await get("/nacos/v1/console/health/readiness")).status).toBe(200);
    expect((await get(V1)).status).toBe(404);
  });

  it("answers as Nacos 3 does: 410 for the older API, member list with code 0 below /v3/admin", async () => {
    const get = await oneNode({ version: "3.0.1" });
    expect((await get(`/nacos${V1}`)).status).toBe(410);
    expect(await (await get(`/nacos${V3}`)).json()).toMatchObject({ code: 0, message: "success" });
  });

  it("asks for a login and lets the identity header pass", async () => {
    const get = await oneNode({ auth: true, identity: { name: "serverIdentity", value: "security" } });
    expect((await get(`/nacos${V1}`)).status).toBe(403);
    expect((await get(`/nacos${V1}`, { serverIdentity: "wrong" })).status).toBe(403);
    expect((await get(`/nacos${V1}`, { serverIdentity: "security" })).status).toBe(200);
    expect(cluster!.requests.map(({ identified }) => identified)).toEqual([false, false, true]);
  });

  it("hangs, and shows states, versions and leaders as it is told to", async () => {
    const get = await oneNode();
    const { behaviour } = cluster!;
    behaviour.states["127.0.0.1"] = "DOWN";
    behaviour.leaders["127.0.0.1"] = "demo-9";
    behaviour.versions["127.0.0.1"] = "2.5.0";
    const [member] = ((await (await get(`/nacos${V1}`)).json()) as { data: Record<string, unknown>[] }).data;
    expect(member).toMatchObject({
      state: "DOWN",
      extendInfo: {
        version: "2.5.0",
        raftMetaData: {
          metaDataMap: { naming_persistent_service_v2: { leader: expect.stringMatching(/^demo-9:/) } },
        },
      },
    });
    behaviour.hung.add("127.0.0.1");
    const hanging = fetch(`http://127.0.0.1:${cluster!.portOf("127.0.0.1")}/nacos${V1}`, {
      signal: AbortSignal.timeout(200),
    });
    await expect(hanging).rejects.toThrow();
  });

  it("starts and stops servers as members come and go", async () => {
    const get = await oneNode();
    expect((await get(`/nacos${V1}`)).status).toBe(200);
    await cluster!.setMembers([]);
    await expect(get(`/nacos${V1}`)).rejects.toThrow();
  });
});
