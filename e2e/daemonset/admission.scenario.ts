/** What a cluster says of DaemonSets in owner mode: the API server asks the webhooks of a manager. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dsPatchesModule } from "@quartet/ds-patches";
import { main, REFUSED_PATCHES, TEMPLATE } from "@quartet/ds-patches/testkit";
import { startManager } from "@quartet/manager";
import { addNode } from "@quartet/testing";
import { type Arena, startArena } from "@quartet/testing/replay";
import { eventually } from "@quartet/testing/stage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const START_MS = 180_000;
const SETS = "/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets";
const DRY = "?dryRun=All";
const LARGE = { matchLabels: { size: "large" } };

let arena: Arena;
let folder: string;
let manager: Awaited<ReturnType<typeof startManager>> | undefined;
beforeAll(async () => {
  const real = process.env.QUARTET_TARGET === "real";
  arena = await startArena({ modules: [dsPatchesModule] }, { real, nodes: [] });
  folder = await mkdtemp(join(tmpdir(), "quartet-admission-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await arena.kubeconfig(), { mode: 0o600 });
  await addNode(arena.client, "n1", { labels: { size: "large" } });
  await addNode(arena.client, "n2");
  manager = await startManager({
    modules: [dsPatchesModule],
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      "--daemonset-mode=owner",
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
  await manager.ready;
  // The API server learns of webhooks by a watch of its own.
  await eventually(async () => {
    const { body } = await post(daemonSet({ selector: {} }), DRY);
    expect(body.message).toContain("empty selector");
  });
}, START_MS);
afterAll(async () => {
  await manager?.stop();
  await arena.close();
  await rm(folder, { recursive: true, force: true });
}, START_MS);

interface Stored {
  message?: string;
  metadata: { name: string };
}
const daemonSet = (spec: object, name = "agent") => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "DaemonSet",
  metadata: { name },
  spec: { selector: { matchLabels: { app: "agent" } }, template: TEMPLATE, ...spec },
});
const post = (body: object, query = "") => arena.client.request<Stored>("POST", `${SETS}${query}`, body);
const postPatches = (...patches: object[]) => post(daemonSet({ patches }), DRY);
const warningsOf = ({ headers }: Awaited<ReturnType<typeof post>>): string => String(headers.warning ?? "");
/** A patch of so many bytes of compact JSON. */
const patchOfBytes = (bytes: number): object => {
  const withText = (a: string) => ({ metadata: { annotations: { a } } });
  return withText("x".repeat(bytes - JSON.stringify(withText("")).length));
};

describe("admission by the API server", () => {
  it.each(REFUSED_PATCHES)("ds-patches S16 %s %j is refused", async (_rule, patch, path, message) => {
    const { code, body } = await postPatches({ selector: LARGE, patch });
    const at = path === "" ? "spec.patches[0].patch" : `spec.patches[0].patch.${path}`;
    expect(code).toBe(422);
    expect(body.message).toContain(at);
    expect(body.message).toMatch(message);
  });

  it("ds-patches S16 DSP-335 DSP-337 DSP-339 what the schema knows is refused by it", async () => {
    const item = { selector: LARGE, patch: {} };
    expect((await postPatches(...Array.from({ length: 10 }, () => item))).code).toBe(201);
    const more = await postPatches(...Array.from({ length: 11 }, () => item));
    expect([more.code, more.body.message]).toEqual([422, expect.stringMatching(/spec\.patches.*10/)]);
    for (const bad of [{ selector: LARGE, patch: "text" }, { selector: LARGE }, { patch: {} }]) {
      const { code, body } = await postPatches(bad);
      expect([code, body.message]).toEqual([422, expect.stringContaining("spec.patches[0].")]);
    }
  });

  it("ds-patches S16 DSP-336 1024 bytes of a patch are stored, one more is not", async () => {
    expect((await postPatches({ selector: LARGE, patch: patchOfBytes(1024) })).code).toBe(201);
    const { code, body } = await postPatches({ selector: LARGE, patch: patchOfBytes(1025) });
    expect([code, body.message]).toEqual([422, expect.stringMatching(/1025 bytes.*1024/)]);
  });

  it("ds-patches S16 DSP-338 DSP-340 DSP-341 a selector of all nodes is a warning, a wrong one an error", async () => {
    const answer = await postPatches({ selector: {}, patch: {} });
    expect(answer.code).toBe(201);
    expect(warningsOf(answer)).toMatch(/matches every node/);
    const selector = { matchExpressions: [{ key: "a", operator: "In" }] };
    const { code, body } = await postPatches({ selector, patch: {} });
    expect([code, body.message]).toEqual([
      422,
      expect.stringContaining("spec.patches[0].selector.matchExpressions[0].values"),
    ]);
  });

  it("DSP-301 a name that is no DNS name is refused", async () => {
    const { code, body } = await post(daemonSet({}, "Bad_Name"), DRY);
    expect([code, body.message]).toEqual([422, expect.stringContaining("metadata.name")]);
  });

  it("ds-patches S05 DSP-362 an extended resource needs a limit, and with one its pod asks for it", async () => {
    const resources = { requests: { "nvidia.com/gpu": 1, memory: "2Gi" } };
    const refused = await postPatches({ selector: LARGE, patch: main({ resources }) });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringMatching(/nvidia\.com\/gpu.*limit/),
    ]);
    const limited = { limits: { "nvidia.com/gpu": 1 }, requests: { memory: "2Gi" } };
    const patches = [{ selector: LARGE, patch: main({ resources: limited }) }];
    expect((await post(daemonSet({ patches }))).code).toBe(201);
    const byNode = await eventually(podsByNode);
    expect(byNode.get("n1")).toMatchObject({
      limits: { "nvidia.com/gpu": "1" },
      requests: { memory: "2Gi" },
    });
    expect(byNode.get("n2")).toEqual({});
    // A request that is missing is made of the limit by the server itself.
    if (process.env.QUARTET_TARGET === "real") {
      expect(byNode.get("n1")?.requests).toEqual({ "nvidia.com/gpu": "1", memory: "2Gi" });
    }
  });
});

interface Resources {
  limits?: object;
  requests?: object;
}

/** Resources of the container of each node's pod; rejects until both nodes have one. */
async function podsByNode(): Promise<Map<string, Resources>> {
  const { items } = await arena.client.ok<{
    items: { spec: { affinity: object; containers: { resources?: Resources }[] } }[];
  }>("GET", "/api/v1/namespaces/default/pods");
  expect(items).toHaveLength(2);
  return new Map(
    items.map(({ spec }) => {
      const node = /"values":\["(\w+)"\]/.exec(JSON.stringify(spec.affinity))?.[1] ?? "";
      return [node, spec.containers[0]?.resources ?? {}];
    }),
  );
}
