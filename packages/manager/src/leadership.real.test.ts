import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  attachControlPlane,
  type ControlPlane,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";
import { installEcho } from "./echo.testkit.ts";

let plane: ControlPlane;
let admin: TestClient;
let folder: string;
let namespace: Awaited<ReturnType<typeof testNamespace>>;
const children: ChildProcess[] = [];

beforeEach(async () => {
  plane = attachControlPlane(inject("controlPlane"));
  admin = testClient(await plane.kubeconfig());
  folder = await mkdtemp(join(tmpdir(), "quartet-leader-"));
  namespace = await testNamespace(admin);
  await installEcho(admin);
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await namespace.empty();
  admin.close();
  await plane.stop();
  await rm(folder, { recursive: true });
});

interface Replica {
  child: ChildProcess;
  log: Record<string, unknown>[];
  exited: Promise<unknown[]>;
}

/** A replica with a user of its own, so that the audit log tells who wrote. */
async function startReplica(user: string): Promise<Replica> {
  const kubeconfig = join(folder, `${user}.yaml`);
  await writeFile(kubeconfig, await plane.kubeconfig({ user: `${namespace.name}-${user}` }));
  const off = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`);
  const args = [`--kubeconfig=${kubeconfig}`, `--namespaces=${namespace.name}`, "--leader-elect", ...off];
  const child = spawn(
    process.execPath,
    [
      "--conditions=quartet-source",
      "--disable-warning=ExperimentalWarning",
      join(import.meta.dirname, "echo-program.testkit.ts"),
      `--leader-election-namespace=${namespace.name}`,
      ...args,
    ],
    { stdio: ["ignore", "inherit", "pipe"] },
  );
  children.push(child);
  const log: Record<string, unknown>[] = [];
  let rest = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    log.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
  });
  return { child, log, exited: once(child, "exit") };
}

const says = (replica: Replica, msg: string): boolean => replica.log.some((line) => line.msg === msg);

const becomesLeader = (replica: Replica, timeout: number): Promise<void> =>
  vi.waitFor(() => expect(says(replica, "Became leader")).toBe(true), { timeout, interval: 20 });

/** Changes an Echo ten times a second until the returned function is called. */
function feed(): () => Promise<void> {
  const path = `/apis/test.quartet.io/v1/namespaces/${namespace.name}/echoes/fed?fieldManager=t&force=true`;
  let on = true;
  const run = async (): Promise<void> => {
    for (let turn = 0; on; turn++) {
      const body = {
        apiVersion: "test.quartet.io/v1",
        kind: "Echo",
        metadata: { name: "fed" },
        spec: { text: `${turn}` },
      };
      await admin.ok("PATCH", path, body, { contentType: "application/apply-patch+yaml" });
      await sleep(100);
    }
  };
  const end = run();
  return () => {
    on = false;
    return end;
  };
}

/** Arrival times of the leader writes of a replica. */
async function writesOf(user: string): Promise<number[]> {
  const filter = { resource: "configmaps", namespace: namespace.name, user: `${namespace.name}-${user}` };
  const requests = await plane.requests(filter);
  return requests.filter(({ verb }) => verb === "patch" || verb === "apply").map(({ at }) => at);
}

const lease = (): Promise<{ spec: { holderIdentity: string; leaseTransitions: number } }> =>
  admin.ok("GET", `/apis/coordination.k8s.io/v1/namespaces/${namespace.name}/leases/quartet-manager`);

/** Duration of a Lease by default (CORE-252). */
const LEASE_MS = 15_000;

it("core A9 CORE-259 CORE-262 CORE-267 hands over at SIGTERM before the Lease runs out, with exit code 0 and no overlap of writers", async () => {
  const first = await startReplica("first");
  await becomesLeader(first, 20_000);
  const second = await startReplica("second");
  await vi.waitFor(() => expect(says(second, "Lease has a new holder")).toBe(true), { timeout: 20_000 });
  const stopFeeding = feed();
  await vi.waitFor(async () => expect(await writesOf("first")).not.toEqual([]), { timeout: 10_000 });
  expect(await writesOf("second")).toEqual([]);

  const asked = Date.now();
  first.child.kill("SIGTERM");
  await becomesLeader(second, 60_000);
  // The Lease was given back: it has not run out.
  expect(Date.now() - asked).toBeLessThan(LEASE_MS);
  expect(await first.exited).toEqual([0, null]);
  expect((await lease()).spec.leaseTransitions).toBe(1);
  await vi.waitFor(async () => expect(await writesOf("second")).not.toEqual([]), { timeout: 10_000 });
  await stopFeeding();
  expect(Math.max(...(await writesOf("first")))).toBeLessThan(Math.min(...(await writesOf("second"))));
});

it("core A10 CORE-256 CORE-257 CORE-267 a leader that stood still for 20 s writes nothing more and exits with 1", async () => {
  const first = await startReplica("first");
  await becomesLeader(first, 20_000);
  const second = await startReplica("second");
  await vi.waitFor(() => expect(says(second, "Lease has a new holder")).toBe(true), { timeout: 20_000 });
  const stopFeeding = feed();
  await vi.waitFor(async () => expect(await writesOf("first")).not.toEqual([]), { timeout: 10_000 });

  const stopped = Date.now();
  first.child.kill("SIGSTOP");
  await becomesLeader(second, 60_000);
  await sleep(Math.max(0, stopped + 20_000 - Date.now()));
  const continued = Date.now();
  first.child.kill("SIGCONT");
  expect(await first.exited).toEqual([1, null]);
  expect(first.log.at(-1)).toMatchObject({
    level: "error",
    error: expect.stringMatching(/^leader election lost/),
  });
  await sleep(1_000);
  await stopFeeding();
  expect((await writesOf("first")).filter((at) => at >= continued)).toEqual([]);
  expect((await lease()).spec.leaseTransitions).toBe(1);
});
