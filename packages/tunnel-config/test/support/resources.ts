/** The kinds with one counterpart each, as the scenarios that are the same for all of them need to know them. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Loose, TunnelStage } from "./stage.ts";

export interface ResourceCase {
  readonly kind: string;
  readonly plural: string;
  /** Name in the account, from that of the object. */
  readonly spec: (name: string) => Loose;
  /** What the counterpart then has. */
  readonly made: Loose;
  /** A change of the object, and what its counterpart then has. */
  readonly change: Loose;
  readonly changed: Loose;
  /** Field of the status with the identifier. */
  readonly idField: string;
  readonly ready: string;
  /** Path of the calls below the account. */
  readonly path: RegExp;
  /** The counterpart of a name, as it is stored. */
  remote(stage: TunnelStage, name: string): Loose | undefined;
  /** A counterpart that somebody else has made; with a comment where the kind has one. */
  foreign(stage: TunnelStage, name: string, comment: string): Loose;
  /** Somebody takes the counterpart away. */
  take(stage: TunnelStage, name: string): void;
  /** Somebody's change of the counterpart. */
  readonly drift: Loose;
  /** Field that holds the marker; absent for kinds without. */
  readonly comment?: string;
  /** Calls that come with the creation beside the first. */
  readonly more?: RegExp;
  /** What must be there first. */
  readonly before?: (stage: TunnelStage) => Promise<unknown>;
}

const ACCOUNT = "test-account-id";
const CREATED = "2026-01-01T00:00:00.000000Z";

type ListName = "networks" | "routes" | "groups" | "apps" | "rules";

const named =
  (list: ListName) =>
  (stage: TunnelStage, name: string): Loose =>
    [...stage.cloudflare.state.lists[list].values()].find(
      (one: Loose) => one.name === name && !one.deleted_at,
    );

function put(stage: TunnelStage, list: ListName, fields: Loose): Loose {
  const id = randomUUID();
  const stored = { id, account: ACCOUNT, created_at: CREATED, ...fields };
  stage.cloudflare.state.lists[list].set(id, stored);
  return stored;
}

const routeOf = (stage: TunnelStage, name: string): Loose =>
  [...stage.cloudflare.state.lists.routes.values()].find(
    (one: Loose) => one.network === NETWORKS[name] && !one.deleted_at,
  );

const TUNNEL_ID = "6b0b2f3e-6d3c-4d1c-9a0e-0d8b1f6a4c11";
const NETWORKS: Readonly<Record<string, string>> = { one: "10.1.0.0/16", two: "10.2.0.0/16" };
const defaultNetwork = (stage: TunnelStage): Loose =>
  [...stage.cloudflare.state.lists.networks.values()].find((one: Loose) => one.is_default_network);

/** A tunnel that nobody changes. */
async function tunnel(stage: TunnelStage): Promise<void> {
  stage.cloudflare.state.tunnels.set(TUNNEL_ID, {
    account: ACCOUNT,
    fields: { id: TUNNEL_ID, name: "main", status: "healthy", deleted_at: null },
    secret: "",
    connections: [],
    version: 0,
    config: null,
    source: "cloudflare",
    configuredAt: null,
  });
  const annotations = { "cloudflare-operator.io/pause": "true" };
  await stage.create("ClusterTunnel", "main", { metadata: { annotations }, spec: {} });
  const status = { tunnelId: TUNNEL_ID, tunnelName: "main", accountId: ACCOUNT, zoneId: "" };
  await stage.patch("ClusterTunnel", "main", { status }, "status");
}

export const RESOURCES: readonly ResourceCase[] = [
  {
    kind: "VirtualNetwork",
    plural: "virtualnetworks",
    spec: (name) => ({ name, comment: "hq" }),
    made: { comment: expect.stringMatching(/^\[managed-by:VirtualNetwork\/\w+\] hq$/) },
    change: { comment: "branch" },
    changed: { comment: expect.stringMatching(/^\[managed-by:VirtualNetwork\/\w+\] branch$/) },
    idField: "virtualNetworkId",
    ready: "active",
    path: /virtual_networks/,
    remote: named("networks"),
    foreign: (stage, name, comment) =>
      put(stage, "networks", { name, comment, is_default_network: false, deleted_at: null }),
    take: (stage, name) =>
      void stage.cloudflare.state.lists.networks.delete(named("networks")(stage, name).id),
    drift: { comment: "gone" },
    comment: "comment",
  },
  {
    kind: "NetworkRoute",
    plural: "networkroutes",
    spec: (name) => ({
      network: NETWORKS[name],
      tunnelRef: { kind: "ClusterTunnel", name: "main" },
      comment: "hq",
    }),
    made: { tunnel_id: TUNNEL_ID, comment: expect.stringMatching(/^\[managed-by:NetworkRoute\/\w+\] hq$/) },
    change: { comment: "branch" },
    changed: { comment: expect.stringMatching(/^\[managed-by:NetworkRoute\/\w+\] branch$/) },
    idField: "routeId",
    ready: "active",
    path: /teamnet\/routes/,
    remote: routeOf,
    foreign: (stage, name, comment) =>
      put(stage, "routes", {
        network: NETWORKS[name],
        tunnel_id: TUNNEL_ID,
        virtual_network_id: defaultNetwork(stage).id,
        comment,
        deleted_at: null,
      }),
    take: (stage, name) => void stage.cloudflare.state.lists.routes.delete(routeOf(stage, name).id),
    drift: { comment: "gone" },
    comment: "comment",
    before: tunnel,
  },
  {
    kind: "AccessGroup",
    plural: "accessgroups",
    spec: (name) => ({
      name,
      include: [{ email: { email: "a@example.com" } }, { emailDomain: { domain: "b.c" } }],
    }),
    made: { include: [{ email: { email: "a@example.com" } }, { email_domain: { domain: "b.c" } }] },
    change: { include: [{ everyone: true }], exclude: [{ country: { country: ["KP", "RU"] } }] },
    changed: {
      include: [{ everyone: {} }],
      exclude: [{ geo: { country_code: "KP" } }, { geo: { country_code: "RU" } }],
    },
    idField: "groupId",
    ready: "Ready",
    path: /access\/groups/,
    remote: named("groups"),
    foreign: (stage, name) => put(stage, "groups", { name, include: [{ everyone: {} }] }),
    take: (stage, name) => void stage.cloudflare.state.lists.groups.delete(named("groups")(stage, name).id),
    drift: { include: [{ email: { email: "intruder@example.com" } }] },
  },
  {
    kind: "AccessApplication",
    plural: "accessapplications",
    spec: (name) => ({
      name,
      domain: `${name}.example.com`,
      policies: [{ policyName: "staff", include: [{ emailDomain: { domain: "example.com" } }] }],
    }),
    made: {
      type: "self_hosted",
      session_duration: "24h",
      destinations: [{ type: "public", uri: "one.example.com" }],
      policies: [
        { name: "staff", decision: "allow", include: [{ email_domain: { domain: "example.com" } }] },
      ],
    },
    change: { sessionDuration: "6h", selfHostedDomains: ["one.example.com", "two.example.com"] },
    changed: {
      session_duration: "6h",
      destinations: ["one", "two"].map((host) => ({ type: "public", uri: `${host}.example.com` })),
      policies: [{ name: "staff" }],
    },
    idField: "applicationId",
    ready: "active",
    path: /access\/apps/,
    remote: named("apps"),
    foreign: (stage, name) =>
      put(stage, "apps", { name, domain: "x.example.com", type: "self_hosted", policies: [] }),
    take: (stage, name) => void stage.cloudflare.state.lists.apps.delete(named("apps")(stage, name).id),
    drift: { session_duration: "720h" },
    more: /\/policies/,
  },
  {
    kind: "R2Bucket",
    plural: "r2buckets",
    spec: (name) => ({ name, cors: [{ allowedOrigins: ["https://a.b"], allowedMethods: ["GET"] }] }),
    made: { cors: [{ allowed: { origins: ["https://a.b"], methods: ["GET"] } }] },
    change: { lifecycle: [{ id: "x", prefix: "tmp/", expiration: { days: 7 } }] },
    changed: {
      lifecycle: [
        {
          id: "x",
          enabled: true,
          conditions: { prefix: "tmp/" },
          deleteObjectsTransition: { condition: { type: "Age", maxAge: 604_800 } },
        },
      ],
    },
    idField: "bucketName",
    ready: "Ready",
    path: /r2\/buckets/,
    remote: (stage, name) => stage.cloudflare.state.buckets.get(`${ACCOUNT}/${name}`),
    foreign: (stage, name) => {
      const fields = { name, location: "WEUR", creation_date: CREATED };
      const bucket = { fields, cors: [], lifecycle: [], objects: 0 };
      stage.cloudflare.state.buckets.set(`${ACCOUNT}/${name}`, bucket);
      return bucket;
    },
    take: (stage, name) => void stage.cloudflare.state.buckets.delete(`${ACCOUNT}/${name}`),
    drift: { lifecycle: [] },
  },
  {
    kind: "GatewayRule",
    plural: "gatewayrules",
    spec: (name) => ({
      name,
      description: "why",
      precedence: name === "one" ? 100 : 300,
      action: "block",
      filters: ["dns"],
      traffic: 'any(dns.domains[*] == "bad.example.com")',
      ruleSettings: { blockPageEnabled: true, blockReason: "no" },
    }),
    made: {
      description: expect.stringMatching(/^\[managed-by:GatewayRule\/\w+\] why$/),
      enabled: true,
      rule_settings: { block_page_enabled: true, block_reason: "no" },
    },
    change: { precedence: 200, enabled: false, ruleSettings: { blockReason: null } },
    changed: { precedence: 200, enabled: false, rule_settings: { block_page_enabled: true } },
    idField: "ruleId",
    ready: "Ready",
    path: /gateway\/rules/,
    remote: named("rules"),
    foreign: (stage, name, description) =>
      put(stage, "rules", { name, description, precedence: 7, enabled: true, action: "allow" }),
    take: (stage, name) => void stage.cloudflare.state.lists.rules.delete(named("rules")(stage, name).id),
    drift: { precedence: 250 },
    comment: "description",
  },
];
