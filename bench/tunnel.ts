/**
 * `npm run bench:tunnel`: a burst of Ingresses on one tunnel, on a real API server and the stand-in of the Cloudflare API.
 * Prints transmissions, writes of the ConfigMap and times.
 */
import { parseArgs } from "node:util";
import {
  createCloudflareDouble,
  DEFAULT_TOKEN,
  gatewayCrds,
  installCrds,
  startControlPlane,
  testClient,
} from "@quartet/testing";
import { crdsOf, openStage } from "@quartet/testing/stage";
import { createTunnelModule } from "@quartet/tunnel-config";

const { values } = parseArgs({ options: { ingresses: { type: "string", default: "1000" } } });
const COUNT = Number(values.ingresses);
const WRITERS = 8;
const LIMIT_MS = 300_000;
const GROUP = "/apis/networking.cloudflare-operator.io/v1alpha2";
const NETWORKING = "/apis/networking.k8s.io/v1";

interface Named {
  readonly status?: { readonly tunnelId?: string; readonly state?: string };
}

const server = await startControlPlane({ onProgress: (line) => console.error(line) });
const cloudflare = await createCloudflareDouble();
const module = createTunnelModule({ baseUrl: cloudflare.url });
const admin = testClient(await server.kubeconfig());
await installCrds(admin, [...crdsOf([module]), ...gatewayCrds()]);
const stage = await openStage({ modules: [module], server });
const { client, namespace } = stage;
try {
  await createCommon();
  const manager = await stage.start({ flags: { "tunnel-operator-namespace": namespace }, logLevel: "warn" });
  await until(async () => (await tunnel()).status?.state === "active");
  const id = (await tunnel()).status?.tunnelId ?? "";
  const from = cloudflare.requests.length;
  const since = Date.now();
  await createIngresses();
  const createdMs = Date.now() - since;
  await until(() => rulesOf(id) === COUNT + 1);
  const servedMs = Date.now() - since;
  await until(async () => (await stored(id)) === COUNT + 1);
  const calls = cloudflare.requests.slice(from);
  const puts = calls.filter(({ method, path }) => method === "PUT" && path.endsWith("/configurations"));
  const writes = await stage.writes(since);
  const maps = writes.filter((write) => write.includes("configmaps"));
  const rest = writes.filter((write) => !write.includes("configmaps"));
  console.log(`${COUNT} Ingresses, created in ${seconds(createdMs)} s by ${WRITERS} writers`);
  console.log(`all served after ${seconds(servedMs)} s, ${seconds(servedMs - createdMs)} s after the last`);
  console.log(`${puts.length} PUTs of the configuration, ${calls.length} calls of the API in all`);
  console.log(
    `${maps.length} writes of the ConfigMap, ${rest.length} other writes (${(rest.length / COUNT).toFixed(2)} an Ingress)`,
  );
  await manager.stop();
} finally {
  await stage.close();
  admin.close();
  await cloudflare.close();
  await server.stop();
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

function tunnel(): Promise<Named> {
  return client.ok<Named>("GET", `${GROUP}/clustertunnels/main`);
}

function rulesOf(id: string): number {
  return (cloudflare.state.tunnels.get(id)?.config as { ingress?: unknown[] } | null)?.ingress?.length ?? 0;
}

async function stored(id: string): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/tunnel-config-${id}`;
  const { data } = await client.ok<{ data: Record<string, string> }>("GET", path);
  return Object.keys((JSON.parse(data["config.json"] ?? "{}") as { sources: object }).sources).length;
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not done within ${LIMIT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Credentials, a tunnel, and a class whose hosts get no DNS records. */
async function createCommon(): Promise<void> {
  const token = Buffer.from(DEFAULT_TOKEN).toString("base64");
  const own = "networking.cloudflare-operator.io/v1alpha2";
  await client.ok("POST", `/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "cf" },
    data: { CLOUDFLARE_API_TOKEN: token },
  });
  await client.ok("POST", `${GROUP}/cloudflarecredentials`, {
    apiVersion: own,
    kind: "CloudflareCredentials",
    metadata: { name: "main" },
    spec: {
      accountId: "test-account-id",
      authType: "apiToken",
      isDefault: true,
      secretRef: { name: "cf", namespace },
    },
  });
  await client.ok("POST", `${GROUP}/clustertunnels`, {
    apiVersion: own,
    kind: "ClusterTunnel",
    metadata: { name: "main" },
    spec: { newTunnel: { name: "main" } },
  });
  await client.ok("POST", `${GROUP}/namespaces/${namespace}/tunnelingressclassconfigs`, {
    apiVersion: own,
    kind: "TunnelIngressClassConfig",
    metadata: { name: "main" },
    spec: { tunnelRef: { kind: "ClusterTunnel", name: "main" }, dnsManagement: "Manual" },
  });
  await client.ok("POST", `${NETWORKING}/ingressclasses`, {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "cloudflare" },
    spec: {
      controller: "cloudflare-operator.io/ingress-controller",
      parameters: {
        apiGroup: "networking.cloudflare-operator.io",
        kind: "TunnelIngressClassConfig",
        name: "main",
        namespace,
        scope: "Namespace",
      },
    },
  });
}

async function createIngresses(): Promise<void> {
  const numbers = Array.from({ length: COUNT }, (_, index) => index);
  const write = async (): Promise<void> => {
    for (let index = numbers.pop(); index !== undefined; index = numbers.pop()) {
      const backend = { service: { name: `web-${index}`, port: { number: 80 } } };
      const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
      await client.ok("POST", `${NETWORKING}/namespaces/${namespace}/ingresses`, {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { name: `i-${index}` },
        spec: { ingressClassName: "cloudflare", rules: [{ host: `i${index}.example.com`, http }] },
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}
