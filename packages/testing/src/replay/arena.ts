/** Where recorded cases are played: an API server with pods that come alive, and namespaces as needed. */
import type { ApiServer } from "../api-server.ts";
import { startDouble } from "../apiserver-double/index.ts";
import { addNode, installCrds, startControlPlane, testNamespace } from "../control-plane/index.ts";
import { startMiniKubelet } from "../mini-kubelet/index.ts";
import { type TestClient, testClient } from "../request.ts";
import { crdsOf } from "../stage/crds.ts";
import { type RunOptions, startTestManager, type TestManager } from "../stage/manager.ts";
import { grantRights } from "../stage/rights.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import type { RecordedObject } from "./recorded.ts";

/** Namespace of objects that give none. */
const RECORDED_NAMESPACE = "t";
/** Pods get loopback addresses. */
const POD_CIDR = "127.1.0.0/16";

/** What is run in each scene. */
export type ArenaOptions = Pick<RunOptions, "modules" | "flags" | "logLevel">;

export interface Arena {
  readonly client: TestClient;
  readonly catalogue: Catalogue;
  /** Login of an administrator. */
  kubeconfig(): Promise<string>;
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
  /** Starts a manager on these namespaces alone, with the rights that its modules declare. */
  startManager(): Promise<TestManager>;
  close(): Promise<void>;
}

/**
 * An arena on a server of its own: the double, or a real control plane, built first when it is not there.
 * @param options.nodes that it has from the start; default one
 */
export async function startArena(
  run: ArenaOptions,
  options: { real: boolean; nodes?: readonly string[]; onProgress?: (line: string) => void },
): Promise<Arena> {
  const { nodes = ["node-0"], onProgress } = options;
  if (options.real) {
    const server = await startControlPlane({ podCidr: POD_CIDR, ...(onProgress && { onProgress }) });
    const client = testClient(await server.kubeconfig());
    for (const name of nodes) await addNode(client, name);
    client.close();
    return openArena(server, run);
  }
  const server = await startDouble();
  const kubelet = await startMiniKubelet(server, { podCidr: POD_CIDR, nodes });
  const arena = await openArena(server, run);
  return {
    ...arena,
    async close() {
      await kubelet.stop();
      await arena.close();
    },
  };
}

/** An arena on a server whose pods come alive; the server stops with it. */
export async function openArena(server: ApiServer, run: ArenaOptions): Promise<Arena> {
  const client = testClient(await server.kubeconfig());
  await installCrds(client, crdsOf(run.modules));
  const catalogue = openCatalogue(client);
  return {
    client,
    catalogue,
    kubeconfig: () => server.kubeconfig(),
    openScene: (objects) => openScene({ client, catalogue, server, run }, objects),
    async close() {
      client.close();
      await server.stop();
    },
  };
}

interface Ground {
  client: TestClient;
  catalogue: Catalogue;
  server: ApiServer;
  run: ArenaOptions;
}

async function openScene(ground: Ground, objects: readonly RecordedObject[]): Promise<Scene> {
  const { client, catalogue, server, run } = ground;
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
    async startManager() {
      const [release] = namespaces;
      const user = `manager-of-${release}`;
      const revoke = await grantRights({
        ...{ server, client, modules: run.modules, namespaces, user },
        release: release!,
      });
      const kubeconfig = await server.kubeconfig({ user, groups: [] });
      const manager = await startTestManager({ logLevel: "info", ...run, namespaces, kubeconfig });
      await manager.working();
      return {
        ...manager,
        async stop() {
          await manager.stop();
          await revoke();
        },
      };
    },
    async close() {
      for (const { empty } of places.values()) await empty(crdsOf(run.modules));
    },
  };
}
