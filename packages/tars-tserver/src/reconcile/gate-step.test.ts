import { fakeClock } from "@quartet/core/testkit";
import { describe, expect, it } from "vitest";
import type { Pod } from "../desired/k8s.ts";
import { modelOf } from "../desired/model.ts";
import { echoServer, webServer } from "../fixtures.testkit.ts";
import { tendGates } from "./gate-step.ts";
import { createMemories } from "./memory.ts";
import type { Pass } from "./pass.ts";

const MINUTE = 60_000;

function scene({ fallback = false, registry = false, server = echoServer() } = {}) {
  const clock = fakeClock();
  const notes: string[] = [];
  const patches: unknown[] = [];
  const memory = createMemories().of("t/a");
  const run = (pods: Pod[]) =>
    tendGates({
      ...{ server, model: modelOf(server), memory, clock, pods },
      settings: { portStyle: "seed", hostBindClaim: false, gateFallback: fallback },
      lookups: { server: () => (registry ? server : undefined) },
      ctx: {
        signal: new AbortController().signal,
        events: { record: (_: object, { note }: { note: string }) => notes.push(note) },
        client: {
          patch: async (_kind: object, key: object, patch: object) => void patches.push([key, patch]),
        },
      },
    } as unknown as Pass);
  const pod = (name: string, gate?: string, containers = "True"): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ns1", uid: name },
    status: {
      conditions: [
        {
          type: "ContainersReady",
          status: containers,
          lastTransitionTime: new Date(clock.now()).toISOString(),
        },
        ...(gate === undefined ? [] : [{ type: "tars.io/active", status: gate }]),
      ],
    },
  });
  return { clock, notes, patches, run, pod };
}

describe("a gate that nobody sets", () => {
  it("TARS-RG-005 is told of after two minutes, and at most once an hour", async () => {
    const { clock, notes, run, pod } = scene();
    const pods = [pod("b"), pod("a"), pod("c", "False")];
    expect(await run(pods)).toBe(2 * MINUTE);
    await clock.advance(2 * MINUTE);
    expect(await run(pods)).toBe(60 * MINUTE);
    expect(notes).toEqual([
      "nobody has set tars.io/active on a and 1 more although its containers are ready; is tarsregistry running?",
    ]);
    await clock.advance(59 * MINUTE);
    expect(await run(pods)).toBe(MINUTE);
    expect(notes).toHaveLength(1);
    await clock.advance(MINUTE);
    await run(pods);
    expect(notes).toHaveLength(2);
  });

  it.each([
    ["the gate is there", scene(), (s: ReturnType<typeof scene>) => [s.pod("a", "False")]],
    ["containers are not ready", scene(), (s: ReturnType<typeof scene>) => [s.pod("a", undefined, "False")]],
    ["no gate belongs to it", scene({ server: webServer() }), (s: ReturnType<typeof scene>) => [s.pod("a")]],
  ])("TARS-RG-005 is nothing to tell of when %s", async (_, given, pods) => {
    expect(await given.run(pods(given))).toBeUndefined();
    expect(given.notes).toEqual([]);
  });
});

describe("the fallback", () => {
  it("TARS-RG-006 follows the containers, and writes nothing twice", async () => {
    const { patches, run, pod } = scene({ fallback: true });
    await run([pod("new"), pod("on", "True"), pod("off", "True", "False"), pod("waits", undefined, "False")]);
    const written = (patches as [{ name: string }, { body: { status: { conditions: object[] } } }][]).map(
      ([{ name }, { body }]) => [name, body.status.conditions[0]],
    );
    expect(written).toEqual([
      ["new", expect.objectContaining({ status: "True", reason: "Active/Active/" })],
      ["off", expect.objectContaining({ status: "False", reason: "Active/Activating/" })],
    ]);
  });

  it("TARS-RG-002 TARS-RG-006 leaves pods alone where the registry is", async () => {
    const { patches, run, pod } = scene({ fallback: true, registry: true });
    await run([pod("new")]);
    expect(patches).toEqual([]);
  });
});
