/** What other programs find at a resource: kubectl wait, autoscalers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAssets } from "@quartet/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createBase, eventually, nodesOf, type Objects, objectsOf } from "./support/objects.ts";
import { NO_CHECK, openStage, type Stage } from "./support/stage.ts";

let stage: Stage;
let objects: Objects;
beforeEach(async () => {
  stage = await openStage();
  objects = objectsOf(stage);
});
afterEach(() => stage.close());

/** Runs kubectl as an administrator in the stage's namespace. */
async function kubectl(...args: string[]): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), "quartet-kubectl-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, await stage.server.kubeconfig(), { mode: 0o600 });
    const place = [`--kubeconfig=${kubeconfig}`, `--namespace=${stage.namespace}`, `--cache-dir=${folder}`];
    const child = spawn(findAssets().programs.kubectl ?? "kubectl", [...args, ...place]);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const [code] = (await once(child, "close")) as [number];
    return { code, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("NACOS-921 NACOS-911: the condition Ready stands among the conditions, behind the nodes, and kubectl waits for it", async () => {
  await stage.startManager(NO_CHECK);
  await createBase(objects);
  const resource = await eventually(async () => {
    const found = await objects.get("nacos", "demo");
    expect(found.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    return found;
  }, 60_000);
  const { conditions = [], operatorConditions = [] } = resource.status ?? {};
  expect(nodesOf(resource).map(({ podName }) => podName)).toEqual(["demo-0", "demo-1", "demo-2"]);
  expect(conditions.slice(3)).toEqual(operatorConditions);
  expect(new Set(conditions.slice(3).map(({ type }) => type)).size).toBe(operatorConditions.length);
  if (stage.target === "real") {
    const waited = await kubectl("wait", "--for=condition=Ready", "nacos/demo", "--timeout=60s");
    expect(waited, waited.output).toMatchObject({ code: 0 });
  }
  // While nodes are not asked their entries stay, and the others are not repeated again.
  await objects.patch("nacos", "demo", { spec: { replicas: 0 } });
  await eventually(async () => {
    const { status } = await objects.get("nacos", "demo");
    const types = status?.conditions?.filter(({ podName }) => podName === undefined).map(({ type }) => type);
    expect(types).toEqual(status?.operatorConditions?.map(({ type }) => type));
    expect(status?.operatorConditions).toContainEqual(expect.objectContaining({ reason: "ScaledToZero" }));
  }, 60_000);
});

it("NACOS-922: an autoscaler finds the pods by the selector of the scale", async () => {
  await stage.startManager(NO_CHECK);
  await createBase(objects);
  const path = `/apis/nacos.io/v1alpha1/namespaces/${stage.namespace}/nacos/demo/scale`;
  interface Scale {
    spec: { replicas: number };
    status: { replicas: number; selector?: string };
  }
  const scale = await eventually(async () => {
    const found = await stage.client.ok<Scale>("GET", path);
    expect(found.status).toMatchObject({ replicas: 3, selector: expect.stringContaining("app=demo") });
    return found;
  }, 60_000);
  const query = new URLSearchParams({ labelSelector: scale.status.selector! });
  const pods = await stage.client.ok<{ items: unknown[] }>(
    "GET",
    `/api/v1/namespaces/${stage.namespace}/pods?${query}`,
  );
  expect(pods.items).toHaveLength(3);
});
