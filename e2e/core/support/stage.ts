/** What a scenario of the core runs on: an API server, a namespace of its own, and managers of the Echo controller. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControllerModule } from "@quartet/core";
import { type CertificateLives, type RunningManager, runCli, startManager } from "@quartet/manager";
import {
  type ApiServer,
  type CustomResourceDefinition,
  type FaultProxy,
  type RequestRecord,
  startFaultProxy,
  type TestClient,
} from "@quartet/testing";
import { openStage as openCommonStage } from "@quartet/testing/stage";
import { parse } from "yaml";
import { createEchoModule, type EchoOptions } from "../../echo/echo.ts";
import { type CleanupEndpoint, startCleanupEndpoint } from "./cleanup-endpoint.ts";

/** A manager of a scenario. */
export interface StageManager extends RunningManager {
  /** Log lines so far, decoded. */
  readonly log: readonly Record<string, unknown>[];
  /** Sum of the samples of a metric whose labels hold all of these texts, such as `reason="start"`. */
  metric(name: string, ...labels: string[]): Promise<number>;
}

export interface StartOptions extends EchoOptions {
  /** Modules in place of the Echo controller. */
  readonly modules?: readonly ControllerModule[];
  readonly args?: readonly string[];
  /** Life of webhook certificates in milliseconds. */
  readonly certificateLives?: CertificateLives;
}

/** A manager in a process of its own. */
export interface EchoProcess {
  /** Sends SIGKILL and resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface Stage {
  readonly target: ApiServer["target"];
  readonly server: ApiServer;
  readonly client: TestClient;
  readonly namespace: string;
  /** User of the managers: it has the rights that `--print-rbac` names, in this namespace alone. */
  readonly user: string;
  /** On the way between managers and server. */
  readonly proxy: FaultProxy;
  /** Where cleanups arrive. */
  readonly endpoint: CleanupEndpoint;
  start(options?: StartOptions): Promise<StageManager>;
  /** The Echo controller in a process of its own. */
  spawn(): Promise<EchoProcess>;
  /** The command line with these modules, to its end. */
  run(modules: readonly ControllerModule[], ...args: string[]): Promise<{ code: number; stderr: string }>;
  /** Gives the managers' user the rights that modules need. */
  grant(modules: readonly ControllerModule[]): Promise<void>;
  /** Requests of the managers since a moment, in order. */
  requests(since?: number): Promise<RequestRecord[]>;
  /** Their writes as `verb resource[/subresource] name`, events left out. */
  writes(since?: number): Promise<string[]>;
  close(): Promise<void>;
}

/** The CRD of Echo, for another group if asked. */
export function echoCrd(group = "test.quartet.io"): CustomResourceDefinition {
  const text = readFileSync(new URL("../../echo/crd.yaml", import.meta.url), "utf8");
  return parse(text.replaceAll("test.quartet.io", group)) as CustomResourceDefinition;
}

/** Opens a stage on the target of the test run, or on a server of the caller's own. */
export async function openStage(own?: ApiServer): Promise<Stage> {
  const common = await openCommonStage({ crds: [echoCrd()], pods: false, ...(own && { server: own }) });
  const { server, client, namespace, user, requests, writes } = common;
  const proxy = await startFaultProxy({ upstream: server });
  const endpoint = await startCleanupEndpoint();
  const folder = await mkdtemp(join(tmpdir(), "quartet-e2e-"));
  common.onClose(() => rm(folder, { recursive: true, force: true }));
  common.onClose(() => Promise.all([proxy.stop(), endpoint.close()]));
  let granted = false;
  let kubeconfigs = 0;

  const grant = async (modules: readonly ControllerModule[]): Promise<void> => {
    granted = true;
    await common.grant(modules);
  };
  /** Flags of a manager in this namespace; its user gets the rights that it needs. */
  const flagsFor = async (modules: readonly ControllerModule[]): Promise<string[]> => {
    if (!granted) await grant(modules);
    const kubeconfig = join(folder, `${kubeconfigs++}.yaml`);
    await writeFile(kubeconfig, await proxy.kubeconfig({ user, groups: [] }), { mode: 0o600 });
    return [
      `--kubeconfig=${kubeconfig}`,
      `--namespaces=${namespace}`,
      `--leader-election-namespace=${namespace}`,
      `--release-name=${namespace}`,
    ];
  };
  return {
    target: server.target,
    server,
    client,
    namespace,
    user,
    proxy,
    endpoint,
    grant,
    requests,
    writes,
    async start({ modules, args = [], certificateLives, ...options } = {}) {
      const run = modules ?? [createEchoModule({ cleanupUrl: endpoint.url, ...options })];
      const manager = await startStageManager(run, [...(await flagsFor(run)), ...args], certificateLives);
      common.onClose(() => manager.stop());
      return manager;
    },
    async spawn() {
      const process = spawnEcho([endpoint.url, ...(await flagsFor([createEchoModule()])), ...ALONE]);
      common.onClose(() => process.kill());
      return process;
    },
    async run(modules, ...args) {
      let stderr = "";
      const code = await runCli({
        args: [...args, ...(await flagsFor(modules)), ...ALONE],
        env: {},
        modules,
        stdout: { write: () => {} },
        stderr: { write: (text) => (stderr += text) },
        onSignal: () => () => {},
        exit: () => {},
      });
      return { code, stderr };
    },
    async close() {
      proxy.clear();
      await common.close();
    },
  };
}

/** Flags of a process that nobody asks anything. */
const ALONE = [
  ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
  "--webhook-port=-1",
  "--log-level=error",
];

function spawnEcho(args: readonly string[]): EchoProcess {
  const program = join(import.meta.dirname, "echo-process.ts");
  const node = ["--conditions=quartet-source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...node, program, ...args], { stdio: "ignore" });
  const exited = once(child, "exit");
  return {
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const LISTEN = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=127.0.0.1:0`);

async function startStageManager(
  modules: readonly ControllerModule[],
  args: readonly string[],
  certificateLives: CertificateLives | undefined,
): Promise<StageManager> {
  const log: Record<string, unknown>[] = [];
  const webhooks = args.some((arg) => arg.startsWith("--webhook-port"));
  const manager = await startManager({
    modules,
    args: [
      ...LISTEN,
      ...(webhooks ? [] : ["--webhook-port=-1"]),
      "--shutdown-delay=0s",
      "--log-level=debug",
      ...args,
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    logDestination: { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) },
    processMetrics: false,
    ...(certificateLives && { certificateLives }),
  });
  return {
    ...manager,
    log,
    async metric(name, ...labels) {
      const lines = (await manager.manager.metrics.render()).split("\n");
      return lines
        .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
  };
}
