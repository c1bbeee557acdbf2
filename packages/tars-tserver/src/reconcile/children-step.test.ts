import { ApiError } from "@quartet/core";
import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { echoServer } from "../fixtures.testkit.ts";
import { syncChildren } from "./children-step.ts";
import { createMemories } from "./memory.ts";
import { newPass, type Pass } from "./pass.ts";

it("TARS-R-013 in a namespace that goes each child is asked for once, and nothing is told", async () => {
  const memories = createMemories();
  const asked: string[] = [];
  const refused = (): never => {
    throw new ApiError({
      ...{ code: 403, reason: "Forbidden", message: "the namespace goes", method: "POST", path: "/" },
      details: { causes: [{ reason: "NamespaceTerminating" }] },
      ...{ retryAfterSeconds: undefined, continueToken: undefined },
    });
  };
  const pass = (uid: string): Pass => {
    const none = { get: () => undefined, list: () => [] };
    const informers = Object.fromEntries(
      ["services", "statefulSets", "daemonSets", "endpoints", "records", "claims"].map((name) => [
        name,
        none,
      ]),
    );
    const create = async ({ kind }: { kind: string }): Promise<never> => {
      asked.push(kind);
      return refused();
    };
    return newPass({
      ...{ server: echoServer({}, { uid }), informers, memory: memories.of("ns1/demo-echoserver") },
      ...{ clock: fakeClock(), framework: {}, lookups: {}, pods: [] },
      settings: { portStyle: "seed", hostBindClaim: false, gateFallback: false },
      ctx: { signal: new AbortController().signal, client: { create }, events: { record: () => {} } },
    } as unknown as Parameters<typeof newPass>[0]);
  };
  const first = pass("u1");
  await syncChildren(first);
  await syncChildren(pass("u1"));
  expect(asked.sort()).toEqual(["Service", "StatefulSet", "TEndpoint", "TExitedRecord"]);
  expect(first.problems).toEqual([]);
  // A server of the same name in a namespace that was made anew.
  await syncChildren(pass("u2"));
  expect(asked).toHaveLength(8);
});
