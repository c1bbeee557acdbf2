/** Access groups and applications: references and policies. */
import { randomUUID } from "node:crypto";
import { eventually } from "@quartet/testing/stage";
import { beforeEach, describe, expect, it } from "vitest";
import { type Loose, shareStage, type TunnelStage } from "./support/stage.ts";

const APPS = "/accounts/test-account-id/access/apps";

const shared = shareStage();
let stage: TunnelStage;
beforeEach(() => {
  stage = shared.stage;
});

const condition = async (kind: string, name: string): Promise<Loose> =>
  ((await stage.get(kind, name)).status?.conditions ?? []).find(({ type }: Loose) => type === "Ready") ?? {};
const isReady = (kind: string, name: string) =>
  eventually(async () => {
    const { metadata, status } = await stage.get(kind, name);
    expect(status?.observedGeneration).toBe(metadata.generation);
    expect(await condition(kind, name)).toMatchObject({ status: "True" });
  });
const stored = (list: "apps" | "groups" | "policies" | "providers", fields: Loose): string => {
  const id = randomUUID();
  stage.cloudflare.state.lists[list].set(id, { id, account: "test-account-id", ...fields });
  return id;
};
const app = (name = "portal"): Loose =>
  [...stage.cloudflare.state.lists.apps.values()].find((one) => one.name === name);
const policies = (): [string, string, number, Loose[]][] =>
  [...(app()?.policies ?? [])]
    .sort((a: Loose, b: Loose) => a.precedence - b.precedence)
    .map(({ name, decision, precedence, include }: Loose) => [name, decision, precedence, include]);
const staff = [{ emailDomain: { domain: "example.com" } }];
const portal = (more: Loose) =>
  stage.create("AccessApplication", "portal", { spec: { domain: "portal.example.com", ...more } });
const calls = (from: number): string[] =>
  stage.cloudflare.requests
    .slice(from)
    .filter(({ method, path }) => method !== "GET" && path.startsWith(APPS))
    .map(({ method }) => method);

describe("policies of an application", () => {
  it("TUN-935 TUN-938 TUN-940 come from rules, from a group of the cluster that is waited for, and from the account", async () => {
    const outside = stored("groups", { name: "outside", include: [{ everyone: {} }] });
    const shared = stored("policies", { name: "shared", decision: "allow", include: [{ everyone: {} }] });
    await portal({
      policies: [
        { name: "staff", policyName: "staff" },
        { cloudflareGroupName: "outside", decision: "deny", policyName: "outside" },
        {
          include: [{ ipRanges: { ip: ["10.0.0.0/8", "192.168.0.0/16"] } }],
          policyName: "lan",
          precedence: 9,
        },
      ],
      reusablePolicyRefs: [{ cloudflareName: "shared", precedence: 5 }],
    });
    await eventually(async () =>
      expect(await condition("AccessApplication", "portal")).toMatchObject({ reason: "DependencyError" }),
    );
    expect((await condition("AccessApplication", "portal")).message).toContain("no AccessGroup staff");
    expect(app()).toBeUndefined();
    await stage.create("AccessGroup", "staff", { spec: { include: staff } });
    await isReady("AccessApplication", "portal");
    const { groupId } = (await stage.get("AccessGroup", "staff")).status;
    const lan = [{ ip: { ip: "10.0.0.0/8" } }, { ip: { ip: "192.168.0.0/16" } }];
    expect(policies()).toEqual([
      ["staff", "allow", 1, [{ group: { id: groupId } }]],
      ["outside", "deny", 2, [{ group: { id: outside } }]],
      ["shared", "allow", 5, [{ everyone: {} }]],
      ["lan", "allow", 9, lan],
    ]);
    const { status } = await stage.get("AccessApplication", "portal");
    expect(status.resolvedPolicies.map(({ name }: Loose) => name)).toEqual(["staff", "outside", "lan"]);
    expect(status.resolvedReusablePolicies).toEqual([{ id: shared, precedence: 5 }]);
    expect(status.resolvedPolicyIds).toHaveLength(4);
  });

  it("TUN-937 TUN-938 a change costs the calls that it needs; what the spec names no more goes, what it never named stays", async () => {
    await portal({ policies: [{ policyName: "a", include: staff }] });
    await isReady("AccessApplication", "portal");
    const [{ id }] = app().policies;
    let from = stage.cloudflare.requests.length;
    const changed = [
      { policyName: "a", include: [{ everyone: true }] },
      { policyName: "b", include: staff, decision: "deny" },
    ];
    await stage.patch("AccessApplication", "portal", { spec: { policies: changed } });
    await isReady("AccessApplication", "portal");
    expect(app().policies[0]).toMatchObject({ id, include: [{ everyone: {} }] });
    expect(calls(from)).toEqual(["PUT", "POST"]);
    from = stage.cloudflare.requests.length;
    await stage.patch("AccessApplication", "portal", { spec: { policies: [changed[1]] } });
    await isReady("AccessApplication", "portal");
    expect(policies().map(([name]) => name)).toEqual(["b"]);
    expect(calls(from)[0]).toBe("DELETE");
    await stage.patch("AccessApplication", "portal", { spec: { policies: null, sessionDuration: "1h" } });
    await isReady("AccessApplication", "portal");
    expect(app().session_duration).toBe("1h");
    expect(policies().map(([name]) => name)).toEqual(["b"]);
  });

  it("TUN-935 whatever cannot be found in the account is told with its place, and nothing is sent", async () => {
    const identityProviderRefs = [{ cloudflareName: "corp" }];
    await portal({ identityProviderRefs });
    const told = async () => {
      const { reason, message } = await condition("AccessApplication", "portal");
      return `${reason} ${message}`;
    };
    await eventually(async () =>
      expect(await told()).toContain(
        "DependencyError spec.identityProviderRefs[0]: the account has no identity",
      ),
    );
    // Each step is wrong by itself: at no moment is there anything that may be sent.
    const unknownKind = { identityProviderRefs: null, reusablePolicyRefs: [{ name: "x" }] };
    await stage.patch("AccessApplication", "portal", { spec: unknownKind });
    await eventually(async () =>
      expect(await told()).toContain("spec.reusablePolicyRefs[0].name: there is no kind"),
    );
    const provider = stored("providers", { name: "corp", type: "saml" });
    const nobody = { identityProviderRefs, reusablePolicyRefs: null, policies: [{}] };
    await stage.patch("AccessApplication", "portal", { spec: nobody });
    await eventually(async () =>
      expect(await told()).toContain("InvalidSpec spec.policies[0]: says nobody whom it is for"),
    );
    expect(app()).toBeUndefined();
    await stage.patch("AccessApplication", "portal", { spec: { policies: null } });
    await isReady("AccessApplication", "portal");
    expect(app().allowed_idps).toEqual([provider]);
  });

  it("TUN-005 the secret of an OpenID Connect client stays in the account", async () => {
    await portal({ type: "saas", saasApp: { authType: "oidc", redirectUris: ["https://a.b"] } });
    await isReady("AccessApplication", "portal");
    Object.assign(app().saas_app, { client_id: "client-1", client_secret: "hidden-secret" });
    await stage.patch("AccessApplication", "portal", { spec: { sessionDuration: "1h" } });
    await eventually(() => expect(app().session_duration).toBe("1h"));
    await isReady("AccessApplication", "portal");
    const seen = JSON.stringify([
      await stage.get("AccessApplication", "portal"),
      await stage.events("portal"),
    ]);
    expect(seen).not.toContain("hidden-secret");
  });

  it("TUN-102 an object takes credentials from its own namespace alone", async () => {
    const spec = {
      domain: "portal.example.com",
      cloudflare: { secret: "elsewhere", accountId: "test-account-id" },
    };
    await stage.client.ok("POST", "/api/v1/namespaces/default/secrets", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "elsewhere" },
      stringData: { CLOUDFLARE_API_TOKEN: "test-token" },
    });
    stage.onClose(() => stage.client.request("DELETE", "/api/v1/namespaces/default/secrets/elsewhere"));
    await stage.create("AccessApplication", "portal", { spec });
    await eventually(async () =>
      expect((await condition("AccessApplication", "portal")).message).toBe(
        `there is no Secret ${stage.namespace}/elsewhere`,
      ),
    );
    expect(app()).toBeUndefined();
    const data = { CLOUDFLARE_API_TOKEN: Buffer.from("test-token").toString("base64") };
    await stage.create("Secret", "elsewhere", { data });
    await isReady("AccessApplication", "portal");
  });

  it("TUN-936 TUN-939 what waits for a domain keeps no claim; of several of one name none is taken", async () => {
    const { faults } = stage.cloudflare;
    faults.add({ path: /access\/apps/, method: /POST/, status: 400, code: 12130 });
    await portal({});
    await eventually(async () => {
      expect(await condition("AccessApplication", "portal")).toMatchObject({ reason: "InvalidConfig" });
      expect((await stage.get("AccessApplication", "portal")).status.claim).toBeUndefined();
    });
    faults.clear();
    for (let count = 0; count < 2; count += 1)
      stored("groups", { name: "twice", include: [{ everyone: {} }] });
    await stage.create("AccessGroup", "twice", {
      metadata: { annotations: { "cloudflare-operator.io/adopt": "true" } },
      spec: { include: staff },
    });
    await eventually(async () =>
      expect((await condition("AccessGroup", "twice")).message).toContain("multiple resources found"),
    );
    await stage.patch("AccessApplication", "portal", { spec: { sessionDuration: "1h" } });
    await eventually(() => expect(app()?.session_duration).toBe("1h"));
  });
});
