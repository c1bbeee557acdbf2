/** Where a recorded case is played: an API server, an account with nothing in it, and the objects that every case has. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ControllerModule } from "@quartet/core";
import {
  type ApiServer,
  addNode,
  type CloudflareDouble,
  createCloudflareDouble,
  DEFAULT_TOKEN,
  gatewayCrds,
  installCrds,
  startControlPlane,
  startDouble,
  type TestClient,
  testClient,
} from "@quartet/testing";
import { type Catalogue, openCatalogue } from "@quartet/testing/replay";
import { crdsOf, grantRights, startTestManager, type TestManager } from "@quartet/testing/stage";
import { createTunnelModule, tunnelModule } from "../../src/index.ts";
import { takeTurn } from "../support/lock.ts";
import { type CaseObject, versionOf } from "./format.ts";

export const OPERATOR_NAMESPACE = "cloudflare-operator-system";
/** Token of whoever else makes calls in the account. */
export const STRANGER = "somebody-else";
const USER = "tunnel-manager";
const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";
/** Objects that the API server makes by itself. */
const SYSTEM = new Set(["kube-root-ca.crt"]);
/** Kinds that may be left over after a case. */
const LEFTOVERS: readonly string[] = [
  "Ingress",
  "HTTPRoute",
  "Gateway",
  "GatewayClass",
  "IngressClass",
  "Secret",
  "ConfigMap",
  "Service",
  ...tunnelModule.kinds.map(({ kind }) => kind),
];
const POD_CIDR = "127.3.0.0/16";

/** One case's world. */
export interface Place {
  readonly client: TestClient;
  readonly cloudflare: CloudflareDouble;
  readonly manager: TestManager;
  /** Credentials that are not the manager's, as the log of calls shows them. */
  readonly strangers: ReadonlySet<string>;
  pathOf(object: Pick<CaseObject, "apiVersion" | "kind" | "metadata">): Promise<string>;
  collectionOf(kind: string, namespace?: string): Promise<string>;
  apply(object: CaseObject): Promise<{ code: number; message: string }>;
  close(): Promise<void>;
}

/** Opens a place for each case. */
export interface Ground {
  open(namespaces: readonly string[]): Promise<Place>;
  close(): Promise<void>;
}

export interface GroundOptions {
  readonly real: boolean;
  readonly onProgress?: (line: string) => void;
}

/** Servers that cases take turns on: cases wait far more than they compute, but a real control plane is dear. */
const LANES = { double: 5, real: 1 } as const;

/** Each server plays one case after the other; a real control plane is built first when it is not there. */
export async function startGround({ real, onProgress }: GroundOptions): Promise<Ground> {
  const start = (): Promise<ApiServer> =>
    real ? startControlPlane({ podCidr: POD_CIDR, ...(onProgress && { onProgress }) }) : startDouble();
  const count = real ? LANES.real : LANES.double;
  const servers = await Promise.all(Array.from({ length: count }, start));
  const sites = await Promise.all(servers.map(openSite));
  return {
    ...inTurns(sites),
    async close() {
      for (const { client } of sites) client.close();
      for (const server of servers) await server.stop();
    },
  };
}

/** Ground on a server of the caller's, who also stops it. */
export async function openGround(server: ApiServer): Promise<Ground> {
  const site = await openSite(server);
  const end = await takeTurn(site.client);
  return {
    ...inTurns([site]),
    async close() {
      await end();
      site.client.close();
    },
  };
}

/** Opens a place on whichever server is free. */
function inTurns(sites: readonly Site[]): Pick<Ground, "open"> {
  const free = [...sites];
  const waiting: ((site: Site) => void)[] = [];
  const release = (site: Site): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(site);
    else next(site);
  };
  return {
    async open(namespaces) {
      const site = free.pop() ?? (await new Promise<Site>((resolve) => waiting.push(resolve)));
      try {
        const place = await openPlace(site, namespaces);
        return {
          ...place,
          async close() {
            await place.close();
            await clean(site, namespaces);
            release(site);
          },
        };
      } catch (error) {
        release(site);
        throw error;
      }
    },
  };
}

interface Site {
  readonly server: ApiServer;
  readonly client: TestClient;
  readonly catalogue: Catalogue;
  readonly kubeconfig: string;
}

/** Definitions, the operator's namespace and the rights of a manager for the whole cluster. */
async function openSite(server: ApiServer): Promise<Site> {
  const client = testClient(await server.kubeconfig());
  await installCrds(client, [...crdsOf([tunnelModule]), ...gatewayCrds()]);
  if (server.target === "real") await addNode(client, "node-0");
  await ensureNamespace(client, OPERATOR_NAMESPACE);
  const modules: readonly ControllerModule[] = [tunnelModule];
  await grantRights({ server, client, modules, release: OPERATOR_NAMESPACE, namespaces: [], user: USER });
  const kubeconfig = await server.kubeconfig({ user: USER, groups: [] });
  return { server, client, catalogue: openCatalogue(client), kubeconfig };
}

async function openPlace(site: Site, namespaces: readonly string[]): Promise<Place> {
  const { client, catalogue, kubeconfig } = site;
  const cloudflare = await createCloudflareDouble();
  const strangers = await admit(cloudflare);
  for (const namespace of namespaces) await ensureNamespace(client, namespace);
  const pathOf: Place["pathOf"] = (object) =>
    catalogue.path(object, object.metadata.namespace ?? "default", object.metadata.name);
  const apply: Place["apply"] = async (object) => {
    const path = `${await pathOf(object)}?fieldManager=corpus&force=true`;
    const { code, body } = await client.request<{ message?: string }>("PATCH", path, object, {
      contentType: APPLY,
    });
    return { code, message: body.message ?? "" };
  };
  for (const object of commonObjects()) {
    const { code, message } = await apply(object);
    if (code >= 400) throw new Error(`${object.kind} ${object.metadata.name}: ${message}`);
  }
  // What the case makes is younger: times have whole seconds.
  await sleep(1_000);
  const manager = await startTestManager({
    modules: [createTunnelModule({ baseUrl: cloudflare.url })],
    flags: { "tunnel-sync-debounce": 100, "tunnel-operator-namespace": OPERATOR_NAMESPACE },
    logLevel: "info",
    kubeconfig,
  });
  await manager.working();
  return {
    client,
    cloudflare,
    strangers,
    manager,
    pathOf,
    apply,
    collectionOf: (kind, namespace = "default") =>
      catalogue.path({ apiVersion: versionOf(kind), kind }, namespace),
    async close() {
      await manager.stop();
      await cloudflare.close();
    },
  };
}

/** Makes the stranger known, and says how the log of calls names it. */
async function admit(cloudflare: CloudflareDouble): Promise<ReadonlySet<string>> {
  const tester = cloudflare.users.tokens.get(DEFAULT_TOKEN)!;
  cloudflare.users.tokens.set(STRANGER, { ...tester, name: "stranger" });
  await fetch(`${cloudflare.url}/user/tokens/verify`, { headers: { authorization: `Bearer ${STRANGER}` } });
  return new Set(cloudflare.requests.map(({ credential }) => credential));
}

/** What stands in the cluster before the first step. */
function commonObjects(): CaseObject[] {
  const object = (kind: string, metadata: CaseObject["metadata"], rest: object): CaseObject => ({
    apiVersion: versionOf(kind),
    kind,
    metadata,
    ...rest,
  });
  const token = Buffer.from(DEFAULT_TOKEN).toString("base64");
  return [
    object(
      "Secret",
      { name: "cf", namespace: OPERATOR_NAMESPACE },
      { data: { CLOUDFLARE_API_TOKEN: token } },
    ),
    object(
      "CloudflareCredentials",
      { name: "main" },
      {
        spec: {
          accountId: "test-account-id",
          authType: "apiToken",
          isDefault: true,
          secretRef: { name: "cf", namespace: OPERATOR_NAMESPACE },
        },
      },
    ),
    object(
      "CloudflareDomain",
      { name: "example.com" },
      { spec: { domain: "example.com", zoneId: "test-zone-id" } },
    ),
  ];
}

async function ensureNamespace(client: TestClient, name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  for (;;) {
    const { code } = await client.request("POST", "/api/v1/namespaces", body);
    if (code === 201) break;
    const live = await client.request<{ metadata?: { deletionTimestamp?: string } }>(
      "GET",
      `/api/v1/namespaces/${name}`,
    );
    if (live.code === 200 && live.body.metadata?.deletionTimestamp === undefined) break;
    await sleep(200);
  }
}

/** Takes away what a case has left, for the next to find nothing. */
async function clean({ client, catalogue }: Site, namespaces: readonly string[]): Promise<void> {
  for (const kind of LEFTOVERS) {
    for (const namespace of [...namespaces, OPERATOR_NAMESPACE]) {
      const collection = await catalogue.path({ apiVersion: versionOf(kind), kind }, namespace);
      const { items = [] } = (await client.request<{ items?: CaseObject[] }>("GET", collection)).body;
      for (const { metadata } of items) {
        if (SYSTEM.has(metadata.name)) continue;
        const path = `${collection}/${metadata.name}`;
        await client.request("DELETE", path);
        if (metadata.finalizers === undefined) continue;
        await client.request("PATCH", path, { metadata: { finalizers: null } }, { contentType: MERGE });
      }
    }
  }
  for (const namespace of namespaces) await client.request("DELETE", `/api/v1/namespaces/${namespace}`);
}
