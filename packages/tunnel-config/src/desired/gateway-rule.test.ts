import { describe, expect, it } from "vitest";
import type { GatewayRule } from "../api.gen.ts";
import { ruleFields, ruleProblem } from "./gateway-rule.ts";

const rule = (spec: object = {}): GatewayRule => ({
  apiVersion: "networking.cloudflare-operator.io/v1alpha2",
  kind: "GatewayRule",
  metadata: { name: "block" },
  spec: { precedence: 1, action: "block", ...spec } as GatewayRule["spec"],
});

describe("rules of the gateway", () => {
  it("TUN-944 hold all that a PUT would take away", () => {
    expect(ruleFields(rule())).toEqual({
      name: "block",
      precedence: 1,
      enabled: true,
      action: "block",
      traffic: "",
      identity: "",
      device_posture: "",
    });
  });

  it("TUN-944 settings have the names of the API; those of headers are left as they are", () => {
    const ruleSettings = {
      blockPageEnabled: true,
      overrideIps: ["192.0.2.1"],
      l4Override: { ip: "192.0.2.1", port: 80 },
      bisoAdminControls: { disablePrinting: true, disableClipboardRedirection: true },
      checkSession: { enforce: true, duration: "24h" },
      addHeaders: { "X-My": "1" },
      insecureDisableDnssecValidation: true,
      egress: { ipv4: "192.0.2.1", ipv4Fallback: "192.0.2.2" },
      untrustedCertificateAction: "block" as const,
      auditSsh: { commandLogging: true },
      resolveDnsInternally: { viewId: "v", fallback: true },
      dnsResolvers: { ipv4: [{ ip: "192.0.2.1", routeThroughPrivateNetwork: true, vnetId: "n" }] },
      notificationSettings: { enabled: true, message: "m", supportUrl: "https://s" },
      quarantine: { fileTypes: ["exe"] },
    };
    expect(ruleFields(rule({ ruleSettings })).rule_settings).toEqual({
      block_page_enabled: true,
      override_ips: ["192.0.2.1"],
      l4override: { ip: "192.0.2.1", port: 80 },
      biso_admin_controls: { dp: true, dcr: true },
      check_session: { enforce: true, duration: "24h" },
      add_headers: { "X-My": ["1"] },
      insecure_disable_dnssec_validation: true,
      egress: { ipv4: "192.0.2.1", ipv4_fallback: "192.0.2.2" },
      untrusted_cert: { action: "block" },
      audit_ssh: { command_logging: true },
      resolve_dns_internally: { view_id: "v", fallback: "public_dns" },
      dns_resolvers: { ipv4: [{ ip: "192.0.2.1", route_through_private_network: true, vnet_id: "n" }] },
      notification_settings: { enabled: true, msg: "m", support_url: "https://s" },
      quarantine: { file_types: ["exe"] },
    });
  });

  it("TUN-944 an end that is no time is refused", () => {
    expect(ruleProblem(rule({ expiration: { expiresAt: "soon" } }))).toMatch(/expiresAt: soon is no time/);
    expect(ruleProblem(rule({ expiration: { expiresAt: "2026-12-31T00:00:00Z" } }))).toBeUndefined();
  });
});
