/** Resources that nobody expects, made from the schemas of the definitions. */
import { hostileKind, testHostileResources } from "@quartet/testing/hostile";
import { crdsOf } from "@quartet/testing/stage";
import { tunnelModule } from "../src/index.ts";
import { openStage } from "./support/stage.ts";

const REAL = process.env.QUARTET_TARGET === "real";

/** Sound resources by kind. */
const BASES: Readonly<Record<string, object>> = {
  Tunnel: { spec: { newTunnel: { name: "h" } } },
  ClusterTunnel: { spec: { newTunnel: { name: "h" } } },
  TunnelBinding: {
    subjects: [{ name: "svc", spec: { fqdn: "a.example.com" } }],
    tunnelRef: { kind: "ClusterTunnel", name: "main" },
  },
  CloudflareCredentials: {
    spec: { accountId: "test-account-id", authType: "apiToken", secretRef: { name: "cf" } },
  },
  CloudflareDomain: { spec: { domain: "example.com" } },
  DNSRecord: { spec: { name: "a.example.com", type: "A", content: "192.0.2.1" } },
  NetworkRoute: { spec: { network: "10.0.0.0/8", tunnelRef: { kind: "ClusterTunnel", name: "main" } } },
  AccessGroup: { spec: { include: [{ everyone: true }] } },
  AccessApplication: { spec: { domain: "a.example.com" } },
  GatewayRule: { spec: { precedence: 1, action: "block" } },
};
/** Read by the controllers of others, which say what they make of it. */
const SILENT: ReadonlySet<string> = new Set(["TunnelIngressClassConfig"]);

testHostileResources({
  ids: "CORE-478 tunnel",
  async open() {
    const stage = await openStage();
    const manager = await stage.startManager();
    return { ...stage, log: manager.log };
  },
  kinds: crdsOf([tunnelModule]).map((definition) => {
    const kind = hostileKind(definition);
    const base = BASES[kind.kind];
    return { kind, ...(base && { base: { ...base } }), silent: SILENT.has(kind.kind) };
  }),
  count: REAL ? 4 : 20,
  // Nobody else may use kinds without namespaces meanwhile; on doubles, where everybody has one, it is a minute.
  ...(REAL && { watchedMs: 30_000 }),
});
