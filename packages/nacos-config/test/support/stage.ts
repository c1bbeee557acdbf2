/** What a scenario runs on: an API server with pods that come alive, a namespace of its own, and the controller. */
import { readFileSync } from "node:fs";
import {
  type ApiServer,
  attachControlPlane,
  type CustomResourceDefinition,
  createNacosCluster,
  followPods,
  installCrds,
  type NacosCluster,
  type RequestRecord,
  startDouble,
  startMiniKubelet,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { inject } from "vitest";
import { parse } from "yaml";
import { startTestManager, type TestManager, type TestManagerOptions } from "./manager.ts";

/** Verbs that change something. */
const WRITES = ["create", "update", "patch", "apply", "delete", "deletecollection"];
/** End of the controller's user agent. */
const CONTROLLER = ") nacos";

/** Loopback addresses that no other test process uses. */
const PRIVATE_POD_CIDR = `127.${100 + (Number(process.env.VITEST_POOL_ID ?? 0) % 100)}.0.0/16`;

/** Options of a controller for which ready pods are enough. */
export const NO_CHECK = { flags: { "nacos-skip-node-check": true } } as const;

export interface Stage {
  readonly target: ApiServer["target"];
  readonly client: TestClient;
  readonly namespace: string;
  /** Starts the controller on this namespace alone; what is started ends with the stage. */
  startManager(options?: Partial<TestManagerOptions>): Promise<TestManager>;
  /** Kubeconfig of a user that has the given rights in this namespace and no others. */
  kubeconfigWith(rules: readonly object[]): Promise<string>;
  /** A simulated Nacos server at the address of each pod of an installation. */
  nacosFor(name: string, options?: Parameters<typeof createNacosCluster>[0]): NacosCluster;
  /** Writes of the controller in this namespace since a moment, events left out. */
  writes(since: number): Promise<string[]>;
  /** All requests of the controller in this namespace since a moment. */
  requests(since: number): Promise<RequestRecord[]>;
  /** Those that count as its cost, reads and events included: all but watches and Leases. */
  cost(since: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens the stage of the target that the test run is for. */
export async function openStage(): Promise<Stage> {
  const real = process.env.QUARTET_TARGET === "real";
  const server: ApiServer = real ? attachControlPlane(inject("controlPlane")) : await startDouble();
  const kubeconfig = await server.kubeconfig();
  const client = testClient(kubeconfig);
  const crd = readFileSync(new URL("../../../../crds/nacos.io_nacos.yaml", import.meta.url), "utf8");
  await installCrds(client, [parse(crd) as CustomResourceDefinition]);
  const { name: namespace, remove } = await testNamespace(client);
  const endings: (() => Promise<void>)[] = [];
  if (!real) {
    const kubelet = await startMiniKubelet(server, { podCidr: PRIVATE_POD_CIDR });
    endings.push(() => kubelet.stop());
  }

  const requests = async (since: number): Promise<RequestRecord[]> => {
    const all = await server.requests({ since });
    return all.filter((request) => request.userAgent.endsWith(CONTROLLER) && request.namespace === namespace);
  };
  return {
    target: server.target,
    client,
    namespace,
    async startManager(options = {}) {
      const manager = await startTestManager({ kubeconfig, namespaces: [namespace], ...options });
      endings.unshift(() => manager.stop());
      return manager;
    },
    async kubeconfigWith(rules) {
      const user = `user-of-${namespace}`;
      const metadata = { name: user, namespace };
      const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata };
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      await client.ok("POST", `${path}/roles`, { ...rbac, kind: "Role", rules });
      await client.ok("POST", `${path}/rolebindings`, {
        ...rbac,
        kind: "RoleBinding",
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: user },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
      });
      return server.kubeconfig({ user, groups: [] });
    },
    nacosFor(name, options) {
      const nacos = createNacosCluster(options);
      const unfollow = followPods(nacos, client, { namespace, name });
      endings.push(unfollow, () => nacos.close());
      return nacos;
    },
    requests,
    async writes(since) {
      const writes = (await requests(since)).filter(
        ({ verb, resource }) => WRITES.includes(verb) && resource !== "events",
      );
      return writes.map(inWords);
    },
    async cost(since) {
      const all = await requests(since);
      return all.filter(({ verb, resource }) => verb !== "watch" && resource !== "leases").map(inWords);
    },
    async close() {
      for (const end of endings) await end();
      await remove();
      client.close();
      await server.stop();
    },
  };
}

const inWords = ({ verb, resource, subresource, name }: RequestRecord): string =>
  [verb, subresource === "" ? resource : `${resource}/${subresource}`, name].join(" ");
