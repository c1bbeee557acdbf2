import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import type { ExitedPod } from "../desired/exited-record.ts";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import { recordExited } from "./exited-step.ts";
import { createMemories } from "./memory.ts";
import type { Pass } from "./pass.ts";

const gone = (uid: string) => ({ uid, name: uid }) as ExitedPod;

async function record({ isThere = true, conflicts = 0 } = {}) {
  const memories = createMemories();
  memories.addGone("ns1/a", gone("u1"));
  const memory = memories.of("ns1/a");
  const written: unknown[] = [];
  const stored = { metadata: { resourceVersion: "1" }, pods: [] };
  await recordExited({
    ...{ server: echoServer(), pods: [], memory, clock: fakeClock(), framework: { exitedPods: 10 } },
    informers: { records: { get: () => (isThere ? stored : undefined) } },
    ctx: {
      client: {
        async patch(_kind: object, _key: object, { body }: { body: { pods: ExitedPod[] } }) {
          if (written.length < conflicts) {
            written.push("conflict");
            throw apiRefusal(409, "Conflict", "it has changed");
          }
          written.push(body.pods.map(({ uid }) => uid));
        },
        get: async () => ({ metadata: { resourceVersion: "2" }, pods: [gone("u0")] }),
      },
    },
  } as unknown as Pass);
  return { written, left: memory.gone.size };
}

it("TARS-R-080 a pod that went is recorded, and then forgotten", async () => {
  expect(await record()).toEqual({ written: [["u1"]], left: 0 });
});

it("TARS-R-083 without a record it is ignored", async () => {
  expect(await record({ isThere: false })).toEqual({ written: [], left: 0 });
});

it("TARS-R-024 TARS-R-081 after a conflict it is added to what is there by then", async () => {
  expect(await record({ conflicts: 1 })).toEqual({ written: ["conflict", ["u1", "u0"]], left: 0 });
});
