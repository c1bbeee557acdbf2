/** What the demo shows of the tunnels: Ingresses become one configuration, sent to Cloudflare only when it changes. */
import type { CloudflareDouble } from "@quartet/testing";
import { applySample, create, merge, type Stage, until } from "./stage.ts";

const SAMPLE = "samples/tunnel/tunnel.yaml";
const NAMESPACE = "cloudflare-operator-system";
/** Account and token that the double of Cloudflare's API knows. */
const ACCOUNT = "test-account-id";
const TOKEN = "test-token";
const INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

interface Rule {
  readonly hostname?: string;
  readonly service: string;
}

/** Applies the sample and two Ingresses, of which the wildcard must not hide the other. */
export async function tunnelStory(stage: Stage, cloudflare: CloudflareDouble): Promise<void> {
  const { client, say } = stage;
  await create(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await applySample(stage, SAMPLE, (text) =>
    text
      .replace(/TOKEN: "CHANGE-ME"/, `TOKEN: "${TOKEN}"`)
      .replace(/accountId: "CHANGE-ME"/, `accountId: "${ACCOUNT}"`),
  );
  await create(client, ingress("wildcard", "*.example.com"));
  await create(client, ingress("shop", "shop.example.com"));
  await until("both Ingresses are served", async () => rulesSent(cloudflare).length === 3);
  say(`configuration at Cloudflare: ${rulesSent(cloudflare).map(shown).join("; ")}`);

  const puts = putsOf(cloudflare);
  await merge(client, `${INGRESSES}/shop`, { metadata: { labels: { team: "shop" } } });
  await merge(client, `${INGRESSES}/wildcard`, ingress("wildcard", "*.test.com"));
  const names = () =>
    [...cloudflare.state.zones.values()]
      .flatMap(({ records }) => [...records.values()].map(({ name }) => String(name)))
      .sort();
  await until("the changed host is served and has its record", async () => {
    const served = rulesSent(cloudflare).some(({ hostname }) => hostname === "*.test.com");
    return served && names().includes("*.test.com") && !names().includes("*.example.com");
  });
  say(
    `labelled one Ingress, gave the other a new host: ${putsOf(cloudflare) - puts} PUT of the configuration`,
  );
  say(`names at Cloudflare: ${names().join(", ")}`);
}

function ingress(name: string, host: string): Parameters<typeof create>[1] & { spec: unknown } {
  const backend = { service: { name, port: { number: 80 } } };
  const paths = [{ path: "/", pathType: "Prefix", backend }];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name },
    spec: { ingressClassName: "cloudflare", rules: [{ host, http: { paths } }] },
  };
}

/** The rules that Cloudflare was sent last. */
function rulesSent({ requests }: CloudflareDouble): readonly Rule[] {
  const last = requests.findLast(isPut)?.body as { config?: { ingress?: readonly Rule[] } } | undefined;
  return last?.config?.ingress ?? [];
}

function putsOf({ requests }: CloudflareDouble): number {
  return requests.filter(isPut).length;
}

function isPut({ method, path }: { method: string; path: string }): boolean {
  return method === "PUT" && path.endsWith("/configurations");
}

function shown({ hostname = "(all others)", service }: Rule): string {
  return `${hostname} -> ${service}`;
}
