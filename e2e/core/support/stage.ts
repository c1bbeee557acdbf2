/** What a scenario of the core runs on: an API server, a namespace of its own, and managers of the Echo controller. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControllerModule, rbacFor } from "@quartet/core";
import { type RunningManager, startManager } from "@quartet/manager";
import {
  type ApiServer,
  attachControlPlane,
  type CustomResourceDefinition,
  type FaultProxy,
  installCrds,
  type RequestRecord,
  startDouble,
  startFaultProxy,
  type TestClient,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { inject } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createEchoModule, type EchoOptions } from "../../echo/echo.ts";
import { type CleanupEndpoint, startCleanupEndpoint } from "./cleanup-endpoint.ts";

/** Verbs that change something. */
const WRITES = ["create", "update", "patch", "apply", "delete", "deletecollection"];

/** A manager of a scenario. */
export interface StageManager extends RunningManager {
  /** Log lines so far, decoded. */
  readonly log: readonly Record<string, unknown>[];
  /** Sum of the samples of a metric whose labels hold all of these texts, such as `reason="start"`. */
  metric(name: string, ...labels: string[]): Promise<number>;
}

export interface StartOptions extends EchoOptions {
  /** Modules in place of the Echo controller. */
  readonly modules?: readonly ControllerModule[];
  readonly args?: readonly string[];
  /** Life of webhook certificates in milliseconds. */
  readonly certificateLifeMs?: number;
}

export interface Stage {
  readonly target: ApiServer["target"];
  readonly server: ApiServer;
  readonly client: TestClient;
  readonly namespace: string;
  /** User of the managers: it has the rights that `--print-rbac` names, in this namespace alone. */
  readonly user: string;
  /** On the way between managers and server. */
  readonly proxy: FaultProxy;
  /** Where cleanups arrive. */
  readonly endpoint: CleanupEndpoint;
  start(options?: StartOptions): Promise<StageManager>;
  /** Gives the managers' user the rights that modules need. */
  grant(modules: readonly ControllerModule[]): Promise<void>;
  /** Requests of the managers since a moment, in order. */
  requests(since?: number): Promise<RequestRecord[]>;
  /** Their writes as `verb resource[/subresource] name`, events left out. */
  writes(since?: number): Promise<string[]>;
  close(): Promise<void>;
}

/** The CRD of Echo, for another group if asked. */
export function echoCrd(group = "test.quartet.io"): CustomResourceDefinition {
  const text = readFileSync(new URL("../../echo/crd.yaml", import.meta.url), "utf8");
  return parse(text.replaceAll("test.quartet.io", group)) as CustomResourceDefinition;
}

/** Opens a stage on the target of the test run, or on a server of the caller's own. */
export async function openStage(own?: ApiServer): Promise<Stage> {
  const real = process.env.QUARTET_TARGET === "real";
  const server = own ?? (real ? attachControlPlane(inject("controlPlane")) : await startDouble());
  const client = testClient(await server.kubeconfig());
  await installCrds(client, [echoCrd()]);
  const { name: namespace, remove } = await testNamespace(client);
  const proxy = await startFaultProxy({ upstream: server });
  const endpoint = await startCleanupEndpoint();
  const folder = await mkdtemp(join(tmpdir(), "quartet-e2e-"));
  const user = `manager-of-${namespace}`;
  const managers: RunningManager[] = [];
  let granted = false;

  const grant = async (modules: readonly ControllerModule[]): Promise<void> => {
    granted = true;
    await grantRights(client, modules, namespace, user);
  };
  const requests = (since = 0): Promise<RequestRecord[]> => server.requests({ since, user });
  return {
    target: server.target,
    server,
    client,
    namespace,
    user,
    proxy,
    endpoint,
    grant,
    requests,
    async writes(since) {
      const writes = (await requests(since)).filter(
        ({ verb, resource, group }) =>
          WRITES.includes(verb) && resource !== "events" && group !== "authorization.k8s.io",
      );
      return writes.map(({ verb, resource, subresource, name }) =>
        [verb, subresource === "" ? resource : `${resource}/${subresource}`, name].join(" "),
      );
    },
    async start({ modules, args = [], certificateLifeMs, ...options } = {}) {
      const run = modules ?? [createEchoModule({ cleanupUrl: endpoint.url, ...options })];
      if (!granted) await grant(run);
      const kubeconfig = join(folder, `${managers.length}.yaml`);
      await writeFile(kubeconfig, await proxy.kubeconfig({ user, groups: [] }), { mode: 0o600 });
      const manager = await startStageManager(
        run,
        [
          `--kubeconfig=${kubeconfig}`,
          `--namespaces=${namespace}`,
          `--leader-election-namespace=${namespace}`,
          `--release-name=${namespace}`,
          ...args,
        ],
        certificateLifeMs,
      );
      managers.push(manager);
      return manager;
    },
    async close() {
      proxy.clear();
      await Promise.all(managers.map((manager) => manager.stop()));
      await Promise.all([proxy.stop(), endpoint.close()]);
      await remove();
      await removeClusterRights(client, namespace);
      client.close();
      if (own === undefined) await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const LISTEN = ["metrics", "health-probe", "debug"].map((name) => `--${name}-bind-address=127.0.0.1:0`);

async function startStageManager(
  modules: readonly ControllerModule[],
  args: readonly string[],
  certificateLifeMs: number | undefined,
): Promise<StageManager> {
  const log: Record<string, unknown>[] = [];
  const webhooks = args.some((arg) => arg.startsWith("--webhook-port"));
  const manager = await startManager({
    modules,
    args: [
      ...LISTEN,
      ...(webhooks ? [] : ["--webhook-port=-1"]),
      "--shutdown-delay=0s",
      "--log-level=debug",
      ...args,
    ],
    env: { QUARTET_CACHE_GUARD: "1" },
    logDestination: { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) },
    processMetrics: false,
    ...(certificateLifeMs && { certificateLifeMs }),
  });
  return {
    ...manager,
    log,
    async metric(name, ...labels) {
      const lines = (await manager.manager.metrics.render()).split("\n");
      return lines
        .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
  };
}

interface Role {
  kind: "Role" | "ClusterRole";
  metadata: { name: string; namespace?: string };
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Applies the roles that `--print-rbac` prints, each bound to the user. */
async function grantRights(
  client: TestClient,
  modules: readonly ControllerModule[],
  namespace: string,
  user: string,
): Promise<void> {
  const text = rbacFor(modules, {
    release: namespace,
    releaseNamespace: namespace,
    namespaces: [namespace],
    leaseName: "quartet-manager",
    webhooks: true,
    ownCertificates: true,
    metricsSecure: false,
  });
  for (const document of parseAllDocuments(text)) {
    const role = document.toJS() as Role;
    const { kind, metadata } = role;
    const base = metadata.namespace === undefined ? RBAC : `${RBAC}/namespaces/${metadata.namespace}`;
    const apply = (path: string, body: object): Promise<unknown> =>
      client.ok("PATCH", `${base}/${path}/${metadata.name}?fieldManager=e2e&force=true`, body, {
        contentType: "application/apply-patch+yaml",
      });
    await apply(`${kind.toLowerCase()}s`, role);
    await apply(`${kind.toLowerCase()}bindings`, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: metadata.name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    });
  }
}

async function removeClusterRights(client: TestClient, release: string): Promise<void> {
  for (const plural of ["clusterroles", "clusterrolebindings"]) {
    await client.request("DELETE", `${RBAC}/${plural}/${release}-cluster-read`);
  }
}
