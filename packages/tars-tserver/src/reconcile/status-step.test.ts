import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import type { TServer } from "../api.gen.ts";
import { modelOf } from "../desired/model.ts";
import { echoServer } from "../fixtures.testkit.ts";
import { createMemories } from "./memory.ts";
import type { Pass, Problem } from "./pass.ts";
import { writeStatus } from "./status-step.ts";

const pod = (name: string, status: string) => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, uid: name } },
  status: { conditions: [{ type: "Ready", status }] },
});

/** Passes over a server until its status has settled; what was written then. */
async function settle(server: TServer, pods: object[], problems: Problem[] = []) {
  const clock = fakeClock();
  const memory = createMemories().of("ns1/demo-echoserver");
  const written: TServer["status"][] = [];
  const pass = () =>
    writeStatus({
      ...{ server, model: modelOf(server), pods, problems, memory, clock },
      informers: { endpoints: { get: () => undefined } },
      metrics: { holds: () => {}, gateSet: () => {}, forget: () => {} },
      ctx: {
        client: {
          async patchStatus(_kind: object, _server: object, status: TServer["status"]) {
            written.push(status);
          },
        },
      },
    } as unknown as Pass);
  for (let wait = await pass(); wait !== undefined; wait = await pass()) await clock.advance(wait);
  return written;
}

const release = { id: "v1", image: "i:1" };
const conditions = (status: TServer["status"]) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]),
  );

it("TARS-R-040 TARS-R-041 TARS-R-043 the status has the pods of the server, and says how it stands", async () => {
  const server = echoServer({ release, k8s: { replicas: 3 } }, { generation: 4 });
  const [status, ...more] = await settle(server, [pod("a", "True"), pod("b", "False")]);
  expect(more).toEqual([]);
  expect(status).toMatchObject({
    ...{ replicas: 3, currentReplicas: 2, readyReplicas: 1, observedGeneration: 4 },
    selector: "tars.io/ServerApp=Demo,tars.io/ServerName=EchoServer",
  });
  expect(conditions(status)).toEqual({
    ...{ Released: "True Released", WorkloadSynced: "True Synced", Ready: "False PodsNotReady" },
  });
});

it("TARS-R-041 a server without pods has a status to select by", async () => {
  const [status] = await settle(echoServer({ k8s: { replicas: 0 } }), []);
  expect(status).toMatchObject({ currentReplicas: 0, selector: expect.stringContaining("Demo") });
  expect(conditions(status)).toMatchObject({ Released: "False NoRelease", Ready: "False NoRelease" });
});

it("TARS-R-042 what is the same is not written", async () => {
  const server = echoServer({ release, k8s: { replicas: 1 } });
  const [status] = await settle(server, [pod("a", "True")]);
  expect(conditions(status).Ready).toBe("True PodsReady");
  expect(await settle({ ...server, status } as TServer, [pod("a", "True")])).toEqual([]);
});

it("TARS-R-012 what is in the way is told at once", async () => {
  const problems = [{ what: "Service ns1/a", error: new Error("no right") }];
  const [status] = await settle(echoServer(), [], problems);
  expect(conditions(status).WorkloadSynced).toBe("False SyncFailed");
  expect(JSON.stringify(status?.conditions)).toContain("Service ns1/a: no right");
});
