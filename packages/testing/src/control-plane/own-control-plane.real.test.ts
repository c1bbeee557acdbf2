/** Tests that disturb a control plane, so that each has one of its own: without controllers, which starts faster. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type TestClient, testClient } from "../request.ts";
import type { ControlPlane } from "./attach.ts";
import { type ControlPlaneOptions, startControlPlane } from "./control-plane.ts";
import { processExists } from "./lock.ts";

const LEAN: ControlPlaneOptions = { controllerManager: false, scheduler: false, kwok: false };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function lean(
  options: ControlPlaneOptions = {},
): Promise<{ controlPlane: ControlPlane; admin: TestClient }> {
  const controlPlane = await startControlPlane({ ...LEAN, ...options });
  stops.push(() => controlPlane.stop());
  const admin = testClient(await controlPlane.kubeconfig());
  stops.push(() => admin.close());
  return { controlPlane, admin };
}

async function until(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`condition does not hold after ${limitMs} ms`);
    await sleep(50);
  }
}

const resourceVersion = async (admin: TestClient): Promise<string> =>
  (await admin.ok<{ metadata: { resourceVersion: string } }>("GET", CONFIG_MAPS)).metadata.resourceVersion;

/** First event of a watch from a version. */
async function firstEvent(
  admin: TestClient,
  version: string,
): Promise<{ type: string; object: { code?: number } }> {
  const abort = new AbortController();
  const path = `${CONFIG_MAPS}?watch=true&resourceVersion=${version}&timeoutSeconds=5`;
  for await (const event of admin.stream<{ type: string; object: { code?: number } }>(path, abort.signal)) {
    abort.abort();
    return event;
  }
  throw new Error("the watch ended without an event");
}

describe("history", () => {
  it("CORE-449 is gone for watches after changes, compaction and a restart; not by compaction alone", async () => {
    const { controlPlane, admin } = await lean();
    const old = await resourceVersion(admin);
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
    await admin.ok("POST", CONFIG_MAPS, configMap);
    expect(await controlPlane.compactEtcd()).toBeGreaterThan(Number(old));
    expect((await firstEvent(admin, old)).type).toBe("ADDED");
    await controlPlane.forgetHistory();
    expect(await firstEvent(admin, old)).toMatchObject({ type: "ERROR", object: { code: 410 } });
    // What was written is still there.
    await admin.ok("GET", `${CONFIG_MAPS}/c`);
  });
});

describe("components", () => {
  it("can be paused, killed and started again", async () => {
    const { controlPlane, admin } = await lean();
    const resume = await controlPlane.pause("kube-apiserver");
    const attempt = admin.request("GET", "/readyz", undefined, { signal: AbortSignal.timeout(500) });
    await expect(attempt).rejects.toThrow("aborted");
    await resume();
    expect((await admin.request("GET", "/readyz")).code).toBe(200);

    await controlPlane.kill("kube-apiserver");
    await expect(admin.request("GET", "/readyz")).rejects.toThrow("ECONNREFUSED");
    await controlPlane.start("kube-apiserver");
    expect((await admin.request("GET", "/readyz")).code).toBe(200);
    const status = await controlPlane.components();
    expect(status.map(({ name, running, starts }) => [name, running, starts])).toEqual([
      ["etcd", true, 1],
      ["kube-apiserver", true, 2],
    ]);
  });

  it("CORE-444 end by SIGTERM, long before the limit, though watches are open", async () => {
    const { controlPlane, admin } = await lean();
    await admin.ok("POST", CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } });
    const watch = admin.stream(`${CONFIG_MAPS}?watch=true&resourceVersion=0`, new AbortController().signal);
    await watch.next();
    const rest = (async () => {
      for await (const _ of watch); // until the server ends it
    })();
    const began = Date.now();
    await controlPlane.restartApiServer();
    await rest;
    expect(Date.now() - began).toBeLessThan(15_000);
  });

  it("lets pods be created without ServiceAccounts when there is no controller manager", async () => {
    const { admin } = await lean();
    await admin.ok("POST", "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
  });

  it("take feature gates and further arguments", async () => {
    const { admin } = await lean({
      featureGates: { WatchList: false },
      apiserverArgs: ["--goaway-chance=0.01"],
      benchmark: true,
      auditPolicy: { requestResponseUsers: ["quartet"] },
    });
    const path = `${CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
    expect((await admin.request("GET", path)).code).toBe(422);
  });
});

describe("audit log", () => {
  it("CORE-451 holds bodies of the users that the policy names", async () => {
    const { controlPlane, admin } = await lean({ auditPolicy: { requestResponseUsers: ["quartet"] } });
    const quartet = testClient(
      await controlPlane.kubeconfig({ user: "quartet", groups: ["system:masters"] }),
    );
    stops.push(() => quartet.close());
    const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    await quartet.ok("POST", CONFIG_MAPS, configMap("a"));
    await admin.ok("POST", CONFIG_MAPS, configMap("b"));
    const creates = await controlPlane.auditEvents(({ verb, objectRef }) => {
      return verb === "create" && objectRef?.resource === "configmaps" && /^[ab]$/.test(objectRef.name ?? "");
    });
    expect(creates.map(({ user }) => user.username)).toEqual(["quartet", "quartet-admin"]);
    expect(creates[0]!.requestObject).toMatchObject({ metadata: { name: "a" } });
    expect(creates[0]!.responseObject).toMatchObject({ metadata: { uid: expect.any(String) } });
    expect(creates[1]!.requestObject).toBeUndefined();
  });

  it("can be left out, and says so", async () => {
    const { controlPlane } = await lean({ auditPolicy: false });
    await expect(controlPlane.requests()).rejects.toThrow("no audit log");
  });
});

describe("work folder", () => {
  it("CORE-442 is removed at the end", async () => {
    const controlPlane = await startControlPlane(LEAN);
    const pids = (await controlPlane.components()).map(({ pid }) => pid);
    expect(pids.every(processExists)).toBe(true);
    await controlPlane.stop();
    expect(existsSync(controlPlane.workDir)).toBe(false);
    expect(pids.some(processExists)).toBe(false);
  });

  it("CORE-442 is kept with all logs when the start fails, and named in the error", async () => {
    const folder = mkdtempSync(join(tmpdir(), "quartet-own-"));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    const broken = join(folder, "kube-apiserver");
    writeFileSync(broken, "#!/bin/sh\necho no luck today\nexit 1\n");
    chmodSync(broken, 0o755);
    const workDir = join(folder, "work");
    const env = { ...process.env, QUARTET_TEST_KUBE_APISERVER: broken };
    const error = await startControlPlane({ ...LEAN, workDir, env }).catch(String);
    expect(error).toContain(`its logs are in ${workDir}`);
    expect(error).toContain("no luck today");
    expect(readdirSync(workDir)).toEqual(expect.arrayContaining(["etcd.log", "kube-apiserver.log"]));
  });
});

describe("end", () => {
  it("CORE-444 leaves no process behind when the owner is killed", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "control-plane.ts"));
    const code = `
      const { startControlPlane } = await import(${module});
      const controlPlane = await startControlPlane(${JSON.stringify(LEAN)});
      const pids = (await controlPlane.components()).map(({ pid }) => pid);
      console.log(JSON.stringify({ pids, workDir: controlPlane.workDir }));
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    const { pids, workDir } = await new Promise<{ pids: number[]; workDir: string }>((resolve) => {
      owner.stdout.once("data", (data: Buffer) => resolve(JSON.parse(data.toString())));
    });
    stops.push(() => rmSync(workDir, { recursive: true, force: true }));
    expect(pids).toHaveLength(2);
    expect(pids.every(processExists)).toBe(true);
    owner.kill("SIGKILL");
    await until(() => !pids.some(processExists));
    expect(readdirSync(workDir)).toEqual(expect.arrayContaining(["etcd.log", "kube-apiserver.log"]));
  });
});
