/** `npm run control-plane`, as a user runs it. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { findAssets } from "./assets.ts";
import { MODULE_DIR } from "./programs.ts";

const MAIN = ["--conditions=quartet-source", join(MODULE_DIR, "main.ts")];
const env = { ...process.env, NODE_OPTIONS: "" };

it("prints the folder of the programs on stdout", () => {
  const { stdout, status } = spawnSync(process.execPath, [...MAIN, "assets"], { env, encoding: "utf8" });
  expect(status).toBe(0);
  expect(readdirSync(stdout.trim())).toEqual(expect.arrayContaining(["kube-apiserver", "etcd", "kubectl"]));
});

it("explains itself, and refuses what it does not know", () => {
  const help = spawnSync(process.execPath, [...MAIN, "--help"], { env, encoding: "utf8" });
  expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining("usage: control-plane") });
  const wrong = spawnSync(process.execPath, [...MAIN, "stop"], { env, encoding: "utf8" });
  expect(wrong).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("usage:") });
});

it("starts a control plane that kubectl works against, and Ctrl-C stops all of it", async () => {
  const child = spawn(process.execPath, [...MAIN, "start", "--nodes=2"], { env, stdio: "pipe" });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
      if (stdout.includes("# kubectl:")) resolve();
    });
    void exited.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  const kubeconfig = /^export KUBECONFIG=(.+)$/m.exec(stdout)?.[1] ?? "";
  const kubectl = /^# kubectl: (.+)$/m.exec(stdout)?.[1] ?? "";
  expect(kubectl).toBe(findAssets().programs.kubectl);
  const run = (...args: string[]): string =>
    spawnSync(kubectl, args, { env: { ...env, KUBECONFIG: kubeconfig }, encoding: "utf8" }).stdout;
  expect(run("get", "nodes", "--output=name").trim().split("\n")).toEqual(["node/node-0", "node/node-1"]);
  run("create", "deployment", "web", "--image=web:1", "--replicas=2");
  const rollout = run("rollout", "status", "deployment/web", "--timeout=30s");
  expect(rollout).toContain("successfully rolled out");
  // Claims are bound, and grow.
  const claim = (size: string): string =>
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } },
    });
  const apply = (text: string): void => {
    spawnSync(kubectl, ["apply", "--filename=-"], { env: { ...env, KUBECONFIG: kubeconfig }, input: text });
  };
  apply(claim("1Gi"));
  const wait = (path: string): string => run("wait", "pvc/data", `--for=jsonpath=${path}`, "--timeout=30s");
  expect(wait("{.status.phase}=Bound")).toContain("condition met");
  apply(claim("2Gi"));
  expect(wait("{.status.capacity.storage}=2Gi")).toContain("condition met");

  child.kill("SIGINT");
  expect(await exited).toBe(0);
  expect(existsSync(dirname(kubeconfig))).toBe(false);
  const left = spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout;
  expect(left).not.toContain(dirname(kubeconfig));
});
