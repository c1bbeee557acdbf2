/** A namespace of a case's own in the place of the recorded one, on an API server that all cases share. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ApiServer,
  addNode,
  installCrds,
  startControlPlane,
  startDouble,
  startMiniKubelet,
  type TestClient,
  testClient,
} from "@quartet/testing";
import type { RecordedObject } from "@quartet/testing/replay";
import { crdsOf } from "@quartet/testing/stage";
import { tarsModule } from "../../src/module.ts";

/** Pods get loopback addresses. */
const POD_CIDR = "127.2.0.0/16";
/** Namespace in the file. Names of real ones are as short as can be, since label keys are made of them. */
const RECORDED = "t";

/** An API server with the controllers and their webhooks at work. */
export interface Ground {
  openPlace(number: number): Promise<Place>;
  close(): Promise<void>;
}

export interface Place {
  readonly client: TestClient;
  /** Name of the real namespace. */
  readonly namespace: string;
  pathOf(object: Pick<RecordedObject, "apiVersion" | "kind">, name?: string): Promise<string>;
  /** The recorded object as it is sent: its path names the namespace. */
  here(object: RecordedObject): RecordedObject;
  /** A text or object of the server with the recorded namespace. */
  recorded<T>(value: T): T;
  create(object: RecordedObject): Promise<void>;
  find(object: RecordedObject): Promise<RecordedObject | undefined>;
  list(kinds: readonly Pick<RecordedObject, "apiVersion" | "kind">[]): Promise<RecordedObject[]>;
  /** Names, versions and times of deletion of all objects of the kinds, by kind. */
  versions(
    kinds: readonly Pick<RecordedObject, "apiVersion" | "kind">[],
    own: readonly string[],
  ): Promise<(string | undefined)[][][]>;
  close(): Promise<void>;
}

/** A manager with the module, whose webhooks the API server is told of. */
export interface GroundManager {
  /** Resolves when it is ready. */
  readonly ready: Promise<void>;
  stop(): Promise<unknown>;
}

export interface GroundOptions {
  /** Starts the manager with the login of an administrator, given as a kubeconfig file. */
  startManager(kubeconfig: string): Promise<GroundManager>;
}

/** Starts a double or a real control plane, and on it the manager. */
export async function startGround(
  options: GroundOptions & { real: boolean; onProgress: (line: string) => void },
): Promise<Ground> {
  const { server, stop } = await startServer(options);
  const ground = await openGround(server, options);
  return {
    ...ground,
    async close() {
      await ground.close();
      await stop();
    },
  };
}

/** Starts the manager on a server of the caller's, who also stops that. */
export async function openGround(server: ApiServer, { startManager }: GroundOptions): Promise<Ground> {
  const client = testClient(await server.kubeconfig());
  await installCrds(client, crdsOf([tarsModule]));
  const folder = await mkdtemp(join(tmpdir(), "quartet-tars-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await server.kubeconfig(), { mode: 0o600 });
  const manager = await startManager(kubeconfig);
  await manager.ready;
  await untilAsked(client);
  const paths = new Map<string, Promise<string>>();
  return {
    openPlace: (number) => openPlace(client, paths, `zq${number}`),
    async close() {
      await manager.stop();
      client.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer({
  real,
  onProgress,
}: {
  real: boolean;
  onProgress: (line: string) => void;
}): Promise<{ server: ApiServer; stop: () => Promise<void> }> {
  if (real) {
    const server = await startControlPlane({ podCidr: POD_CIDR, onProgress });
    const client = testClient(await server.kubeconfig());
    await addNode(client, "node-0");
    client.close();
    return { server, stop: () => server.stop() };
  }
  const server = await startDouble();
  const kubelet = await startMiniKubelet(server, { podCidr: POD_CIDR });
  return {
    server,
    async stop() {
      await kubelet.stop();
      await server.stop();
    },
  };
}

/** The API server learns of webhooks by a watch of its own: it asks them once it gives a template its label. */
async function untilAsked(client: TestClient): Promise<void> {
  const path = "/apis/k8s.tars.io/v1beta3/namespaces/default/ttemplates?dryRun=All";
  const body = {
    apiVersion: "k8s.tars.io/v1beta3",
    kind: "TTemplate",
    metadata: { name: "probe" },
    spec: { content: "", parent: "none" },
  };
  for (;;) {
    const answer = await client.request<{ message?: string }>("POST", path, body);
    if (answer.code === 400) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

interface Metadata {
  name: string;
  resourceVersion: string;
  deletionTimestamp?: string;
}

async function openPlace(
  client: TestClient,
  paths: Map<string, Promise<string>>,
  name: string,
): Promise<Place> {
  await client.ok("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const pattern = new RegExp(`\\b${name}\\b`, "g");
  const pluralOf = (apiVersion: string, kind: string): Promise<string> => {
    const id = `${apiVersion} ${kind}`;
    const known = paths.get(id) ?? findPlural(client, apiVersion, kind);
    paths.set(id, known);
    return known;
  };
  const place: Place = {
    client,
    namespace: name,
    async pathOf({ apiVersion, kind }, object) {
      const collection = `${rootOf(apiVersion)}/namespaces/${name}/${await pluralOf(apiVersion, kind)}`;
      return object === undefined ? collection : `${collection}/${object}`;
    },
    here: (object) => {
      const { namespace: _recorded, ...metadata } = object.metadata;
      return { ...object, metadata };
    },
    recorded: <T>(value: T): T => {
      if (typeof value === "string") return value.replace(pattern, RECORDED) as T;
      return JSON.parse(JSON.stringify(value).replace(pattern, RECORDED)) as T;
    },
    async create(object) {
      await client.ok("POST", await place.pathOf(object), place.here(object));
    },
    async find(object) {
      const { code, body } = await client.request<RecordedObject>(
        "GET",
        await place.pathOf(object, object.metadata.name),
      );
      return code === 200 ? place.recorded(body) : undefined;
    },
    async list(kinds) {
      const lists = kinds.map(async ({ apiVersion, kind }) => {
        const { items } = await client.ok<{ items: RecordedObject[] }>(
          "GET",
          await place.pathOf({ apiVersion, kind }),
        );
        return items.map((item) => place.recorded({ ...item, apiVersion, kind }));
      });
      return (await Promise.all(lists)).flat();
    },
    async versions(kinds, own) {
      const all = [...kinds, ...own.map((kind) => ({ apiVersion: "k8s.tars.io/v1beta2", kind }))];
      const lists = all.map(async (kind) => {
        const { items } = await client.ok<{ items: { metadata: Metadata }[] }>(
          "GET",
          await place.pathOf(kind),
        );
        return items.map(({ metadata }) => [
          metadata.name,
          metadata.resourceVersion,
          metadata.deletionTimestamp,
        ]);
      });
      return Promise.all(lists);
    },
    async close() {
      await client.request("DELETE", `/api/v1/namespaces/${name}`);
    },
  };
  return place;
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

async function findPlural(client: TestClient, apiVersion: string, kind: string): Promise<string> {
  const { resources } = await client.ok<{ resources: { name: string; kind: string }[] }>(
    "GET",
    rootOf(apiVersion),
  );
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  if (found === undefined)
    throw new Error(`${kind} of ${apiVersion}: the API server does not serve this kind; correct the object`);
  return found.name;
}
