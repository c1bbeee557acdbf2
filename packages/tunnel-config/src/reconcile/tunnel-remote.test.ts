import { systemClock } from "@quartet/core";
import { type CloudflareDouble, createCloudflareDouble } from "@quartet/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CloudflareApi } from "../cloudflare/api.ts";
import { createExchange } from "../cloudflare/exchange.ts";
import { createRegistry } from "../cloudflare/registry.ts";
import type { AnyTunnel } from "../kinds.ts";
import { assertRemote } from "./sync-remote.ts";
import { establish, isAdopted, isMoved, tunnelName } from "./tunnel-remote.ts";

const ACCOUNT = "test-account-id";

let double: CloudflareDouble;
let api: CloudflareApi;
beforeEach(async () => {
  double = await createCloudflareDouble();
  const options = { calls: 0, exchange: createExchange(), clock: systemClock, version: "0" };
  api = createRegistry({ baseUrl: double.url, ...options })({ type: "token", token: "test-token" });
});
afterEach(() => double.close());

const tunnel = (spec: object, metadata: object = {}): AnyTunnel =>
  ({ kind: "ClusterTunnel", metadata: { name: "main", ...metadata }, spec }) as never;
const found = (spec: object) =>
  establish(tunnel(spec), ACCOUNT, api, { record: () => {} } as never, () => {});
const create = async (name: string): Promise<string> =>
  (await api.createTunnel(ACCOUNT, name, Buffer.alloc(32).toString("base64"))).id;

describe("the tunnel of an object", () => {
  it("TUN-202 has the name of the spec, else that of the object and its namespace", async () => {
    expect(tunnelName(tunnel({ newTunnel: { name: "own" } }))).toBe("own");
    expect([tunnelName(tunnel({})), tunnelName(tunnel({ newTunnel: {} }))]).toEqual(["main", "main"]);
    expect(tunnelName(tunnel({}, { namespace: "shop" }))).toBe("shop-main");
    const { id, name, secret } = await found({});
    expect([name, (await api.tunnel(ACCOUNT, id))?.name, secret?.length]).toEqual(["main", "main", 44]);
  });

  it("TUN-209 that exists is found by its identifier, else by its name; none and several are told", async () => {
    const [one, two] = [await create("one"), await create("two")];
    const existing = (existingTunnel: object) => found({ existingTunnel });
    expect((await existing({ id: one, name: "two" })).id).toBe(one);
    expect((await existing({ name: "two" })).id).toBe(two);
    const gone = "11111111-2222-3333-4444-555555555555";
    expect((await existing({ id: gone, name: "two" })).id).toBe(two);
    await api.deleteTunnel(ACCOUNT, one);
    for (const none of [{ id: one }, { name: "one" }, { id: gone, name: "none" }])
      await expect(existing(none)).rejects.toMatchObject({
        reason: "TunnelNotFound",
        message: expect.stringContaining("no tunnel in response"),
      });
    double.state.tunnels.set(gone, { ...double.state.tunnels.get(two)! });
    await expect(existing({ name: "two" })).rejects.toThrow("more than one tunnel");
  });

  it("TUN-225 was there before where the spec calls it so, or where it had a connector and no annotation makes it the object's own", async () => {
    const id = await create("main");
    const annotations = { "cloudflare-operator.io/adopt": "true" };
    const taken = async (spec: object, metadata: object = {}): Promise<boolean> =>
      (await establish(tunnel(spec, metadata), ACCOUNT, api, { record: () => {} } as never, () => {}))
        .adopted;
    expect([await taken({}), await taken({ existingTunnel: { id } })]).toEqual([false, true]);
    double.state.tunnels.get(id)!.fields.status = "down";
    expect([await taken({}), await taken({}, { annotations })]).toEqual([true, false]);
    expect(await taken({ newTunnel: { name: "other" } })).toBe(false);
    const held = (spec: object, adopted?: boolean, metadata = {}): boolean =>
      isAdopted({ ...tunnel(spec, metadata), status: { adopted } } as never);
    expect([held({}, true), held({}), held({ existingTunnel: { id } })]).toEqual([true, false, true]);
    expect([
      held({}, true, { annotations }),
      held({ existingTunnel: { id } }, true, { annotations }),
    ]).toEqual([false, true]);
  });

  it("TUN-214 is another one when another identifier is named, or without one another name", () => {
    const moved = (existingTunnel: object | undefined, name = "main") => isMoved(existingTunnel, "id", name);
    expect(
      [{ id: "id" }, { id: "id", name: "x" }, { name: "main" }, {}, undefined].map((one) => moved(one)),
    ).toEqual([false, false, false, false, false]);
    expect([moved({ id: "other", name: "main" }), moved({ name: "other" })]).toEqual([true, true]);
    // A status that tells no name says nothing of it.
    expect(moved({ name: "other" }, "")).toBe(false);
  });

  it("TUN-211 that is configured by files stays so unless an annotation gives that up", () => {
    const pass = (source: string, annotations = {}) =>
      assertRemote({ version: 1, source, config: null }, {
        collected: { owners: [tunnel({}, { annotations })] },
      } as never);
    expect(() => pass("cloudflare")).not.toThrow();
    expect(() => pass("local")).toThrow("migrate-local-config");
    expect(() => pass("local", { "cloudflare-operator.io/migrate-local-config": "true" })).not.toThrow();
  });
});
