/** What the agent asks of a real API server, and when it begins to work with the answer. */
import { attachControlPlane, type ControlPlane } from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { becomes, eventually } from "./agent.testkit.ts";
import { type Cluster, createCluster } from "./kubernetes.testkit.ts";
import { type Relay, startRelay } from "./relay.testkit.ts";

let plane: ControlPlane;
let cluster: Cluster;
let relay: Relay | undefined;
beforeEach(async () => {
  plane = attachControlPlane(inject("controlPlane"));
  cluster = await createCluster(plane);
});
afterEach(async () => {
  await cluster.close();
  await relay?.close();
  relay = undefined;
  await plane.stop();
});

it("CONFD-K8S-8 a resource of two objects waits until both could be listed", async () => {
  const { scene } = cluster;
  await cluster.apply("configmaps", "web", { data: { name: "n" } });
  await cluster.apply("secrets", "tls", { stringData: { key: "k" } });
  await cluster.grant("first", "reader", [{ resource: "configmaps", name: "web" }]);
  scene.resource("out", {
    keys: ["/configmaps/-/web", "/secrets/-/tls"],
    template: '{{getv "/configmaps/-/web/name" "-"}} {{getv "/secrets/-/tls/key" "-"}}',
  });
  const agent = await cluster.watch("reader");
  await eventually(agent.log, (log) => log.includes("cannot list/watch secrets/tls"));
  await cluster.patch("configmaps", "web", { data: { name: "other" } });
  await eventually(agent.log, (log) => /ERROR .*cannot read from kubernetes/.test(log));
  expect(scene.exists("out")).toBe(false);
  await cluster.grant("second", "reader", [{ resource: "secrets", name: "tls" }]);
  await becomes(scene, "out", "other k");
});

it("CONFD-K8S-15 of a namespace of many ConfigMaps only the one that is named is sent", async () => {
  const { scene } = cluster;
  const crowd = 200;
  const size = 20_000;
  const text = "x".repeat(size);
  for (let i = 0; i < crowd; i++) await cluster.apply("configmaps", `other${i}`, { data: { text } });
  await cluster.apply("configmaps", "web", { data: { name: "n" } });
  relay = await startRelay(new URL(cluster.server).host);
  scene.resource("out", {
    keys: ["/configmaps/-/web"],
    template: '{{range gets "/configmaps/-/web/*"}}{{.Value}}{{end}}',
  });
  cluster.through(relay.address);
  await cluster.watch();
  await becomes(scene, "out", "n");
  for (let i = 0; i < 20; i++) await cluster.patch("configmaps", `other${i}`, { data: { text: `${text}y` } });
  await cluster.patch("configmaps", "web", { data: { name: "last" } });
  await becomes(scene, "out", "last");
  expect(relay.received.bytes).toBeGreaterThan(0);
  expect(relay.received.bytes).toBeLessThan(5 * size);
});
