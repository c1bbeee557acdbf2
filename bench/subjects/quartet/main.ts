/** The Echo controller of the scenarios on quartet, with 16 workers and no client-side limit of requests. */
import { parseArgs } from "node:util";
import { type ControllerModule, defineKind } from "@quartet/core";
import { createEchoModule } from "@quartet/e2e/echo/echo.ts";
import { startManager } from "@quartet/manager";

const PODS = defineKind({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });

const { values } = parseArgs({
  options: {
    "server-config": { type: "string", default: "" },
    namespace: { type: "string", default: "" },
    "leader-elect": { type: "boolean", default: false },
    "cache-pods": { type: "string", default: "" },
    metrics: { type: "string", default: "0" },
    health: { type: "string", default: "0" },
  },
});

/** Keeps all pods in memory, to measure it. */
const podCache: ControllerModule = {
  name: "pods",
  aliases: [],
  kinds: [],
  crds: [],
  rights: [],
  flags: [],
  build({ sources }) {
    sources.open(PODS, {
      projection: values["cache-pods"] === "metadata" ? "metadata" : "full",
      namespaces: [values.namespace],
    });
  },
};

const { webhooks: _, ...echo } = createEchoModule();
const manager = await startManager({
  modules: [echo, ...(values["cache-pods"] === "" ? [] : [podCache])],
  args: [
    `--kubeconfig=${values["server-config"]}`,
    `--namespaces=${values.namespace}`,
    `--leader-elect=${values["leader-elect"]}`,
    "--leader-election-id=quartet-bench",
    "--leader-election-namespace=default",
    "--max-concurrent-reconciles=16",
    `--metrics-bind-address=${values.metrics}`,
    `--health-probe-bind-address=${values.health}`,
    "--debug-bind-address=0",
    "--shutdown-delay=0s",
  ],
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void manager.stop());
const { code } = await manager.ended;
process.exitCode = code;
