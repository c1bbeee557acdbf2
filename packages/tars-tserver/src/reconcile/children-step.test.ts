import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import { desiredStatefulSet } from "../desired/workloads.ts";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import { describeProblems, syncChildren } from "./children-step.ts";
import { createMemories } from "./memory.ts";
import { newPass, type Pass } from "./pass.ts";

it("TARS-R-013 in a namespace that goes each child is asked for once, and nothing is told", async () => {
  const memories = createMemories();
  const asked: string[] = [];
  const refused = (): never => {
    throw apiRefusal(403, "Forbidden", "the namespace goes", "NamespaceTerminating");
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

it("TARS-R-012 several refused children make one text, in whatever order the answers come", async () => {
  const none = { get: () => undefined, list: () => [] };
  const kinds = ["TEndpoint", "TExitedRecord", "Service", "StatefulSet"];
  const textOf = async (order: readonly string[]): Promise<string> => {
    const waiting = new Map<string, () => void>();
    const create = ({ kind }: { kind: string }): Promise<never> =>
      new Promise((_, reject) => {
        waiting.set(kind, () => reject(apiRefusal(422, "Invalid", `no ${kind}`)));
        if (waiting.size === kinds.length)
          void order.reduce(async (before, one) => {
            await before;
            waiting.get(one)!();
            await new Promise((resolve) => setImmediate(resolve));
          }, Promise.resolve());
      });
    const pass = newPass({
      ...{ server: echoServer(), memory: createMemories().of("ns1/demo-echoserver") },
      informers: {
        ...{ services: none, statefulSets: none, daemonSets: none },
        ...{ endpoints: none, records: none, claims: none },
      },
      ...{ clock: fakeClock(), framework: {}, lookups: {}, pods: [] },
      settings: { portStyle: "seed", hostBindClaim: false, gateFallback: false },
      ctx: { signal: new AbortController().signal, client: { create }, events: { record: () => {} } },
    } as unknown as Parameters<typeof newPass>[0]);
    await syncChildren(pass);
    return describeProblems(pass);
  };
  const text = await textOf(kinds);
  for (const kind of kinds) expect(text).toContain(`no ${kind}`);
  expect(await textOf([...kinds].reverse())).toBe(text);
});

it("TARS-R-030 TARS-R-012 while the deletion is refused the new StatefulSet is tried out once a minute", async () => {
  const clock = fakeClock();
  const memory = createMemories().of("ns1/demo-echoserver");
  const before = echoServer();
  const mount = { name: "m5", mountPath: "/m5", source: { tLocalVolume: {} } };
  const server = echoServer({ k8s: { ...before.spec.k8s, mounts: [mount] } });
  const input = { nodeImage: undefined, portStyle: "seed", hostBindClaim: false } as never;
  const live = desiredStatefulSet(before, input);
  const asked: string[] = [];
  const told: string[] = [];
  const refuse = async ({ kind }: { kind: string }): Promise<never> => {
    asked.push(`delete ${kind}`);
    throw new Error("refused");
  };
  const none = { get: () => undefined, list: () => [] };
  const pass = (): Pass =>
    newPass({
      ...{ server, memory, clock, framework: {}, lookups: {}, pods: [] },
      informers: {
        ...{ services: none, daemonSets: none, endpoints: none, records: none, claims: none },
        statefulSets: { get: () => live },
      },
      settings: { portStyle: "seed", hostBindClaim: false, gateFallback: false },
      ctx: {
        signal: new AbortController().signal,
        client: {
          async create({ kind }: { kind: string }, _object: object, { dryRun }: { dryRun?: boolean }) {
            if (dryRun === true) asked.push(`try ${kind}`);
          },
          deleteIfExists: refuse,
        },
        events: { record: (_: object, { reason }: { reason: string }) => told.push(reason) },
      },
    } as unknown as Parameters<typeof newPass>[0]);
  for (const _try of [1, 2]) await syncChildren(pass());
  expect(asked).toEqual(["try StatefulSet", "delete StatefulSet", "delete StatefulSet"]);
  await clock.advance(60_000);
  await syncChildren(pass());
  expect(asked.slice(3)).toEqual(["try StatefulSet", "delete StatefulSet"]);
  expect(told).toEqual([]);
});
