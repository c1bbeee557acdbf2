/** What the API server refuses the controllers: each verb on each kind that they write. */
import { tarsModule } from "@quartet/tars-tserver";
import {
  eventually,
  MAX_WRITES,
  openStage,
  type Refusal,
  type RefusedBy,
  refuse,
  type Stage,
} from "@quartet/testing/stage";
import { describe, expect, it } from "vitest";
import { echoSpec, type LiveObject } from "./support/scene.ts";

/** Longest pause between two tries is a minute. */
const RETRY_LIMIT_MS = 100_000;
const TARS = "/apis/k8s.tars.io/v1beta2";
const APPS = "/apis/apps/v1";
const ECHO = "demo-echoserver";

/** What a user does in the namespace of a stage. */
function userOf({ client, namespace }: Stage) {
  const pathOf = (api: string, plural: string, name = ""): string =>
    [`${api}/namespaces/${namespace}/${plural}`, name].filter(Boolean).join("/");
  return {
    create: (kind: string, name: string, body: object) =>
      client.ok("POST", pathOf(TARS, `${kind.toLowerCase()}s`), {
        ...{ apiVersion: "k8s.tars.io/v1beta2", kind, metadata: { name } },
        ...body,
      }),
    patch: (api: string, plural: string, name: string, body: object) =>
      client.ok("PATCH", pathOf(api, plural, name), body, { contentType: "application/merge-patch+json" }),
    delete: (api: string, plural: string, name: string) => client.ok("DELETE", pathOf(api, plural, name)),
    async find(api: string, plural: string, name: string): Promise<LiveObject | undefined> {
      const { code, body } = await client.request("GET", pathOf(api, plural, name));
      return code === 200 ? body : undefined;
    },
    async events(): Promise<string> {
      const { items } = await client.ok<{ items: { note?: string; reason?: string }[] }>(
        "GET",
        pathOf("/apis/events.k8s.io/v1", "events"),
      );
      return items.map(({ reason, note }) => `${reason}: ${note}`).join("\n");
    },
  };
}
type User = ReturnType<typeof userOf>;

interface Case {
  /** `verb group/resource`. */
  readonly refused: string;
  readonly provoke: (user: User) => Promise<unknown>;
}

const k8s = (value: object) => (user: User) => user.patch(TARS, "tservers", ECHO, { spec: { k8s: value } });
const version = (name: string) => ({
  ...{ app: "Demo", server: "EchoServer", configName: "a.conf", configContent: name, podSeq: "m" },
});
const CASES: readonly Case[] = [
  { refused: "create apps/statefulsets", provoke: (user) => user.delete(APPS, "statefulsets", ECHO) },
  { refused: "update apps/statefulsets", provoke: k8s({ imagePullPolicy: "Never" }) },
  {
    refused: "delete apps/statefulsets",
    provoke: k8s({ mounts: [{ name: "m5", mountPath: "/m5", source: { tLocalVolume: {} } }] }),
  },
  { refused: "create apps/daemonsets", provoke: k8s({ daemonSet: true }) },
  { refused: "create /services", provoke: (user) => user.delete("/api/v1", "services", ECHO) },
  {
    refused: "update /services",
    provoke: (user) => user.patch("/api/v1", "services", ECHO, { spec: { selector: { a: "b" } } }),
  },
  { refused: "delete /services", provoke: k8s({ daemonSet: true }) },
  { refused: "create k8s.tars.io/tendpoints", provoke: (user) => user.delete(TARS, "tendpoints", ECHO) },
  {
    refused: "update k8s.tars.io/tendpoints",
    provoke: (user) => user.patch(TARS, "tservers", ECHO, { spec: { important: 4 } }),
  },
  {
    refused: "create k8s.tars.io/texitedrecords",
    provoke: (user) => user.delete(TARS, "texitedrecords", ECHO),
  },
  {
    refused: "patch k8s.tars.io/ttrees",
    provoke: (user) => user.create("TTree", "tars-tree", { apps: [], businesses: [] }),
  },
  {
    refused: "patch k8s.tars.io/tconfigs",
    provoke: async (user) => {
      await user.create("TConfig", "v1", version("v1"));
      await user.create("TConfig", "v2", version("v2"));
    },
  },
  {
    refused: "create k8s.tars.io/tservers",
    provoke: (user) =>
      user.create("TDeploy", "other", {
        apply: { ...echoSpec({ replicas: 0 }), server: "OtherServer" },
        approve: { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" },
      }),
  },
  {
    refused: "patch k8s.tars.io/timages",
    provoke: (user) =>
      user.create("TImage", "img", {
        imageType: "server",
        build: {
          running: { id: "b", baseImage: "b:1", image: "i:1", createTime: "2024-01-01T00:00:00Z" },
        },
      }),
  },
];

const refusalOf = ({ refused }: Case): Refusal => {
  const [verb, place] = refused.split(" ") as [Refusal["verb"], string];
  const [group, resource] = place.split("/") as [string, string];
  return { verb, group, resource };
};

async function watch(found: Case, by: RefusedBy): Promise<void> {
  const stage = await openStage({ modules: [tarsModule] });
  const user = userOf(stage);
  try {
    const manager = await stage.start();
    await user.create("TServer", ECHO, { spec: echoSpec({ replicas: 0 }) });
    await eventually(async () => {
      const { status } = (await user.find(TARS, "tservers", ECHO)) ?? {};
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: "WorkloadSynced", status: "True" }),
      );
    });
    await manager.stop();
    const { writes, lift } = await refuse({
      ...{ stage, module: tarsModule, refusal: refusalOf(found), by },
      provoke: () => found.provoke(user),
    });
    expect(writes.length, writes.join("\n")).toBeLessThanOrEqual(MAX_WRITES);
    const words = by === "policy" ? /not on a Friday/ : /is forbidden|cannot/;
    expect(await user.events()).toMatch(words);
    // The double shows that it goes on; how long a policy stays in force after its end is the server's affair.
    if (by === "policy") return;
    const since = Date.now();
    await lift();
    const { verb, resource } = refusalOf(found);
    await eventually(async () => {
      const sent = await stage.requests(since);
      const done = sent.some(
        (request) => request.verb === verb && request.resource === resource && request.code < 300,
      );
      expect(done).toBe(true);
    }, RETRY_LIMIT_MS);
  } finally {
    await stage.close();
  }
}

const REAL = process.env.QUARTET_TARGET === "real";
const ROWS = CASES.map((found) => [found.refused, found] as const);

describe.concurrent("refusals", () => {
  // Rights are the same on both; policies there are on the real one alone.
  it.runIf(!REAL).each(ROWS)(
    "TARS-R-012: without the right to %s it says so, tries at growing intervals, and goes on when it may",
    async (_refused, found) => watch(found, "rights"),
  );

  it.runIf(REAL).each(ROWS)(
    "TARS-R-012: a policy that denies %s is quoted, asked at growing intervals, and never in a loop",
    async (_refused, found) => watch(found, "policy"),
  );
});
