/** Where recorded cases are played: an API server with pods that come alive, and namespaces as needed. */
import { readFileSync } from "node:fs";
import {
  type ApiServer,
  addNode,
  type CustomResourceDefinition,
  installCrds,
  startControlPlane,
  startDouble,
  startMiniKubelet,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { parse } from "yaml";
import { startTestManager, type TestManager } from "../support/manager.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import type { RecordedObject } from "./format.ts";

/** Namespace of objects that give none. */
const RECORDED_NAMESPACE = "t";
/** Pods get loopback addresses. */
const POD_CIDR = "127.1.0.0/16";

export interface Arena {
  readonly client: TestClient;
  readonly catalogue: Catalogue;
  /** Namespaces of a case's own in the place of the recorded ones. */
  openScene(objects: readonly RecordedObject[]): Promise<Scene>;
  close(): Promise<void>;
}

/** The namespaces of one case. */
export interface Scene {
  /** All of them. */
  readonly namespaces: readonly string[];
  /** Path of an object; without a name, of its kind. Rejects when the server does not know the kind. */
  pathOf(object: RecordedObject, name?: string): Promise<string>;
  /** The recorded object as it is sent: its path names the namespace. */
  here(object: RecordedObject): RecordedObject;
  /** A live object, or part of one, with the recorded namespaces in the place of the real ones. */
  recorded<T>(value: T): T;
  /** Starts the controller on these namespaces alone. */
  startManager(): Promise<TestManager>;
  close(): Promise<void>;
}

/** An arena on a server of its own: the double, or a real control plane, built first when it is not there. */
export async function startArena(options: {
  real: boolean;
  onProgress?: (line: string) => void;
}): Promise<Arena> {
  if (options.real) {
    const { onProgress } = options;
    const server = await startControlPlane({ podCidr: POD_CIDR, ...(onProgress && { onProgress }) });
    const client = testClient(await server.kubeconfig());
    await addNode(client, "node-0");
    client.close();
    return openArena(server);
  }
  const server = await startDouble();
  const kubelet = await startMiniKubelet(server, { podCidr: POD_CIDR });
  const arena = await openArena(server);
  return {
    ...arena,
    async close() {
      await kubelet.stop();
      await arena.close();
    },
  };
}

/** An arena on a server whose pods come alive; the server stops with it. */
export async function openArena(server: ApiServer): Promise<Arena> {
  const kubeconfig = await server.kubeconfig();
  const client = testClient(kubeconfig);
  const crd = readFileSync(new URL("../../../../crds/nacos.io_nacos.yaml", import.meta.url), "utf8");
  await installCrds(client, [parse(crd) as CustomResourceDefinition]);
  const catalogue = openCatalogue(client);
  return {
    client,
    catalogue,
    openScene: (objects) => openScene({ client, catalogue, kubeconfig }, objects),
    async close() {
      client.close();
      await server.stop();
    },
  };
}

async function openScene(
  { client, catalogue, kubeconfig }: { client: TestClient; catalogue: Catalogue; kubeconfig: string },
  objects: readonly RecordedObject[],
): Promise<Scene> {
  const recordedOf = ({ metadata }: RecordedObject): string => metadata.namespace || RECORDED_NAMESPACE;
  const places = new Map<string, Awaited<ReturnType<typeof testNamespace>>>();
  for (const recorded of new Set(objects.map(recordedOf))) places.set(recorded, await testNamespace(client));
  const realOf = (object: RecordedObject): string => places.get(recordedOf(object))!.name;
  const namespaces = [...places.values()].map(({ name }) => name);
  return {
    namespaces,
    pathOf: (object, name) => catalogue.path(object, realOf(object), name),
    here: (object) => {
      const { namespace: _recorded, ...metadata } = object.metadata;
      return { ...object, metadata };
    },
    recorded<T>(value: T): T {
      let text = JSON.stringify(value) ?? "null";
      for (const [recorded, { name }] of places) text = text.replaceAll(name, recorded);
      return JSON.parse(text) as T;
    },
    startManager: () =>
      startTestManager({
        kubeconfig,
        namespaces,
        // What is recorded are the objects; the nodes behind the pods are not played.
        flags: { "nacos-skip-node-check": true },
        logLevel: "info",
      }),
    async close() {
      for (const { remove } of places.values()) await remove();
    },
  };
}
