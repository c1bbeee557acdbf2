import type { Informer, SourceReader } from "@quartet/core";
import type { Lease } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { createPeerWatch, PEER_LEASE } from "./peer.ts";

type SourceState = Informer["state"];

function watch(
  state: SourceState,
  holders: Record<string, string>,
  foreign: (place: string) => boolean,
  namespaces: string[] = [],
) {
  const asked: string[] = [];
  const leases = {
    state,
    get: ({ namespace = "" }) =>
      namespace in holders ? { spec: { holderIdentity: holders[namespace] } } : undefined,
  } as unknown as Informer<Lease>;
  const peer = createPeerWatch({
    namespaces,
    peerNamespace: "ops",
    async foreignLease(place, name) {
      expect(name).toBe(PEER_LEASE);
      asked.push(place);
      return foreign(place);
    },
  });
  const cache = { source: () => leases } as unknown as SourceReader;
  return { active: (namespace: string) => peer.isActive(namespace, cache), asked };
}

describe("the peer's Lease", () => {
  it("NACOS-213 NACOS-204 is asked for only when the watch shows one that is held", async () => {
    const { active, asked } = watch("synced", { b: "", ops: "peer" }, () => true);
    expect(await active("a")).toBe(true);
    expect(asked).toEqual(["ops"]);
    const none = watch("synced", { b: "" }, () => true);
    expect(await none.active("b")).toBe(false);
    expect(none.asked).toEqual([]);
  });

  it.each<SourceState>(["forbidden", "starting"])(
    "NACOS-213 is asked for while the watch is %s",
    async (state) => {
      const { active, asked } = watch(state, {}, (place) => place === "ops");
      expect(await active("a")).toBe(true);
      expect(asked).toEqual(["a", "ops"]);
    },
  );

  it("NACOS-213 is asked for in the peer's namespace when that is not watched", async () => {
    const { active, asked } = watch("synced", {}, () => true, ["a", "b"]);
    expect(await active("a")).toBe(true);
    expect(asked).toEqual(["ops"]);
    const watched = watch("synced", {}, () => true, ["a", "ops"]);
    expect(await watched.active("a")).toBe(false);
    expect(watched.asked).toEqual([]);
  });

  it("NACOS-213 holds the controller back while it cannot be read", async () => {
    const { active } = watch("forbidden", {}, () => {
      throw new Error("leases is forbidden");
    });
    await expect(active("a")).rejects.toThrow("leases is forbidden");
  });
});
