/** The stage of a scenario with the tunnel controllers and a Cloudflare API of its own. */
import { seconds } from "@quartet/core";
import { type CloudflareDouble, createCloudflareDouble, DEFAULT_TOKEN } from "@quartet/testing";
import {
  type Stage as CommonStage,
  eventually,
  openStage as openCommonStage,
  type StartOptions,
  type TestManager,
} from "@quartet/testing/stage";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { ConfigDocument } from "../../src/desired/document.ts";
import { createTunnelModule, tunnelModule } from "../../src/index.ts";
import { takeTurn } from "./lock.ts";

const GROUP = "/apis/networking.cloudflare-operator.io";

/** What others need in order to go: they would keep their finalizers without it. */
const NEEDED: ReadonlySet<string> = new Set(["Secret", "CloudflareCredentials", "CloudflareDomain"]);

/** Where the kinds of a scenario are found. */
const PLACES: Readonly<Record<string, readonly [path: string, plural: string, namespaced: boolean]>> = {
  Tunnel: [`${GROUP}/v1alpha2`, "tunnels", true],
  ClusterTunnel: [`${GROUP}/v1alpha2`, "clustertunnels", false],
  TunnelBinding: [`${GROUP}/v1alpha1`, "tunnelbindings", true],
  TunnelIngressClassConfig: [`${GROUP}/v1alpha2`, "tunnelingressclassconfigs", true],
  TunnelGatewayClassConfig: [`${GROUP}/v1alpha2`, "tunnelgatewayclassconfigs", true],
  GatewayClass: ["/apis/gateway.networking.k8s.io/v1", "gatewayclasses", false],
  Gateway: ["/apis/gateway.networking.k8s.io/v1", "gateways", true],
  HTTPRoute: ["/apis/gateway.networking.k8s.io/v1", "httproutes", true],
  CloudflareCredentials: [`${GROUP}/v1alpha2`, "cloudflarecredentials", false],
  CloudflareDomain: [`${GROUP}/v1alpha2`, "cloudflaredomains", false],
  DNSRecord: [`${GROUP}/v1alpha2`, "dnsrecords", true],
  AccessApplication: [`${GROUP}/v1alpha2`, "accessapplications", true],
  AccessGroup: [`${GROUP}/v1alpha2`, "accessgroups", false],
  GatewayRule: [`${GROUP}/v1alpha2`, "gatewayrules", false],
  R2Bucket: [`${GROUP}/v1alpha2`, "r2buckets", true],
  NetworkRoute: [`${GROUP}/v1alpha2`, "networkroutes", false],
  VirtualNetwork: [`${GROUP}/v1alpha2`, "virtualnetworks", false],
  Ingress: ["/apis/networking.k8s.io/v1", "ingresses", true],
  IngressClass: ["/apis/networking.k8s.io/v1", "ingressclasses", false],
  Secret: ["/api/v1", "secrets", true],
  Service: ["/api/v1", "services", true],
  ConfigMap: ["/api/v1", "configmaps", true],
  Event: ["/apis/events.k8s.io/v1", "events", true],
  Deployment: ["/apis/apps/v1", "deployments", true],
};

/** Kinds that the controllers make for others, with which they go. */
const OWNED = ["DNSRecord", "Deployment", "Secret", "ConfigMap"];
/** The configuration of a tunnel is without an owner at the end. */
const isMade = ({ ownerReferences, labels }: Loose): boolean =>
  ownerReferences !== undefined || labels?.["cloudflare-operator.io/tunnel-id"] !== undefined;

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind
export type Loose = any;

export interface TunnelStage extends CommonStage {
  readonly cloudflare: CloudflareDouble;
  startManager(options?: Omit<StartOptions, "modules">): Promise<TestManager>;
  /** Creates an object; kinds without namespaces are deleted with the stage. */
  create(kind: string, name: string, body?: Loose): Promise<Loose>;
  get(kind: string, name: string): Promise<Loose>;
  find(kind: string, name: string): Promise<Loose | undefined>;
  list(kind: string): Promise<Loose[]>;
  patch(kind: string, name: string, body: Loose, subresource?: string): Promise<void>;
  remove(kind: string, name: string): Promise<void>;
  /** Takes away what was created since, waits until all of it is gone, and empties the account. */
  clear(): Promise<void>;
  /** What the server says to an object of a kind, unknown fields refused; nothing is stored. */
  dryRun(object: Loose): Promise<{ code: number; body: unknown }>;
  /** An Ingress of the class with one rule for the host. */
  ingress(name: string, host: string, service: string, path?: string): Promise<void>;
  /** Stored document of a tunnel. */
  document(tunnelId: string): Promise<ConfigDocument | undefined>;
  /** Configuration in the account. */
  remote(tunnelId: string): Loose;
  /** Hosts of it, in their order. */
  hosts(tunnelId: string): (string | undefined)[];
  /** Condition Ready of an object, empty while it has none. */
  ready(kind: string, name: string): Promise<Loose>;
  /** Waits until a ClusterTunnel is active; its identifier. */
  activeTunnel(name: string): Promise<string>;
  /** Bodies of all transmissions of a configuration so far. */
  puts(): Loose[];
  /** Events about an object, as `type reason note`. */
  events(name: string): Promise<string[]>;
}

/** Opens the stage of the target that the test run is for, with credentials, a zone and the class `cloudflare`. */
export async function openStage(): Promise<TunnelStage> {
  const stage = await openCommonStage({ modules: [tunnelModule] });
  const { client, namespace } = stage;
  stage.onClose(await takeTurn(client));
  const begin = seconds(Date.now());
  const cloudflare = await createCloudflareDouble();
  stage.onClose(() => cloudflare.close());
  const path = (kind: string, name = ""): string => {
    const [base, plural, namespaced] = PLACES[kind]!;
    return `${base}${namespaced ? `/namespaces/${namespace}` : ""}/${plural}${name === "" ? "" : `/${name}`}`;
  };
  const remove = async (kind: string, name: string): Promise<void> => {
    await client.request("DELETE", path(kind, name));
  };
  const find = async (kind: string, name: string): Promise<Loose | undefined> => {
    const { code, body } = await client.request("GET", path(kind, name));
    return code === 404 ? undefined : body;
  };
  let created: [kind: string, name: string][] = [];
  const create = async (kind: string, name: string, body: Loose = {}): Promise<Loose> => {
    created.push([kind, name]);
    const [base] = PLACES[kind]!;
    const apiVersion = base.replace(/^\/apis?\//, "");
    const { metadata, ...rest } = body;
    const made = await client.ok("POST", path(kind), {
      apiVersion,
      kind,
      metadata: { ...metadata, name },
      ...rest,
    });
    return made;
  };
  const own: TunnelStage = {
    ...stage,
    cloudflare,
    create,
    find,
    remove,
    async clear() {
      const made = created;
      created = [];
      // What the account does not have is deleted without further ado, be it a default that cannot go.
      cloudflare.reset();
      const isNeeded = ([kind]: (typeof made)[number]): boolean => NEEDED.has(kind);
      for (const wave of [made.filter((one) => !isNeeded(one)), made.filter(isNeeded)]) {
        for (const [kind, name] of wave) await remove(kind, name);
        await eventually(async () => {
          for (const [kind, name] of wave) expect(await find(kind, name), `${kind} ${name}`).toBeUndefined();
          for (const kind of OWNED)
            expect((await own.list(kind)).filter(({ metadata }) => isMade(metadata))).toEqual([]);
        });
      }
      cloudflare.reset();
    },
    dryRun(object) {
      const name = `${object.metadata.name}-dry-run`;
      const { namespace: _, ...metadata } = object.metadata;
      const query = "dryRun=All&fieldValidation=Strict";
      return client.request("POST", `${path(object.kind)}?${query}`, {
        ...object,
        metadata: { ...metadata, name },
      });
    },
    get: (kind, name) => client.ok("GET", path(kind, name)),
    list: async (kind) => (await client.ok<{ items: Loose[] }>("GET", path(kind))).items,
    async patch(kind, name, body, subresource = "") {
      const contentType = "application/merge-patch+json";
      await client.ok("PATCH", `${path(kind, name)}${subresource && `/${subresource}`}`, body, {
        contentType,
      });
    },
    async startManager(options = {}) {
      const flags = { "tunnel-operator-namespace": namespace, "tunnel-sync-debounce": 100, ...options.flags };
      return stage.start({ ...options, flags, modules: [createTunnelModule({ baseUrl: cloudflare.url })] });
    },
    async ingress(name, host, service, prefix = "/") {
      const backend = { service: { name: service, port: { number: 80 } } };
      const rule = { host, http: { paths: [{ path: prefix, pathType: "Prefix", backend }] } };
      await create("Ingress", name, { spec: { ingressClassName: "cloudflare", rules: [rule] } });
    },
    async document(tunnelId) {
      const text = (await find("ConfigMap", `tunnel-config-${tunnelId}`))?.data["config.json"];
      return text === undefined ? undefined : JSON.parse(text);
    },
    remote: (tunnelId) => cloudflare.state.tunnels.get(tunnelId)?.config,
    hosts: (tunnelId) => (own.remote(tunnelId)?.ingress ?? []).map(({ hostname }: Loose) => hostname),
    async ready(kind, name) {
      const { status } = await own.get(kind, name);
      return (status?.conditions ?? []).find(({ type }: Loose) => type === "Ready") ?? {};
    },
    async activeTunnel(name) {
      let id = "";
      await eventually(async () => {
        const { status } = await own.get("ClusterTunnel", name);
        id = status?.tunnelId ?? "";
        expect(status?.state).toBe("active");
      });
      return id;
    },
    puts: () =>
      cloudflare.requests
        .filter(({ method, path: asked }) => method === "PUT" && asked.endsWith("/configurations"))
        .map(({ body }) => (body as Loose).config),
    async events(name) {
      const all = (await client.ok<{ items: Loose[] }>("GET", "/apis/events.k8s.io/v1/events")).items;
      const about = all.filter(
        ({ regarding, metadata }) =>
          regarding.name === name &&
          (metadata.namespace === namespace ||
            // Of cluster-scoped objects; those of other turns are still there.
            (metadata.namespace === "default" && String(metadata.creationTimestamp) >= begin)),
      );
      return about.map(({ type, reason, note }) => `${type} ${reason} ${note}`);
    },
  };
  const data = { CLOUDFLARE_API_TOKEN: Buffer.from(DEFAULT_TOKEN).toString("base64") };
  await create("Secret", "cf", { data });
  await create("CloudflareCredentials", "main", {
    spec: {
      accountId: "test-account-id",
      authType: "apiToken",
      isDefault: true,
      secretRef: { name: "cf", namespace },
    },
  });
  await create("CloudflareDomain", "example.com", { spec: { domain: "example.com" } });
  await create("IngressClass", "cloudflare", {
    spec: { controller: "cloudflare-operator.io/ingress-controller" },
  });
  created = [];
  return own;
}

/**
 * One stage for all tests of a file, with a manager that runs throughout: for tests that need no server of their own. What
 * a test has made goes with its end.
 */
export function shareStage(start: (stage: TunnelStage) => Promise<unknown> = (one) => one.startManager()): {
  readonly stage: TunnelStage;
} {
  let opened: TunnelStage | undefined;
  beforeAll(async () => {
    opened = await openStage();
    await start(opened);
  });
  afterEach(() => opened?.clear());
  afterAll(() => opened?.close());
  return {
    get stage() {
      if (opened === undefined) throw new Error("the stage is there within tests alone");
      return opened;
    },
  };
}
