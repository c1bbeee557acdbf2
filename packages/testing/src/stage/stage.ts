/** What a scenario runs on: an API server with pods that come alive, a namespace of its own, and managers. */
import type { ControllerModule } from "@quartet/core";
import type { ApiServer, RequestRecord } from "../api-server.ts";
import { type CustomResourceDefinition, type TestNamespace, testNamespace } from "../control-plane/index.ts";
import { startMiniKubelet } from "../mini-kubelet/index.ts";
import { type TestClient, testClient } from "../request.ts";
import { inWords, isCost, isWrite } from "./audit.ts";
import { crdsOf, installOnce } from "./crds.ts";
import { type RunOptions, startTestManager, type TestManager } from "./manager.ts";
import { grantRights } from "./rights.ts";
import { openTarget } from "./target.ts";

/** Loopback addresses that no other test process uses. */
const PRIVATE_POD_CIDR = `127.${100 + (Number(process.env.VITEST_POOL_ID ?? 0) % 100)}.0.0/16`;

export interface StageOptions {
  /** What its managers run unless they are told otherwise; the definitions that they name are installed. */
  readonly modules?: readonly ControllerModule[];
  /** Further definitions. */
  readonly crds?: readonly CustomResourceDefinition[];
  /** A server of the caller's own, who also stops it. Default: the target of the test run. */
  readonly server?: ApiServer;
  /** Pods come alive; they always do on a real control plane. Default true. */
  readonly pods?: boolean;
}

export interface StartOptions extends Partial<RunOptions> {
  /** Login of the manager. Default: {@link Stage.user}, with the rights that the modules declare and no others. */
  readonly kubeconfig?: string;
}

export interface Stage {
  readonly target: ApiServer["target"];
  readonly server: ApiServer;
  /** Of an administrator. */
  readonly client: TestClient;
  readonly namespace: string;
  /** Whom managers log in as. */
  readonly user: string;
  /** Starts a manager, by default in this namespace alone; what is started ends with the stage. */
  start(options?: StartOptions): Promise<TestManager>;
  /** Gives {@link Stage.user} the rights that modules declare, by default in this namespace alone. */
  grant(modules?: readonly ControllerModule[], namespaces?: readonly string[]): Promise<void>;
  /** Kubeconfig of {@link Stage.user}; `start` uses it by itself. */
  kubeconfig(): Promise<string>;
  /** Kubeconfig of another user, who has the rights that these modules declare; asked again, it gives the user others. */
  kubeconfigFor(modules: readonly ControllerModule[]): Promise<string>;
  /** All requests of managers since a moment, in milliseconds since the Unix epoch, in order. */
  requests(since?: number): Promise<RequestRecord[]>;
  /** Writes among them as `verb resource[/subresource] name`, events left out. */
  writes(since?: number): Promise<string[]>;
  /** What their controllers cost, in the same words: reads, writes and events, but no watches and no Leases. */
  cost(since?: number): Promise<string[]>;
  /** Something to end with the stage, before the namespace goes; the last added ends first. */
  onClose(end: () => unknown): void;
  close(): Promise<void>;
}

/** Opens a stage. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { modules: ownModules = [], crds = [] } = options;
  const server = options.server ?? (await openTarget());
  const client = testClient(await server.kubeconfig());
  const definitions = [...crdsOf(ownModules), ...crds];
  await installOnce(server, client, definitions);
  const place = await testNamespace(client);
  const namespace = place.name;
  const users = { own: `manager-of-${namespace}`, other: `other-of-${namespace}` };
  const ends: (() => unknown)[] = [];
  if (server.target === "double" && options.pods !== false) {
    const kubelet = await startMiniKubelet(server, { podCidr: PRIVATE_POD_CIDR });
    ends.push(() => kubelet.stop());
  }
  const granted = new Set<string>();
  const grant = async (modules = ownModules, namespaces: readonly string[] = [namespace]): Promise<void> => {
    const id = JSON.stringify([modules.map(({ name, rights }) => [name, rights]), namespaces]);
    if (granted.has(id)) return;
    const place = { release: namespace, releaseNamespace: namespace, namespaces };
    ends.push(await grantRights({ server, client, modules, ...place, user: users.own }));
    granted.add(id);
  };
  const kubeconfig = (): Promise<string> => server.kubeconfig({ user: users.own, groups: [] });
  const requests = async (since = 0): Promise<RequestRecord[]> => {
    const all = await server.requests({ since });
    return all.filter(({ user }) => user === users.own || user === users.other);
  };
  return {
    target: server.target,
    server,
    client,
    namespace,
    user: users.own,
    grant,
    kubeconfig,
    requests,
    async start({ modules = ownModules, namespaces = [namespace], ...rest } = {}) {
      if (rest.kubeconfig === undefined) await grant(modules, namespaces);
      const login = rest.kubeconfig ?? (await kubeconfig());
      const manager = await startTestManager({ ...rest, modules, namespaces, kubeconfig: login });
      ends.push(() => manager.stop());
      return manager;
    },
    async kubeconfigFor(modules) {
      const place = { release: users.other, releaseNamespace: namespace, namespaces: [namespace] };
      ends.push(await grantRights({ server, client, modules, ...place, user: users.other }));
      return server.kubeconfig({ user: users.other, groups: [] });
    },
    writes: async (since) => (await requests(since)).filter(isWrite).map(inWords),
    cost: async (since) => (await requests(since)).filter(isCost).map(inWords),
    onClose: (end) => ends.push(end),
    close: () => close({ ends, place, definitions, client, server, own: options.server !== undefined }),
  };
}

async function close(parts: {
  ends: (() => unknown)[];
  place: TestNamespace;
  definitions: readonly CustomResourceDefinition[];
  client: TestClient;
  server: ApiServer;
  own: boolean;
}): Promise<void> {
  const { ends, place, definitions, client, server, own } = parts;
  for (const end of ends.reverse()) await end();
  await place.empty(definitions);
  client.close();
  if (!own) await server.stop();
}
