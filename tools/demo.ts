/**
 * `npm run demo`: everything in one process, on an API server that needs no installation.
 *
 * Starts the API server double, the mini-kubelet, simulated Nacos nodes, a Cloudflare API and the manager, then tells of
 * each controller a story of its own, side by side.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MODULES, startManager } from "@quartet/manager";
import {
  createCloudflareDouble,
  createNacosCluster,
  followPods,
  installCrds,
  startDouble,
  startMiniKubelet,
  testClient,
} from "@quartet/testing";
import { parse } from "yaml";
import { confdStory } from "./demo/confd.ts";
import { daemonSetStory } from "./demo/daemonsets.ts";
import { nacosStory } from "./demo/nacos.ts";
import type { Stage } from "./demo/stage.ts";
import { tarsStory } from "./demo/tars.ts";
import { tunnelStory } from "./demo/tunnel.ts";
import { repository } from "./paths.ts";

/** Pods get loopback addresses, so that the simulated Nacos nodes can listen on them; tests use other ones. */
const POD_CIDR = "127.2.0.0/16";
const NODES = ["node-0", "node-1", "node-2"];

const started = performance.now();
/** Prints lines with the seconds since the start and whose they are. */
function say(who: string, text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  for (const line of text.split("\n")) console.log(`${seconds} s  ${who.padEnd(10)}  ${line}`);
}

const folder = mkdtempSync(join(tmpdir(), "quartet-demo-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
const server = await startDouble();
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, await server.kubeconfig(), { mode: 0o600 });
const client = testClient(await server.kubeconfig());
const kubelet = await startMiniKubelet(server, { podCidr: POD_CIDR, nodes: NODES });
say("demo", `API server double at ${server.url}, with a kubelet in miniature and ${NODES.length} nodes`);

const nacos = createNacosCluster();
const unfollow = followPods(nacos, client, { namespace: "default", name: "my-nacos" });
const cloudflare = await createCloudflareDouble();
process.env.CLOUDFLARE_API_BASE_URL = cloudflare.url;
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
    "--webhook-port=0",
    "--shutdown-delay=0s",
  ],
  registerWebhooks: true,
  logDestination: { write: () => {} },
});
await manager.ready;
say("demo", `manager is ready, controllers: ${MODULES.map(({ name }) => name).join(", ")}`);

/** The stage of a story: its name, and how the names of its controllers begin. */
function stageOf(name: string, controllers: string): Stage {
  return {
    client,
    say: (text) => say(name, text),
    requests: async (since) =>
      (await server.requests({ since })).filter(
        ({ userAgent }) => userAgent.startsWith("quartet-manager/") && userAgent.includes(`) ${controllers}`),
      ),
  };
}

try {
  await Promise.all([
    nacosStory(stageOf("nacos", "nacos")),
    daemonSetStory(stageOf("ds-patches", "ds-patches"), NODES),
    tunnelStory(stageOf("tunnel", "tunnel"), cloudflare),
    tarsStory(stageOf("tars", "tars"), NODES),
    confdStory(stageOf("confd", "confd"), folder, kubeconfig),
  ]);
} finally {
  await manager.stop();
  await unfollow();
  await nacos.close();
  await cloudflare.close();
  await kubelet.stop();
  client.close();
  await server.stop();
}
say("demo", "all stopped");
