/** The agent on ConfigMaps and Secrets of a real API server. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { attachControlPlane, type ControlPlane, startControlPlane } from "@quartet/testing";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { becomes, eventually } from "./agent.testkit.ts";
import { createKubernetesBackend } from "./backend/kubernetes/kubernetes.ts";
import { loadSettings } from "./config/settings.ts";
import { type Cluster, createCluster } from "./kubernetes.testkit.ts";
import { startRelay } from "./relay.testkit.ts";

let plane: ControlPlane;
let cluster: Cluster;
beforeEach(async () => {
  plane = attachControlPlane(inject("controlPlane"));
  cluster = await createCluster(plane);
});
afterEach(async () => {
  await cluster.close();
  await plane.stop();
});

const lines = (name: string): number =>
  cluster.scene.exists(name) ? cluster.scene.read(name).split("\n").length - 1 : 0;
const web = (): void =>
  cluster.scene.resource("web", {
    keys: ["/"],
    template: 'level={{getv "/log.level"}} workers={{getv "/workers"}}\n',
    lines: ['prefix = "/configmaps/-/web"', 'reload_cmd = "echo r >> {}/reloads"'],
  });

it("AS-17 CONFD-K8S-5 CONFD-K8S-9 CONFD-K8S-10 a ConfigMap: one update is one reload, labels are none, deleted it leaves the file", async () => {
  const { scene } = cluster;
  await cluster.apply("configmaps", "web", { data: { "log.level": "info", workers: "4" } });
  web();
  const agent = await cluster.watch();
  await becomes(scene, "web", "level=info workers=4\n");
  await cluster.patch("configmaps", "web", { data: { "log.level": "debug", workers: "8" } });
  await becomes(scene, "web", "level=debug workers=8\n");
  await eventually(
    () => lines("reloads"),
    (count) => count === 2,
  );
  await cluster.patch("configmaps", "web", { metadata: { labels: { a: "b" } } });
  await cluster.remove("configmaps", "web");
  await eventually(agent.log, (log) => log.includes("key does not exist"));
  expect(scene.read("web")).toBe("level=debug workers=8\n");
  await cluster.apply("configmaps", "web", { data: { "log.level": "warn", workers: "1" } });
  await becomes(scene, "web", "level=warn workers=1\n");
  await eventually(
    () => lines("reloads"),
    (count) => count === 3,
  );
  expect((await agent.stop()).code).toBe(0);
});

it("AS-18 CONFD-K8S-11 CONFD-K8S-13 CONFD-K8S-14 a Secret with rights for it alone; another one stays refused until it is granted", async () => {
  const { scene, namespace } = cluster;
  const bytes = randomBytes(4000);
  await cluster.apply("secrets", "tls", { data: { key: bytes.toString("base64") } });
  await cluster.apply("secrets", "other", { stringData: { key: "other" } });
  const grant = (name: string) => cluster.grant(name, "confd-user", [{ resource: "secrets", name }]);
  await grant("tls");
  for (const name of ["tls", "other"]) {
    scene.resource(name, {
      keys: [`/secrets/${namespace}/${name}`],
      template: `{{getv "/secrets/${namespace}/${name}/key"}}`,
    });
  }
  const agent = await cluster.watch("confd-user", "--log-level", "trace");
  await eventually(() => scene.exists("tls"), Boolean);
  const digest = (data: Buffer | string): string => createHash("sha256").update(data).digest("hex");
  expect(digest(readFileSync(scene.path("tls")))).toBe(digest(bytes));
  expect(statSync(scene.path("tls")).mode & 0o777).toBe(0o600);
  await eventually(agent.log, (log) =>
    log.includes(`cannot list/watch secrets/other in namespace ${namespace}`),
  );
  expect(agent.log()).toMatch(/secrets .* is forbidden/);
  expect(scene.exists("other")).toBe(false);
  await grant("other");
  await becomes(scene, "other", "other");
  expect(agent.log()).not.toContain(bytes.toString("base64").slice(0, 40));
});

it("CONFD-CFG-17 CONFD-K8S-14 the log has no value of a Secret, not by its template nor by its commands nor by those of other files", async () => {
  const { scene } = cluster;
  await cluster.apply("secrets", "app", { stringData: { password: "very-secret", mode: "bad" } });
  await cluster.apply("configmaps", "app", { data: { colour: "greenish" } });
  const keys = ["/secrets/-/app", "/configmaps/-/app"];
  const line = '{{getv "/secrets/-/app/password"}} {{getv "/configmaps/-/app/colour"}}\n';
  scene.resource("checked", {
    keys,
    template: line,
    lines: ['check_cmd = "echo line 1:; cat {{.src}}; grep -q good {}/mode"'],
  });
  scene.resource("broken", { keys, template: '{{atoi (getv "/secrets/-/app/password")}}' });
  scene.resource("mode", { keys, template: '{{getv "/secrets/-/app/mode"}}' });
  scene.resource("other", {
    keys: ["/configmaps/-/app"],
    template: '{{getv "/configmaps/-/app/colour"}}',
    lines: ['reload_cmd = "cat {}/mode {}/checked; exit 3"'],
  });
  const agent = await cluster.watch(undefined, "--log-level", "trace");
  await eventually(agent.log, (log) =>
    log.includes('Config check failed: exit status 1: "line 1:\\n<hidden> greenish\\n"'),
  );
  await eventually(agent.log, (log) => log.includes("error calling atoi: strconv.Atoi: invalid syntax"));
  await cluster.patch("secrets", "app", { stringData: { mode: "good", password: "other-secret" } });
  await becomes(scene, "checked", "other-secret greenish\n");
  expect(statSync(scene.path("checked")).mode & 0o777).toBe(0o600);
  await eventually(agent.log, (log) =>
    log.includes('Reload failed: exit status 3: "<hidden> greenish\\n"; it stays due'),
  );
  expect((await agent.stop()).stderr).not.toMatch(/very-|other-s/);
});

it("CONFD-K8S-2 CONFD-K8S-3 CONFD-K8S-4 CONFD-K8S-6 a whole namespace, binary data, and trees", async () => {
  const { scene } = cluster;
  await cluster.apply("configmaps", "a", {
    data: { "app.yaml": "db:\n  host: h\n  ports: [1, 2]\n", plain: "é" },
  });
  await cluster.apply("configmaps", "b", {
    binaryData: { raw: Buffer.from([255, 0, 10]).toString("base64") },
  });
  scene.resource("out", {
    keys: ["/configmaps/-"],
    template:
      '{{range ls "/configmaps/-"}}{{.}} {{end}}{{getv "/configmaps/-/a/app.yaml/db/ports/1"}} {{getv "/configmaps/-/a/plain"}} {{printf "%x" (getv "/configmaps/-/b/raw")}}',
  });
  const { code, stderr } = await scene.run([...(await cluster.args()), "--onetime", "--kube-expand"]);
  expect([code, stderr.includes("ERROR")]).toEqual([0, false]);
  // The controller manager may have put its own ConfigMap there.
  expect(scene.read("out").replace("kube-root-ca.crt ", "")).toBe("a b 2 é ff000a");
  scene.resource("out", { keys: ["/pods/x"], template: "" });
  const unknown = await scene.run([...(await cluster.args()), "--onetime"]);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain('unknown kind "pods"');
});

it("CONFD-K8S-11 what changed while the objects were refused is read when they are granted again", async () => {
  const { scene } = cluster;
  const relay = await startRelay(new URL(cluster.server).host);
  try {
    await cluster.apply("configmaps", "web", { data: { v: "1" } });
    scene.resource("web", {
      keys: ["/v"],
      template: '{{getv "/v"}}',
      lines: ['prefix = "/configmaps/-/web"'],
    });
    const grant = () => cluster.grant("web", "confd-user", [{ resource: "configmaps", name: "web" }]);
    await grant();
    cluster.through(relay.address);
    const agent = await cluster.watch("confd-user", "--resync-interval", "0");
    await becomes(scene, "web", "1");
    await cluster.revoke("web");
    relay.cut();
    await eventually(agent.log, (log) => /configmaps .* is forbidden/.test(log));
    await cluster.patch("configmaps", "web", { data: { v: "2" } });
    await grant();
    await becomes(scene, "web", "2");
    expect((await agent.stop()).code).toBe(0);
  } finally {
    await relay.close();
  }
});

it("CONFD-K8S-17 a watch that hangs is begun again where it was", async () => {
  const relay = await startRelay(new URL(cluster.server).host);
  const stop = new AbortController();
  let changes = 0;
  const notices: string[] = [];
  try {
    await cluster.apply("configmaps", "web", { data: { v: "1" } });
    cluster.through(relay.address);
    await cluster.args();
    const { settings } = loadSettings(new Map([["kubeconfig", cluster.scene.path("kubeconfig-admin")]]), {});
    const backend = await createKubernetesBackend({ settings, environment: {}, silenceMs: 2000 });
    const range = `/configmaps/${cluster.namespace}/web`;
    const value = async (): Promise<string | undefined> =>
      (await backend.read([range], { signal: stop.signal })).values.get(`${range}/v`);
    const ready = Promise.withResolvers<void>();
    const watching = backend.watch!(
      [range],
      {
        onReady: () => ready.resolve(),
        onChange: () => {
          changes += 1;
        },
        onNotice: (_level, message) => notices.push(message),
      },
      stop.signal,
    );
    await ready.promise;
    await cluster.patch("configmaps", "web", { data: { v: "2" } });
    await eventually(value, (seen) => seen === "2");
    relay.freeze();
    await cluster.patch("configmaps", "web", { data: { v: "3" } });
    await eventually(value, (seen) => seen === "3");
    expect(changes).toBe(2);
    expect(notices).toEqual([]);
    stop.abort();
    await watching;
    await backend.close();
  } finally {
    stop.abort();
    await relay.close();
  }
});

it("AS-19 CONFD-K8S-7 CONFD-K8S-12 goes on after an outage in which the API server restarted and forgot its history", async () => {
  const own = await startControlPlane({ controllerManager: false, scheduler: false, kwok: false });
  const apart = await createCluster(own);
  const relay = await startRelay(new URL(apart.server).host);
  try {
    const { scene } = apart;
    await apart.apply("configmaps", "web", { data: { v: "1" } });
    await apart.apply("configmaps", "same", { data: { v: "1" } });
    for (const name of ["web", "same"]) {
      scene.resource(name, {
        keys: ["/v"],
        template: '{{getv "/v"}}',
        lines: [`prefix = "/configmaps/-/${name}"`, `reload_cmd = "echo r >> {}/reloads-${name}"`],
      });
    }
    apart.through(relay.address);
    const agent = await apart.watch();
    for (const name of ["web", "same"]) await becomes(scene, `reloads-${name}`, "r\n");
    relay.refuse(true);
    relay.cut();
    await eventually(agent.log, (log) => log.includes("cannot list/watch configmaps/web"));
    await apart.patch("configmaps", "web", { data: { v: "2" } });
    await own.forgetHistory();
    expect(scene.read("web")).toBe("1");
    relay.refuse(false);
    await becomes(scene, "web", "2");
    await apart.patch("configmaps", "same", { data: { v: "2" } });
    await becomes(scene, "same", "2");
    await apart.patch("configmaps", "web", { data: { v: "3" } });
    for (const [name, reloads] of [
      ["web", 3],
      ["same", 2],
    ] as const) {
      await becomes(scene, `reloads-${name}`, "r\n".repeat(reloads));
    }
    expect((await agent.stop()).code).toBe(0);
    for (const [name, reloads] of [
      ["web", 3],
      ["same", 2],
    ] as const) {
      expect(scene.read(`reloads-${name}`)).toBe("r\n".repeat(reloads));
    }
  } finally {
    await apart.close();
    await relay.close();
    await own.stop();
  }
});
