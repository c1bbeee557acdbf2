import type { Client, KubeObject } from "@quartet/core";
import { describe, expect, it } from "vitest";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import { SERVICE } from "../kinds.ts";
import { ensureChild, removeChild } from "./child.ts";

const owner = echoServer();
const service = (
  uid: string,
  ownerUid: string | undefined,
  metadata: KubeObject["metadata"] = {},
): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Service" },
  metadata: {
    ...{ name: "demo-echoserver", namespace: "ns1", uid, resourceVersion: uid, ...metadata },
    ...(ownerUid !== undefined && {
      ownerReferences: [
        {
          apiVersion: "k8s.tars.io/v1beta3",
          kind: "TServer",
          name: "demo-echoserver",
          uid: ownerUid,
          controller: true,
        },
      ],
    }),
  },
});

/** A child as it is cached, and as it is; the server refuses writes of others than the live one. */
async function ensure(cached: KubeObject | undefined, live = cached) {
  const calls: string[] = [];
  const write = (what: string) => async (_kind: object, object: KubeObject) => {
    calls.push(`${what} ${object.metadata.resourceVersion ?? "new"}`);
    if (what === "update" && object.metadata.resourceVersion !== live?.metadata.resourceVersion) {
      throw apiRefusal(409, "Conflict", "it has changed");
    }
  };
  const client = {
    create: write("create"),
    update: write("update"),
    async deleteIfExists(_kind: object, _key: object, { preconditions }: { preconditions: { uid: string } }) {
      calls.push(`delete ${preconditions.uid}`);
    },
    async get() {
      calls.push("get");
      return live;
    },
  } as unknown as Client;
  const { signal } = new AbortController();
  const outcome = await ensureChild<KubeObject>(
    { client, signal, kind: SERVICE as never, owner, cached },
    (found) =>
      found === undefined
        ? { action: "create", object: service("", "u1", { resourceVersion: undefined } as never) }
        : { action: "update", object: found as KubeObject },
  );
  return { calls, outcome };
}

describe("a child", () => {
  it("TARS-R-007 that is going is waited for", async () => {
    const going = service("c1", "u1", { deletionTimestamp: "2024-01-01T00:00:00Z" });
    expect(await ensure(going)).toEqual({ calls: [], outcome: { state: "going" } });
  });

  it("TARS-R-009 of an earlier server of the same name is deleted and made anew", async () => {
    const { calls } = await ensure(service("c1", "u0"));
    expect(calls).toEqual(["delete c1", "create new"]);
  });

  it("TARS-R-008 of nobody is left alone", async () => {
    expect(await ensure(service("c1", undefined))).toEqual({ calls: [], outcome: { state: "foreign" } });
  });

  it("TARS-R-024 that has changed meanwhile is read and judged again, at once", async () => {
    const { calls, outcome } = await ensure(service("c1", "u1"), service("c2", "u1"));
    expect(calls).toEqual(["update c1", "get", "update c2"]);
    expect(outcome).toEqual({ state: "done", wrote: true });
  });

  it("TARS-R-005 whose name another object has by now is not deleted", async () => {
    const client = {
      async deleteIfExists() {
        throw apiRefusal(409, "Conflict", "the UID is another");
      },
    } as unknown as Client;
    const { signal } = new AbortController();
    expect(await removeChild(client, SERVICE, service("c1", "u1") as never, () => true, signal)).toBe(false);
  });
});
