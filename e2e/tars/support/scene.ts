/** A namespace of a scenario's own, with the tree and the template that its servers need. */
import type { Place } from "@quartet/tars-tserver/testkit";
import type { Json, RecordedObject } from "@quartet/testing/replay";

const TARS = "k8s.tars.io/v1beta2";

/** An answer of the API server. */
export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly warning: string;
  readonly body: LiveObject;
}

// biome-ignore lint/suspicious/noExplicitAny: scenarios read objects of many kinds by the paths that the rules name
export type LiveObject = any;

/** Requests of a user in one namespace; kinds are those of TARS in v1beta2 unless an API version is given. */
export interface Scene {
  readonly namespace: string;
  readonly place: Place;
  get(kind: string, name: string, apiVersion?: string): Promise<LiveObject>;
  /** `undefined` when there is none. */
  find(kind: string, name: string, apiVersion?: string): Promise<LiveObject | undefined>;
  list(kind: string, apiVersion?: string): Promise<LiveObject[]>;
  create(kind: string, name: string, body: Json, apiVersion?: string, query?: string): Promise<Answer>;
  /** JSON merge patch. */
  patch(kind: string, name: string, body: Json, apiVersion?: string): Promise<Answer>;
  delete(kind: string, name: string, apiVersion?: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Opens a scene; with `furnished` it has `tars-tree` and the template `tt.cpp`. */
export async function openScene(place: Place, furnished = true): Promise<Scene> {
  const of = (kind: string, apiVersion = TARS) => ({ apiVersion, kind });
  const send = async (method: string, path: string, body?: object): Promise<Answer> => {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = await place.client.request<{ message?: string }>(method, path, body, { contentType });
    return {
      code: answer.code,
      message: answer.body?.message ?? "",
      warning: String(answer.headers.warning ?? ""),
      body: answer.body,
    };
  };
  const scene: Scene = {
    namespace: place.namespace,
    place,
    async get(kind, name, apiVersion) {
      const found = await scene.find(kind, name, apiVersion);
      if (found === undefined) throw new Error(`${kind} ${name} is not there`);
      return found;
    },
    async find(kind, name, apiVersion) {
      const { code, body } = await send("GET", await place.pathOf(of(kind, apiVersion), name));
      return code === 200 ? body : undefined;
    },
    async list(kind, apiVersion) {
      return (await send("GET", await place.pathOf(of(kind, apiVersion)))).body.items;
    },
    async create(kind, name, body, apiVersion, query = "") {
      const { metadata, ...rest } = body;
      const object = { ...of(kind, apiVersion), metadata: { ...(metadata as Json), name }, ...rest };
      return send("POST", `${await place.pathOf(object as RecordedObject)}${query}`, object);
    },
    patch: async (kind, name, body, apiVersion) =>
      send("PATCH", await place.pathOf(of(kind, apiVersion), name), body),
    delete: async (kind, name, apiVersion) => send("DELETE", await place.pathOf(of(kind, apiVersion), name)),
    close: () => place.close(),
  };
  if (furnished) {
    await scene.create("TTree", "tars-tree", { businesses: [], apps: [] });
    await scene.create("TTemplate", "tt.cpp", { spec: { content: "", parent: "tt.cpp" } });
  }
  return scene;
}

/** Fixture A of the acceptance scenarios. */
export function echoSpec(k8s: Json = {}, more: Json = {}): Json {
  return {
    app: "Demo",
    server: "EchoServer",
    subType: "tars",
    tars: {
      template: "tt.cpp",
      servants: [
        { name: "FirstObj", port: 10000 },
        { name: "SecondObj", port: 10001, isTcp: false },
      ],
    },
    k8s: { abilityAffinity: "None", replicas: 2, ...k8s },
    ...more,
  };
}

/** Its name. */
export const ECHO = "demo-echoserver";
export const APPS = "apps/v1";

/** Pods of servers run on nodes that are given to their namespace. */
export async function labelNodes({ namespace, place: { client } }: Scene): Promise<void> {
  const { items } = await client.ok<{ items: { metadata: { name: string } }[] }>("GET", "/api/v1/nodes");
  for (const { metadata } of items) {
    await client.ok(
      "PATCH",
      `/api/v1/nodes/${metadata.name}`,
      { metadata: { labels: { [`tars.io/node.${namespace}`]: "" } } },
      { contentType: "application/merge-patch+json" },
    );
  }
}
