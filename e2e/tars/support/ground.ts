/**
 * An API server of a file's own with the TARS controllers at work: their webhooks are those of the whole server. The
 * manager is a service account with the chart's rights, and that of registering its webhooks, which a chart does.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startManager } from "@quartet/manager";
import { tarsModule } from "@quartet/tars-tserver";
import { type Ground, type GroundManager, openGround } from "@quartet/tars-tserver/testkit";
import {
  type ApiServer,
  addNode,
  startControlPlane,
  startDouble,
  startMiniKubelet,
  type TestClient,
  testClient,
} from "@quartet/testing";
import { grantRights } from "@quartet/testing/stage";

/** Limit for an API server and a manager to start or end on a busy machine, ms. */
export const GROUND_MS = 180_000;
/** Release of the chart, in the namespace of that name. */
const RELEASE = "quartet";
/** Whom the manager logs in as. */
export const MANAGER: string = `system:serviceaccount:${RELEASE}:quartet`;
/** Pods get loopback addresses. */
const POD_CIDR = "127.2.0.0/16";

export interface TarsGround extends Ground {
  readonly server: ApiServer;
  /** Of an administrator. */
  readonly client: TestClient;
  /** The manager ends in order, and another one starts. */
  restart(): Promise<void>;
  /** The same; no manager runs during the work. */
  without(work: () => Promise<void>): Promise<void>;
  /**
   * Requests of the manager since a moment but for watches and leases, events included, as
   * `verb resource[/subresource]`; in one namespace alone when it is given, for others may still be going.
   */
  cost(since: number, namespace?: string): Promise<string[]>;
}

/** Starts the target of the test run for this file alone. */
export async function openTarsGround(...args: string[]): Promise<TarsGround> {
  const server = await startServer();
  const client = testClient(await server.api.kubeconfig());
  await client.ok("POST", "/api/v1/namespaces", { metadata: { name: RELEASE } });
  const takeRights = await grantRights({
    ...{ server: server.api, client, modules: [tarsModule], namespaces: [] },
    ...{ release: RELEASE, user: MANAGER },
  });
  await allowRegistration(client);
  const folder = await mkdtemp(join(tmpdir(), "quartet-tars-"));
  const kubeconfig = join(folder, "manager");
  await writeFile(kubeconfig, await server.api.kubeconfig({ user: MANAGER, groups: [] }), { mode: 0o600 });
  let manager: GroundManager | undefined;
  const start = async (): Promise<GroundManager> => {
    manager = await startTars(kubeconfig, ...args);
    return manager;
  };
  const without = async (work: () => Promise<void>): Promise<void> => {
    await manager?.stop();
    await work();
    await (await start()).ready;
  };
  const ground = await openGround(server.api, { startManager: start });
  return {
    ...ground,
    server: server.api,
    client,
    restart: () => without(async () => {}),
    without,
    async cost(since, namespace) {
      const all = await server.api.requests({ since, user: MANAGER });
      return all
        .filter((request) => namespace === undefined || request.namespace === namespace)
        .filter(({ verb, resource }) => verb !== "watch" && resource !== "leases")
        .map(({ verb, resource, subresource }) =>
          [verb, [resource, subresource].filter(Boolean).join("/")].join(" "),
        );
    },
    async close() {
      await manager?.stop();
      await ground.close();
      await takeRights();
      client.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(): Promise<{ api: ApiServer; stop(): Promise<void> }> {
  if (process.env.QUARTET_TARGET === "real") {
    const api = await startControlPlane({ podCidr: POD_CIDR });
    const client = testClient(await api.kubeconfig());
    await addNode(client, "node-0");
    client.close();
    return { api, stop: () => api.stop() };
  }
  const api = await startDouble();
  const kubelet = await startMiniKubelet(api, { podCidr: POD_CIDR });
  return {
    api,
    async stop() {
      await kubelet.stop();
      await api.stop();
    },
  };
}

/** What `quartet dev` needs beyond the chart's rights. */
async function allowRegistration(client: TestClient): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const metadata = { name: "tars-registration" };
  const rule = (group: string, resources: string[]): object => ({
    apiGroups: [group],
    resources,
    verbs: ["get", "create", "patch", "delete"],
  });
  const configurations = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
  await client.ok("POST", `${rbac}/clusterroles`, {
    metadata,
    rules: [
      rule("admissionregistration.k8s.io", configurations),
      rule("apiextensions.k8s.io", ["customresourcedefinitions"]),
    ],
  });
  await client.ok("POST", `${rbac}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: MANAGER }],
  });
}

/** The manager as `quartet dev` runs it. */
function startTars(kubeconfig: string, ...args: string[]): Promise<GroundManager> {
  return startManager({
    modules: [tarsModule],
    args: [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--webhook-port=0",
      "--log-level=error",
      `--release-name=${RELEASE}`,
      ...["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=0`),
      ...args,
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    registerWebhooks: true,
    processMetrics: false,
  });
}
