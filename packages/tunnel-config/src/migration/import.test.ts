import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { importObjects } from "./import.ts";
import { manifestsOf, migratedText } from "./manifests.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
type Loose = any;

const PLAIN = { suffix: "", migrateLocalConfig: false };
const imported = (text: string, options = PLAIN) => importObjects(manifestsOf(text), options);
const made = (text: string, options = PLAIN): Loose[] =>
  parseAllDocuments(migratedText(imported(text, options)))
    .map((document) => document.toJS())
    .filter((object) => object !== null);

const TUNNEL = `
apiVersion: networking.cfargotunnel.com/v1alpha2
kind: ClusterTunnel
metadata:
  name: edge
  uid: u-1
  finalizers: [cfargotunnel.com/finalizer]
  labels: { cfargotunnel.com/id: t-1, team: web }
  annotations: { kubectl.kubernetes.io/last-applied-configuration: "{}" }
spec:
  newTunnel: { name: edge }
  cloudflare: { domain: example.com, secret: cf, accountId: a-1 }
  fallbackTarget: http_status:503
  deployPatch: '{"spec":{"replicas":2}}'
  size: 3
status: { tunnelId: t-1, tunnelName: edge }
`;
const BINDING = `
apiVersion: networking.cfargotunnel.com/v1alpha1
kind: TunnelBinding
metadata: { name: shop, namespace: web, annotations: { cfargotunnel.com/previous-hostnames: x, note: y } }
subjects:
  - { kind: Service, name: shop, spec: { fqdn: shop.example.com, noTlsVerify: true, odd: 1 } }
  - { name: other }
tunnelRef: { kind: clusterTunnel, name: edge, disableDNSUpdates: true }
status: { hostnames: shop.example.com }
`;

describe("objects of networking.cfargotunnel.com", () => {
  it("TUN-1016 a tunnel that is there is named by its identifier, whatever its object said", () => {
    const [object] = made(TUNNEL);
    expect(object).toEqual({
      apiVersion: "networking.cloudflare-operator.io/v1alpha2",
      kind: "ClusterTunnel",
      metadata: { name: "edge", labels: { team: "web" } },
      spec: {
        existingTunnel: { id: "t-1", name: "edge" },
        cloudflare: { domain: "example.com", secret: "cf", accountId: "a-1" },
        fallbackTarget: "http_status:503",
        deployPatch: '{"spec":{"replicas":2}}',
      },
    });
    const [{ notes }] = imported(TUNNEL) as [Loose];
    for (const text of ["spec.size", "existingTunnel", "migrate-local-config", "Secret cf"])
      expect(notes).toContainEqual(expect.stringContaining(text));
  });

  it("TUN-1016 what v1alpha1 says of pods becomes a patch, and a tunnel that is not known keeps its name", () => {
    const [object] = made(
      TUNNEL.replace("v1alpha2", "v1alpha1")
        .replace(/ {2}deployPatch.*\n/, "")
        .replace(/^status.*$/m, ""),
    );
    expect(object.spec.newTunnel).toEqual({ name: "edge" });
    expect(JSON.parse(object.spec.deployPatch)).toEqual({ spec: { replicas: 3 } });
  });

  it("TUN-1016 a binding keeps its subjects; members without a counterpart are told", () => {
    const [object] = made(BINDING);
    expect(object).toEqual({
      apiVersion: "networking.cloudflare-operator.io/v1alpha1",
      kind: "TunnelBinding",
      metadata: { name: "shop", namespace: "web", annotations: { note: "y" } },
      subjects: [
        { kind: "Service", name: "shop", spec: { fqdn: "shop.example.com", noTlsVerify: true } },
        { name: "other" },
      ],
      tunnelRef: { kind: "ClusterTunnel", name: "edge", disableDNSUpdates: true },
    });
    expect(imported(BINDING)[0]?.notes).toEqual([
      "not carried over: subjects[0].spec.odd has no counterpart",
    ]);
  });

  it("TUN-1016 both operators can run beside each other under another name, and files give way on demand", () => {
    const list = { kind: "List", apiVersion: "v1", items: [...manifestsOf(TUNNEL), ...manifestsOf(BINDING)] };
    const text = JSON.stringify({ ...list, items: list.items.map(({ body }) => body) });
    const [tunnel, binding] = made(text, { suffix: "-new", migrateLocalConfig: true });
    expect(tunnel.metadata).toMatchObject({
      name: "edge-new",
      annotations: { "cloudflare-operator.io/migrate-local-config": "true" },
    });
    expect(binding).toMatchObject({ metadata: { name: "shop" }, tunnelRef: { name: "edge-new" } });
  });

  it("TUN-1016 nothing is opened to everybody, and what is of another kind is left out, with the reason", () => {
    const guarded = `${BINDING}accessConfig: { enabled: true }\n`;
    expect(made(guarded)).toEqual([]);
    expect(imported(guarded)[0]?.notes[0]).toContain("open to everybody");
    const access =
      "{apiVersion: networking.cfargotunnel.com/v1alpha1, kind: AccessTunnel, metadata: {name: a}}";
    expect(imported(access)[0]?.notes[0]).toContain("cloudflared access");
    expect(imported("{apiVersion: v1, kind: Service, metadata: {name: a}}")[0]?.notes[0]).toContain(
      "it is of v1",
    );
    expect(() => imported("{")).toThrow("no YAML");
    expect(() => imported("[1]")).toThrow("no object");
    expect(migratedText(imported(""))).toBe("# objects read: 0, made: 0, with remarks: 0\n");
  });

  it("TUN-1016 a name cannot end its comment", () => {
    const text = JSON.stringify({ kind: "Pod", metadata: { name: "a\nkind: Secret\u2028b" } });
    expect(migratedText(imported(text)).split("\n")[0]).toBe("# Pod a kind: Secret b");
    expect(made(text)).toEqual([]);
  });
});
