/**
 * `npm run control-plane`: starts a real control plane with a node, and prints how to use it; Ctrl-C stops it.
 * `npm run -s control-plane -- assets`: prints the folder of its programs, building what is missing.
 *
 * stdout carries what a shell can `eval`, progress goes to stderr.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { addNode, ensureAssets, startControlPlane, startProvisioner, testClient } from "@quartet/testing";

const USAGE = `usage: control-plane [start] [--nodes N] [--pod-cidr RANGE]
       control-plane assets

start   starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok; Ctrl-C stops them. Claims of the
        storage class "standard", the default, get volumes
        --nodes N         nodes to create, default 1
        --pod-cidr RANGE  range of pod addresses, default 10.1.0.0/16
assets  prints the folder of the programs, building what is missing`;

const progress = (line: string): void => console.error(line);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      nodes: { type: "string", default: "1" },
      "pod-cidr": { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [command = "start", ...rest] = positionals;
  const nodes = Number(values.nodes);
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (rest.length > 0 || !["start", "assets"].includes(command) || !Number.isInteger(nodes) || nodes < 0) {
    console.error(USAGE);
    return 2;
  }
  if (command === "assets") await printAssets();
  else await start(nodes, values["pod-cidr"]);
  return 0;
}

/** Prints the folder; its value serves as `KUBEBUILDER_ASSETS`. */
async function printAssets(): Promise<void> {
  const { programs } = await ensureAssets({ onProgress: progress });
  console.log(dirname(programs["kube-apiserver"]!));
}

async function start(nodes: number, podCidr: string | undefined): Promise<void> {
  const stopped = stopSignal();
  const assets = await ensureAssets({ onProgress: progress });
  progress(`starting ${assets.version}`);
  const controlPlane = await startControlPlane({
    onProgress: progress,
    ...(podCidr === undefined ? {} : { podCidr }),
  });
  let stopProvisioner = async (): Promise<void> => {};
  try {
    const kubeconfig = await controlPlane.kubeconfig();
    const file = join(controlPlane.workDir, "admin.kubeconfig");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    const client = testClient(kubeconfig);
    for (let index = 0; index < nodes; index++) await addNode(client, `node-${index}`);
    stopProvisioner = await startProvisioner(client);
    console.log(`export KUBECONFIG=${file}`);
    console.log(`# kubectl: ${assets.programs.kubectl}`);
    progress(`logs: ${controlPlane.workDir}; Ctrl-C stops it`);
    await stopped;
    progress("stopping");
  } finally {
    await stopProvisioner();
    await controlPlane.stop();
  }
}

/** Resolves at Ctrl-C, SIGTERM or when the terminal is closed. The handlers stay: a second signal does not hurry. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    // A pending promise alone keeps no process alive.
    const alive = setInterval(() => {}, 60_000);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        clearInterval(alive);
        resolve();
      });
    }
  });
}
