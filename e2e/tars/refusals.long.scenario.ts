/** What the API server refuses the controllers: each verb on each kind that they write. Without webhooks, which are theirs. */
import { tarsModule } from "@quartet/tars-tserver";
import { eventually, openStage, type Stage, testRefusals } from "@quartet/testing/stage";
import { expect } from "vitest";
import { APPS, ECHO, echoSpec, type LiveObject } from "./support/scene.ts";

const TARS = "k8s.tars.io/v1beta2";
const EVENTS = "events.k8s.io/v1";
const PLURALS: Readonly<Record<string, string>> = {
  Event: "events",
  PersistentVolumeClaim: "persistentvolumeclaims",
  Pod: "pods",
  Service: "services",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
};
const MERGE = { contentType: "application/merge-patch+json" };

/** What a user does in the namespace of a stage; kinds are those of TARS unless an API version is given. */
function userOf({ client, namespace }: Pick<Stage, "client" | "namespace">) {
  const pathOf = (kind: string, api: string, name = ""): string => {
    const root = api.includes("/") ? `/apis/${api}` : `/api/${api}`;
    const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
    return [`${root}/namespaces/${namespace}/${plural}`, name].filter(Boolean).join("/");
  };
  return {
    create: (kind: string, name: string, { metadata, ...body }: LiveObject, api = TARS) =>
      client.ok("POST", pathOf(kind, api), {
        ...{ apiVersion: api, kind, metadata: { ...metadata, name } },
        ...body,
      }),
    patch: (kind: string, name: string, body: object, api = TARS) =>
      client.ok("PATCH", pathOf(kind, api, name), body, MERGE),
    delete: (kind: string, name: string, api = TARS) => client.ok("DELETE", pathOf(kind, api, name)),
    async find(kind: string, name: string, api = TARS): Promise<LiveObject | undefined> {
      const { code, body } = await client.request("GET", pathOf(kind, api, name));
      return code === 200 ? body : undefined;
    },
    async events(): Promise<string> {
      const { items } = await client.ok<{ items: { note?: string }[] }>("GET", pathOf("Event", EVENTS));
      return items.map(({ note }) => note).join("\n");
    },
  };
}
type User = ReturnType<typeof userOf>;

interface Case {
  /** `verb group/resource`. */
  readonly refused: string;
  readonly also?: readonly ("webhook" | "quota")[];
  /** `spec.k8s` of the server that is there before. */
  readonly k8s?: object;
  /** What else is there. */
  readonly before?: (user: User) => Promise<unknown>;
  readonly provoke: (user: User) => Promise<unknown>;
  /** True once the refused write has been made; for servers their condition says it. */
  readonly done?: (user: User) => Promise<boolean>;
}

const k8s = (value: object) => (user: User) => user.patch("TServer", ECHO, { spec: { k8s: value } });
const isThere =
  (kind: string, name: string, test: (object: LiveObject) => boolean) =>
  async (user: User): Promise<boolean> => {
    const found = await user.find(kind, name);
    return found !== undefined && test(found);
  };
const version = (name: string, metadata: object = {}) => ({
  ...{ app: "Demo", server: "EchoServer", configName: "a.conf", configContent: name, podSeq: "m", metadata },
});
const deploy = (user: User) =>
  user.create("TDeploy", "other", {
    apply: { ...echoSpec({ replicas: 0 }), server: "OtherServer" },
    approve: { person: "eve", reason: "self", result: true, time: "2024-01-01T00:00:00Z" },
  });
const isDeployed = isThere("TDeploy", "other", ({ deployed }) => deployed === true);
const PAST = "2024-01-01T00:00:00Z";
const LABELS = { "tars.io/ServerApp": "Demo", "tars.io/ServerName": "EchoServer" };
const CLAIM = `m5-${ECHO}-0`;
const localVolume = (uid: string) => ({
  mounts: [{ name: "m5", mountPath: "/m5", source: { tLocalVolume: { uid } } }],
});
/** As the StatefulSet controller makes it for a replica. */
async function createClaim(user: User): Promise<void> {
  const labels = { ...LABELS, "tars.io/LocalVolume": "m5" };
  await user.create(
    "PersistentVolumeClaim",
    CLAIM,
    {
      metadata: { labels },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1G" } },
        storageClassName: "tars-storage-class",
      },
    },
    "v1",
  );
  await eventually(async () => expect(await claimOwner(user)).toBe("0"));
}
const claimOwner = async (user: User): Promise<string | undefined> =>
  (await user.find("PersistentVolumeClaim", CLAIM, "v1"))?.metadata.annotations?.["tars.io/LocalVolumeUID"];
async function endPod(user: User): Promise<void> {
  const spec = { containers: [{ name: "a", image: "a:1" }] };
  await user.create("Pod", "a", { metadata: { labels: LABELS }, spec }, "v1");
  await eventually(async () => {
    const endpoint = await user.find("TEndpoint", ECHO);
    expect(endpoint?.status?.pods?.length).toBe(1);
  });
  await user.delete("Pod", "a", "v1");
}

const CASES: readonly Case[] = [
  {
    refused: "create apps/statefulsets",
    also: ["quota", "webhook"],
    provoke: (user) => user.delete("StatefulSet", ECHO, APPS),
  },
  { refused: "update apps/statefulsets", provoke: k8s({ imagePullPolicy: "Never" }) },
  { refused: "delete apps/statefulsets", also: ["webhook"], provoke: k8s(localVolume("0")) },
  { refused: "create apps/daemonsets", provoke: k8s({ daemonSet: true }) },
  {
    refused: "update apps/daemonsets",
    k8s: { daemonSet: true },
    provoke: k8s({ imagePullPolicy: "Never" }),
  },
  { refused: "delete apps/daemonsets", k8s: { daemonSet: true }, provoke: k8s({ daemonSet: false }) },
  { refused: "create /services", also: ["quota"], provoke: (user) => user.delete("Service", ECHO, "v1") },
  {
    refused: "update /services",
    provoke: (user) => user.patch("Service", ECHO, { spec: { selector: { a: "b" } } }, "v1"),
  },
  { refused: "delete /services", provoke: k8s({ daemonSet: true }) },
  { refused: "create k8s.tars.io/tendpoints", provoke: (user) => user.delete("TEndpoint", ECHO) },
  {
    refused: "update k8s.tars.io/tendpoints",
    provoke: (user) => user.patch("TServer", ECHO, { spec: { important: 4 } }),
  },
  {
    refused: "delete k8s.tars.io/tendpoints",
    provoke: (user) => user.patch("TEndpoint", ECHO, { metadata: { ownerReferences: null } }),
  },
  { refused: "create k8s.tars.io/texitedrecords", provoke: (user) => user.delete("TExitedRecord", ECHO) },
  { refused: "patch k8s.tars.io/texitedrecords", provoke: endPod },
  {
    refused: "patch /persistentvolumeclaims",
    k8s: localVolume("0"),
    before: createClaim,
    provoke: k8s(localVolume("1000")),
  },
  {
    refused: "delete /persistentvolumeclaims",
    k8s: localVolume("0"),
    before: createClaim,
    provoke: k8s({ mounts: [] }),
  },
  // Past the webhook: nothing is released.
  { refused: "patch k8s.tars.io/tservers", provoke: k8s({ replicas: 5 }) },
  { refused: "create k8s.tars.io/tservers", provoke: deploy, done: isDeployed },
  { refused: "patch k8s.tars.io/tdeploys", provoke: deploy, done: isDeployed },
  {
    refused: "patch k8s.tars.io/ttrees",
    provoke: (user) => user.create("TTree", "tars-tree", { apps: [], businesses: [] }),
    done: isThere("TTree", "tars-tree", ({ apps }) => apps.length === 1),
  },
  {
    refused: "patch k8s.tars.io/tconfigs",
    async provoke(user) {
      await user.create("TConfig", "v1", version("v1"));
      await user.create("TConfig", "v2", version("v2"));
    },
    async done(user) {
      const versions = await Promise.all(["v1", "v2"].map((name) => user.find("TConfig", name)));
      return versions.filter((config) => config.activated).length === 1;
    },
  },
  {
    refused: "delete k8s.tars.io/tconfigs",
    provoke: (user) => user.create("TConfig", "v1", version("v1", { labels: { "tars.io/Deleting": "" } })),
    done: async (user) => (await user.find("TConfig", "v1")) === undefined,
  },
  {
    refused: "patch k8s.tars.io/timages",
    provoke: (user) =>
      user.create("TImage", "img", {
        imageType: "server",
        build: { running: { id: "b", baseImage: "b:1", image: "i:1", createTime: PAST } },
      }),
    done: isThere("TImage", "img", ({ build }) => build.running === undefined),
  },
  {
    refused: "patch k8s.tars.io/taccounts",
    provoke: (user) =>
      user.create("TAccount", "account", {
        spec: {
          username: "admin",
          authentication: {
            bcryptPassword: "x".repeat(60),
            activated: true,
            tokens: [{ name: "old", content: "-", expirationTime: PAST }],
          },
          authorization: [],
        },
      }),
    done: isThere("TAccount", "account", ({ spec }) => spec.authentication.tokens.length === 0),
  },
];

const isSynced = isThere("TServer", ECHO, ({ status, metadata }) => {
  const found = status?.conditions?.find(({ type }: LiveObject) => type === "WorkloadSynced");
  return found?.status === "True" && found.observedGeneration === metadata.generation;
});

/** The case that is played in a namespace. */
const played = new Map<string, Case>();

testRefusals<Stage>({
  ids: "TARS-R-012 CORE-319 CORE-317 CORE-479",
  module: tarsModule,
  open: () => openStage({ modules: [tarsModule] }),
  cases: CASES.map((one) => ({
    refused: one.refused,
    async prepare(stage) {
      played.set(stage.namespace, one);
      const user = userOf(stage);
      await user.create("TServer", ECHO, { spec: echoSpec({ replicas: 0, ...one.k8s }) });
      await eventually(async () => expect(await isSynced(user)).toBe(true));
      await one.before?.(user);
    },
    provoke: (stage) => one.provoke(userOf(stage)),
    ...(one.also && { also: one.also }),
  })),
  without: {
    "delete k8s.tars.io/texitedrecords":
      "of a server that is gone: told on the record itself, which the garbage collector takes too",
    "patch /nodes": "a node has no namespace whose events the manager may write; the log tells",
  },
  async told(stage) {
    const user = userOf(stage);
    const one = played.get(stage.namespace);
    if (one?.done !== undefined) return (await one.done(user)) ? "" : user.events();
    return JSON.stringify((await user.find("TServer", ECHO))?.status?.conditions);
  },
});
