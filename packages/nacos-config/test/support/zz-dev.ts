import { readFileSync, writeFileSync } from "node:fs";
import { addNode, installCrds, startControlPlane, testClient } from "@quartet/testing";
import { parse } from "yaml";
import { startTestManager } from "./manager.ts";

const cp = await startControlPlane({ podCidr: "127.1.0.0/16" });
const kc = await cp.kubeconfig();
writeFileSync("/tmp/nacos/kc", kc);
const c = testClient(kc);
await addNode(c, "node-0");
await installCrds(c, [parse(readFileSync("/work/main/crds/nacos.io_nacos.yaml", "utf8"))]);
console.log("cp up");
const m = await startTestManager({ kubeconfig: kc, flags: { "nacos-skip-node-check": true } });
console.log("manager up");
process.on("SIGINT", async () => {
  await m.stop();
  await cp.stop();
  process.exit(0);
});
process.on("SIGUSR2", () => writeFileSync("/tmp/nacos/mlog", m.log()));
process.on("SIGTERM", async () => {
  await m.stop();
  await cp.stop();
  process.exit(0);
});
setInterval(() => writeFileSync("/tmp/nacos/mlog", m.log()), 1000);
