/** A sidecar for nginx: an edited ConfigMap reloads it without a restart. */
import { type ChildProcess, spawn } from "node:child_process";
import { attachControlPlane, type ControlPlane, portAllocator } from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { eventually } from "./agent.testkit.ts";
import { type Cluster, createCluster } from "./kubernetes.testkit.ts";

const NGINX_PATH = `${process.env.PATH}:/usr/sbin`;
let plane: ControlPlane;
let cluster: Cluster;
let nginx: ChildProcess | undefined;
const ports = portAllocator();
beforeEach(async () => {
  plane = attachControlPlane(inject("controlPlane"));
  cluster = await createCluster(plane);
});
afterEach(async () => {
  if (nginx?.exitCode === null) {
    const gone = new Promise((resolve) => nginx?.once("exit", resolve));
    nginx.kill("SIGTERM");
    await gone;
  }
  ports.releaseAll();
  await cluster.close();
  await plane.stop();
});

it("CONFD-K8S-16 CONFD-CMD-2 CONFD-CMD-3 nginx serves the edited configuration, and keeps the old one when the check fails", async () => {
  const { scene } = cluster;
  const port = await ports.allocate();
  await cluster.apply("configmaps", "nginx", { data: { greeting: "hello", extra: "" } });
  scene.resource("nginx.conf", {
    keys: ["/"],
    template: [
      "daemon off;",
      `pid ${scene.path("nginx.pid")};`,
      `error_log ${scene.path("error.log")};`,
      "events {}",
      "http {",
      "  access_log off;",
      `  server { listen 127.0.0.1:${port}; location / { return 200 "{{getv "/greeting"}}"; } }`,
      '  {{getv "/extra"}}',
      "}",
      "",
    ].join("\n"),
    lines: [
      'prefix = "/configmaps/-/nginx"',
      `check_cmd = "nginx -t -q -c {{.src}} -p {}"`,
      `reload_cmd = "test ! -s {}/nginx.pid || kill -HUP $(cat {}/nginx.pid)"`,
    ],
  });
  const environment = { PATH: NGINX_PATH };
  const args = await cluster.args();
  expect((await scene.run([...args, "--onetime"], environment)).code).toBe(0);
  nginx = spawn("nginx", ["-c", scene.path("nginx.conf"), "-p", scene.folder], {
    stdio: "ignore",
    env: environment,
  });
  const agent = scene.start([...args, "--watch"], environment);
  const served = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }).then(
      (response) => response.text(),
      () => "",
    );
  await eventually(served, (text) => text === "hello");
  const pid = scene.read("nginx.pid");
  await cluster.patch("configmaps", "nginx", { data: { greeting: "good day" } });
  await eventually(served, (text) => text === "good day");
  await cluster.patch("configmaps", "nginx", { data: { greeting: "broken", extra: "no such directive;" } });
  await eventually(
    agent.log,
    (log) => log.includes("Config check failed: exit status 1") && log.includes("no"),
  );
  expect(await served()).toBe("good day");
  expect(scene.read("nginx.conf")).toContain("good day");
  await cluster.patch("configmaps", "nginx", { data: { greeting: "well again", extra: "" } });
  await eventually(served, (text) => text === "well again");
  expect(scene.read("nginx.pid")).toBe(pid);
  expect((await agent.stop()).code).toBe(0);
});
