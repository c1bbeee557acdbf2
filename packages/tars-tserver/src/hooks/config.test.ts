import type { AdmissionContext } from "@quartet/core/webhook";
import { describe, expect, it } from "vitest";
import type { TConfig } from "../api.gen.ts";
import { apiRefusal } from "../fixtures.testkit.ts";
import { createConfig, deleteConfig } from "./config.ts";
import type { HookContext } from "./context.ts";

const config = (name: string, activated = true): TConfig =>
  ({
    ...{ apiVersion: "k8s.tars.io/v1beta2", kind: "TConfig" },
    metadata: { name, namespace: "ns1", uid: name, creationTimestamp: "2024-01-01T00:00:00Z" },
    ...{ app: "Demo", server: "A", configName: "a.conf", podSeq: "m", configContent: "-", activated },
  }) as TConfig;

/** Two versions are there, the first in force; `answer` is what a mark meets. */
function scene({
  answer = (_try: number): void => {},
  user = "eve",
  dryRun = false,
  live = [] as readonly TConfig[],
} = {}) {
  const known = [config("v1"), config("v0", false)];
  const marks: string[] = [];
  const asked: string[] = [];
  const context = {
    clock: { now: () => Date.parse("2024-01-01T01:00:00Z") },
    deleteGuardMs: 0,
    identities: {
      isOperator: async () => user === "operator",
      isSystem: () => user === "system",
    },
    lookups: async () => ({ item: () => known, family: () => known }),
    client: {
      async list(_kind: object, { labelSelector }: { labelSelector: string }) {
        asked.push(labelSelector);
        return { items: live };
      },
      async patch(
        _kind: object,
        { name }: { name: string },
        { body }: { body: { metadata: TConfig["metadata"] } },
      ) {
        marks.push(`${name} ${Object.keys(body.metadata.labels ?? {}).join()}`);
        answer(marks.length);
      },
    },
  } as unknown as HookContext;
  const signal = new AbortController().signal;
  const ctx = { request: { namespace: "ns1" }, signal, dryRun } as unknown as AdmissionContext;
  return {
    marks,
    asked,
    create: () => createConfig(config("v2"), ctx, context),
    remove: () => deleteConfig(config("v1"), ctx, context),
  };
}

const conflict = (): never => {
  throw apiRefusal(409, "Conflict", "somebody else was faster");
};

describe("marks of other versions", () => {
  it("TARS-V-052 are tried three times, and then the request is refused in the server's words", async () => {
    const { create, marks } = scene({ answer: conflict });
    expect(await create()).toMatchObject({ refused: expect.stringContaining("somebody else was faster") });
    expect(marks).toEqual(Array(3).fill("v1 tars.io/Deactivate"));
  });

  it("TARS-V-052 a conflict that passes, and a version that is gone, refuse nothing", async () => {
    const passing = scene({ answer: (tries) => (tries < 3 ? conflict() : undefined) });
    expect(await passing.create()).toEqual([]);
    const gone = scene({
      answer() {
        throw apiRefusal(404, "NotFound", "it is gone");
      },
    });
    expect(await gone.create()).toEqual([]);
    expect(gone.marks).toHaveLength(1);
  });

  it("TARS-API-006 are not made by a request that only tries", async () => {
    const { create, remove, marks } = scene({ dryRun: true });
    expect([await create(), await remove()]).toEqual([[], []]);
    expect(marks).toEqual([]);
  });

  it.each([
    ["operator", []],
    ["system", []],
    ["eve", ["v0 tars.io/Deleting"]],
  ])("TARS-V-049 TARS-V-050 a deletion by %s marks %j", async (user, expected) => {
    const { remove, marks } = scene({ user });
    expect(await remove()).toEqual([]);
    expect(marks).toEqual(expected);
  });
});

it("TARS-API-005 TARS-V-048 a slave that only the server knows keeps its master", async () => {
  const { remove, marks, asked } = scene({ live: [config("slave")] });
  expect(await remove()).toMatchObject({
    refused: expect.stringContaining("is reference by anther tconfig"),
  });
  expect(marks).toEqual([]);
  expect(asked).toEqual([
    "tars.io/ServerApp=Demo,tars.io/ServerName=A,tars.io/ConfigName=a.conf,tars.io/PodSeq!=m",
  ]);
});
