/** A cluster of three real etcd servers that loses members. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { type EtcdCluster, startEtcdCluster } from "./etcd-cluster.testkit.ts";

let scene: Scene;
let cluster: EtcdCluster;
beforeEach(async () => {
  scene = createScene();
  cluster = await startEtcdCluster(3);
  await cluster.put("/app/name", "one");
  scene.resource("out", {
    keys: ["/app"],
    template: '{{getv "/app/name"}}',
    lines: ['reload_cmd = "echo r >> {}/reloads"'],
  });
});
afterEach(async () => {
  await scene.close();
  await cluster.close();
});
const watch = (): RunningAgent => {
  const nodes = cluster.members.flatMap(({ address }) => ["--node", address]);
  return scene.start([
    "etcdv3",
    ...nodes,
    "--watch",
    "--watch-error-backoff",
    "100ms",
    "--dial-timeout",
    "1s",
  ]);
};

it("CONFD-ETCD-6 CONFD-WATCH-9 each member in turn may go: no change is lost, and nothing is reloaded without one", async () => {
  const agent = watch();
  await becomes(scene, "out", "one");
  for (const [index, member] of cluster.members.entries()) {
    await member.kill();
    await cluster.put("/app/name", `without ${index}`);
    await becomes(scene, "out", `without ${index}`);
    await member.start();
  }
  await becomes(scene, "reloads", "r\n".repeat(4));
  expect(agent.log()).not.toContain("Unable to process");
});

it("CONFD-ETCD-7 CONFD-WATCH-10 a member that is cut off from the others is left, or waited for", async () => {
  const agent = watch();
  await becomes(scene, "out", "one");
  const [, second, third] = cluster.members;
  await second!.kill();
  await third!.kill();
  await eventually(agent.log, (log) => log.includes("ERROR"));
  expect(scene.read("out")).toBe("one");
  await Promise.all([second!.start(), third!.start()]);
  await cluster.put("/app/name", "together");
  await becomes(scene, "out", "together");
});

it("CONFD-WATCH-7 CONFD-READ-5 what was compacted while the agent's member was away is read anew", async () => {
  const agent = watch();
  await becomes(scene, "out", "one");
  agent.signal("SIGSTOP");
  await cluster.members[0]!.kill();
  for (let i = 0; i < 20; i++) await cluster.put("/app/name", `n${i}`);
  await cluster.compact();
  agent.signal("SIGCONT");
  await becomes(scene, "out", "n19");
  await cluster.put("/app/name", "last");
  await becomes(scene, "out", "last");
});
