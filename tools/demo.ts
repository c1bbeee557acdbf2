/**
 * `npm run demo`: everything in one process, on an API server that needs no installation.
 *
 * Starts the API server double, the mini-kubelet, simulated Nacos nodes and the manager; applies the sample of each
 * controller that exists, edits a configuration, and tells what happened.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MODULES, startManager } from "@quartet/manager";
import {
  createNacosCluster,
  followPods,
  installCrds,
  startDouble,
  startMiniKubelet,
  testClient,
} from "@quartet/testing";
import { parse, parseAllDocuments } from "yaml";
import { nacosStory } from "./demo/nacos.ts";
import { repository } from "./paths.ts";

/** Pods get loopback addresses, so that the simulated Nacos nodes can listen on them. */
const POD_CIDR = "127.1.0.0/16";
const SAMPLE = "samples/nacos/cluster.yaml";

const started = performance.now();
/** Prints a line with the seconds since the start. */
function say(text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  for (const line of text.split("\n")) console.log(`${seconds} s  ${line}`);
}

const folder = mkdtempSync(join(tmpdir(), "quartet-demo-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
const server = await startDouble();
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, await server.kubeconfig(), { mode: 0o600 });
const client = testClient(await server.kubeconfig());
const kubelet = await startMiniKubelet(server, { podCidr: POD_CIDR });
say(`API server double at ${server.url}, with a kubelet in miniature`);

const nacos = createNacosCluster();
const unfollow = followPods(nacos, client, { namespace: "default", name: "my-nacos" });
const crds = MODULES.flatMap((module) => module.crds).map((file) =>
  readFileSync(`${repository}/crds/${file}`, "utf8"),
);
await installCrds(
  client,
  crds.map((text) => parse(text)),
);
const manager = await startManager({
  modules: MODULES,
  args: [
    `--kubeconfig=${kubeconfig}`,
    "--metrics-bind-address=127.0.0.1:0",
    "--health-probe-bind-address=127.0.0.1:0",
    "--debug-bind-address=0",
    // Webhooks are what a cluster calls; the demo shows the controllers.
    "--webhook-port=-1",
    "--shutdown-delay=0s",
  ],
  logDestination: { write: () => {} },
});
await manager.ready;
say(`manager is ready, controllers: ${MODULES.map(({ name }) => name).join(", ")}`);

try {
  const objects = parseAllDocuments(readFileSync(`${repository}/${SAMPLE}`, "utf8")).map((document) =>
    document.toJS(),
  );
  await nacosStory({ client, say, requests: (since) => server.requests({ since }) }, objects, SAMPLE);
} finally {
  await manager.stop();
  await unfollow();
  await nacos.close();
  await kubelet.stop();
  client.close();
  await server.stop();
}
say("all stopped");
