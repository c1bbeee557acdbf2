import type { Kind } from "@quartet/core";
import type { AdmissionContext } from "@quartet/core/webhook";
import { expect, it } from "vitest";
import type { TTemplate } from "../api.gen.ts";
import type { HookContext } from "./context.ts";
import { validating } from "./validating.ts";

/** Deletes a template that the cache knows no user of; `live` is what the server finds. */
async function remove(name: string, live: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const context = {
    countDenial: () => {},
    identities: { isOperator: async () => false, isSystem: () => false },
    lookups: async () => ({ childrenOf: () => [], serversWithTemplate: () => [] }),
    client: {
      async list({ kind }: Kind, { labelSelector }: { labelSelector: string }) {
        asked.push(`${kind} ${labelSelector}`);
        return { items: Array(live[kind] ?? 0).fill({}) };
      },
    },
  } as unknown as HookContext;
  const request = { namespace: "ns1", operation: "DELETE", kind: { kind: "TTemplate" } };
  const ctx = { request, signal: new AbortController().signal } as unknown as AdmissionContext;
  const template = { metadata: { name }, spec: { content: "", parent: name } } as unknown as TTemplate;
  return { answer: await validating(context)(template, ctx), asked };
}

it.each([
  [{ TServer: 1 }, "reference by some tserver"],
  [{ TTemplate: 1 }, "reference by some ttemplate"],
])(
  "TARS-API-005 TARS-V-058 a template that only the server knows to be used stays: %j",
  async (live, words) => {
    const { answer, asked } = await remove("tt.cpp", live);
    expect(answer).toMatchObject({ refused: expect.stringContaining(words) });
    expect(asked).toEqual(["TTemplate tars.io/Parent=tt.cpp", "TServer tars.io/Template=tt.cpp"]);
  },
);

it("TARS-V-058 a template that nothing uses goes, also one whose name no label can hold", async () => {
  expect((await remove("tt.cpp", {})).answer).toEqual([]);
  expect(await remove("t".repeat(64), {})).toEqual({ answer: [], asked: [] });
});
