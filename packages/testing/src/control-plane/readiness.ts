/** Waiting until a component answers. */
import { readFile } from "node:fs/promises";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../request.ts";
import { type ComponentName, type Ports, workFiles } from "./components.ts";
import type { Supervisor } from "./supervisor-client.ts";

/** Pause between two polls, and how long a control plane may take. */
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 2_000;
export const READY_LIMIT_MS = 60_000;
/** A component that ends while it waits for the API server is started again, as often as envtest tries. */
const MAX_STARTS = 5;
/** Lines of a log that an error quotes. */
const LOG_LINES = 15;

export interface Probes {
  supervisor: Supervisor;
  ports: Ports;
  workDir: string;
  /** Client with the rights of an administrator. */
  admin: TestClient;
}

/** Resolves when the component answers. Throws with the end of its log when it does not within the limit. */
export async function waitForComponent(name: ComponentName, probes: Probes): Promise<void> {
  const deadline = Date.now() + READY_LIMIT_MS;
  while (!(await CHECKS[name](probes))) {
    await restartIfEnded(name, probes);
    if (Date.now() > deadline) {
      throw new Error(
        `${name} is not ready after ${READY_LIMIT_MS / 1000} s:\n${await logTail(name, probes.workDir)}`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** Resolves when the namespace `default` exists, and with the controller manager its ServiceAccount too. */
export async function waitForDefaults(probes: Probes, serviceAccount: boolean): Promise<void> {
  const path = `/api/v1/namespaces/default${serviceAccount ? "/serviceaccounts/default" : ""}`;
  const deadline = Date.now() + READY_LIMIT_MS;
  while (!(await answersOk(probes.admin, path))) {
    if (Date.now() > deadline) throw new Error(`${path} does not exist after ${READY_LIMIT_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}

type Check = (probes: Probes) => Promise<boolean>;

const CHECKS: Record<ComponentName, Check> = {
  etcd: async ({ ports }) =>
    (await textOf(`http://127.0.0.1:${ports.etcdClient}/health`)).includes('"health":"true"'),
  "kube-apiserver": ({ admin }) => answersOk(admin, "/readyz"),
  "kube-controller-manager": async ({ ports }) =>
    (await textOf(`https://127.0.0.1:${ports.controllerManager}/healthz`)) === "ok",
  "kube-scheduler": async ({ ports }) =>
    (await textOf(`https://127.0.0.1:${ports.scheduler}/readyz`)) === "ok",
  kwok: async ({ ports }) => (await textOf(`http://127.0.0.1:${ports.kwok}/healthz`)) === "ok",
};

async function restartIfEnded(name: ComponentName, probes: Probes): Promise<void> {
  const status = (await probes.supervisor.status()).find((component) => component.name === name);
  if (status === undefined || status.running) return;
  if (status.starts >= MAX_STARTS) {
    throw new Error(`${name} ended ${status.starts} times:\n${await logTail(name, probes.workDir)}`);
  }
  await probes.supervisor.restart(name);
}

async function answersOk(client: TestClient, path: string): Promise<boolean> {
  try {
    const { code } = await client.request("GET", path);
    return code < 400;
  } catch {
    return false;
  }
}

/** Body of an answer; empty when there is none. The probed certificates are self-signed ones of the components. */
function textOf(url: string): Promise<string> {
  return new Promise((resolve) => {
    const get = url.startsWith("https:") ? getHttps : getHttp;
    const request = get(
      url,
      { agent: false, timeout: PROBE_TIMEOUT_MS, rejectUnauthorized: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
        response.on("error", () => resolve(""));
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(""));
  });
}

async function logTail(name: string, workDir: string): Promise<string> {
  return (await logText(workDir, name)).trim().split("\n").slice(-LOG_LINES).join("\n");
}

async function logText(workDir: string, name: string): Promise<string> {
  try {
    return await readFile(workFiles(workDir).log(name), "utf8");
  } catch {
    return "";
  }
}
