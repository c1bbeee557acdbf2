/** The bundled program on the oldest Node that it promises to run on, and on the one that it is built with. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { attachControlPlane, testClient, testNamespace } from "@quartet/testing";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { bundle } from "../../packages/manager/bundle.ts";
import { eventually } from "./support/echoes.ts";

/** Node 22.19, from the npm registry like the pinned one. */
const FLOOR = join(dirname(createRequire(import.meta.url).resolve("node-floor/package.json")), "bin/node");

let folder: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartet-floor-"));
  program = join(folder, "manager.mjs");
  await bundle({ outfile: program });
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["22.19", FLOOR],
  ["24", process.execPath],
])(
  "CORE-422 the bundle reads a kubeconfig, works and ends cleanly on Node %s",
  async (version, node) => {
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`^v${version}\\.`));
    const server = attachControlPlane(inject("controlPlane"));
    const client = testClient(await server.kubeconfig());
    const namespace = await testNamespace(client);
    const kubeconfig = join(folder, `${namespace.name}.yaml`);
    writeFileSync(kubeconfig, await server.kubeconfig(), { mode: 0o600 });
    const listen = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`);
    const flags = [`--kubeconfig=${kubeconfig}`, `--namespaces=${namespace.name}`, "--webhook-port=-1"];
    const child = spawn(node, [program, "run", ...flags, ...listen], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH },
    });
    const exited = once(child, "exit");
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    try {
      // It has read discovery and lists: the controller runs, or knows that its CRD is not there.
      await eventually(() => {
        expect(child.exitCode, log).toBeNull();
        expect(log).toMatch(/"to":"(Running|WaitingForCRD)"/);
      });
      child.kill("SIGTERM");
      expect((await exited)[0], log).toBe(0);
    } finally {
      child.kill("SIGKILL");
      await namespace.empty();
      client.close();
      await server.stop();
    }
  },
  60_000,
);
