import { describe, expect, it } from "vitest";
import type { AccessApplication } from "../api.gen.ts";
import { applicationFields, applicationProblem, sameApplication } from "./access-application.ts";

const app = (spec: object = {}): AccessApplication => ({
  apiVersion: "networking.cloudflare-operator.io/v1alpha2",
  kind: "AccessApplication",
  metadata: { name: "portal", namespace: "shop" },
  spec: { domain: "app.example.com", ...spec } as AccessApplication["spec"],
});
const none = { providers: [], networks: new Map<number, string>() };

describe("applications", () => {
  it("TUN-934 each domain is one public destination, after those of the spec", () => {
    const spec = {
      selfHostedDomains: ["app.example.com", "two.example.com"],
      destinations: [
        {
          type: "private",
          cidr: "10.0.0.0/8",
          portRange: "80-90",
          l4Protocol: "tcp",
          vnetRef: { name: "x" },
        },
        { type: "public", uri: "two.example.com" },
      ],
    };
    const fields = applicationFields(app(spec), { ...none, networks: new Map([[0, "net-1"]]) });
    expect(fields.destinations).toEqual([
      { type: "private", cidr: "10.0.0.0/8", port_range: "80-90", l4_protocol: "tcp", vnet_id: "net-1" },
      { type: "public", uri: "two.example.com" },
      { type: "public", uri: "app.example.com" },
    ]);
    expect(fields).not.toHaveProperty("self_hosted_domains");
  });

  it("TUN-934 an application that stands before nothing has no destinations", () => {
    const fields = applicationFields(app({ type: "bookmark" }), none);
    expect(fields).toEqual({
      name: "portal",
      domain: "app.example.com",
      type: "bookmark",
      session_duration: "24h",
      auto_redirect_to_identity: false,
      app_launcher_visible: true,
    });
  });

  it("TUN-905 fields have the names of the API", () => {
    const spec = {
      allowedIdps: ["a"],
      serviceAuth401Redirect: true,
      corsHeaders: { allowAllOrigins: true, maxAge: 60 },
      gatewayRules: ["r"],
      targetContexts: [{ targetAttributes: { hostName: ["x"] }, port: 22, protocol: "SSH" }],
      appLauncherCustomization: { landingPageDesign: { buttonColor: "#000000" }, backgroundColor: "#ffffff" },
    };
    expect(applicationFields(app(spec), { ...none, providers: ["a", "b"] })).toMatchObject({
      allowed_idps: ["a", "b"],
      service_auth_401_redirect: true,
      cors_headers: { allow_all_origins: true, max_age: 60 },
      gateway_rules: [{ id: "r" }],
      target_criteria: [{ target_attributes: { hostName: ["x"] }, port: 22, protocol: "SSH" }],
      landing_page_design: { button_color: "#000000" },
      bg_color: "#ffffff",
    });
  });

  it("TUN-905 what the API fills in is no difference, what the spec no longer has is one when it changes", () => {
    const wanted = applicationFields(app(), none);
    const remote = { id: "1", aud: "x", ...wanted, tags: ["old"] };
    expect([sameApplication(remote, wanted, false), sameApplication(remote, wanted, true)]).toEqual([
      true,
      false,
    ]);
    expect(sameApplication({ ...remote, session_duration: "1h" }, wanted, false)).toBe(false);
  });

  it("TUN-005 TUN-905 a secret that the API does not give back is no difference", () => {
    const authentication = { scheme: "httpbasic", user: "u", password: "p" };
    const wanted = applicationFields(app({ scimConfig: { enabled: true, authentication } }), none);
    const remote = {
      ...wanted,
      scim_config: { enabled: true, authentication: { scheme: "httpbasic", user: "u" } },
    };
    expect(sameApplication(remote, wanted, false)).toBe(true);
  });

  it.each([
    [{ type: "saas" }, "spec.saasApp is missing"],
    [{ destinations: [{ type: "public" }] }, "spec.destinations[0].uri is missing"],
    [{ destinations: [{ type: "private" }] }, "needs hostname or cidr"],
  ])("TUN-934 %j is refused", (spec, message) => {
    expect(applicationProblem(app(spec))).toContain(message);
  });
});
