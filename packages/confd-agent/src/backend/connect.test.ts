import { afterEach, beforeEach, expect, it } from "vitest";
import { createScene, type Scene } from "../agent.testkit.ts";
import { BACKENDS } from "../config/flags.ts";
import { loadSettings } from "../config/settings.ts";
import { connectBackend } from "./connect.ts";

let scene: Scene;
beforeEach(() => {
  scene = createScene();
  scene.write("values.yaml", "name: n\n");
  scene.write(
    "kubeconfig",
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
});
afterEach(() => scene.close());

/** What the rule book says of each backend. */
const MATRIX: Readonly<Record<string, { watch: boolean; constant?: boolean; secret?: boolean }>> = {
  etcd: { watch: true },
  etcdv3: { watch: true },
  redis: { watch: true },
  kubernetes: { watch: true, secret: true },
  file: { watch: true },
  env: { watch: false, constant: true },
  consul: { watch: true },
  vault: { watch: false, secret: true },
  zookeeper: { watch: true },
};

it("CONFD-BE-8 backends watch, stay as they are, and hold secrets as the matrix says", async () => {
  expect(Object.keys(MATRIX).sort()).toEqual([...BACKENDS].sort());
  for (const [backend, { watch, constant = false, secret = false }] of Object.entries(MATRIX)) {
    const { settings } = loadSettings(new Map(), {});
    const own = {
      ...settings,
      backend,
      nodes: ["127.0.0.1:1"],
      file: [scene.path("values.yaml")],
      kubeconfig: scene.path("kubeconfig"),
      authToken: "t",
    };
    const made = await connectBackend(own, { NAME: "n" }, () => {});
    expect([backend, made.watch !== undefined, made.constant === true]).toEqual([backend, watch, constant]);
    expect([backend, made.isSecret?.("/secrets/a") === true]).toEqual([backend, secret]);
    await made.close();
  }
});
