import { describe, expect, it } from "vitest";
import { type AccessRule, apiParts, providersOf, rulesProblem, sameParts } from "./access-rules.ts";

const idp = { cloudflareName: "corp" };
const providerOf = (reference: unknown): string | undefined =>
  reference === undefined ? undefined : "idp-1";

const TABLE: readonly [AccessRule, object[]][] = [
  [{ email: { email: "a@b.c" } }, [{ email: { email: "a@b.c" } }]],
  [{ emailDomain: { domain: "b.c" } }, [{ email_domain: { domain: "b.c" } }]],
  [{ emailList: { id: "l" } }, [{ email_list: { id: "l" } }]],
  [{ everyone: true }, [{ everyone: {} }]],
  [
    { ipRanges: { ip: ["10.0.0.0/8", "192.168.0.0/16"] } },
    [{ ip: { ip: "10.0.0.0/8" } }, { ip: { ip: "192.168.0.0/16" } }],
  ],
  [{ ipList: { id: "l" } }, [{ ip_list: { id: "l" } }]],
  [
    { country: { country: ["DE", "FR"] } },
    [{ geo: { country_code: "DE" } }, { geo: { country_code: "FR" } }],
  ],
  [{ group: { id: "g" } }, [{ group: { id: "g" } }]],
  [{ serviceToken: { tokenId: "t" } }, [{ service_token: { token_id: "t" } }]],
  [{ anyValidServiceToken: true }, [{ any_valid_service_token: {} }]],
  [{ certificate: true }, [{ certificate: {} }]],
  [{ commonName: { commonName: "cn" } }, [{ common_name: { common_name: "cn" } }]],
  [{ devicePosture: { integrationUid: "u" } }, [{ device_posture: { integration_uid: "u" } }]],
  [
    { gsuite: { email: "g@b.c", idpRef: idp } },
    [{ gsuite: { email: "g@b.c", identity_provider_id: "idp-1" } }],
  ],
  [{ github: { name: "org" } }, [{ github_organization: { name: "org" } }]],
  [
    { github: { name: "org", teams: ["a", "b"], idpRef: idp } },
    [
      { github_organization: { name: "org", team: "a", identity_provider_id: "idp-1" } },
      { github_organization: { name: "org", team: "b", identity_provider_id: "idp-1" } },
    ],
  ],
  [{ azure: { id: "z", idpRef: idp } }, [{ azure_ad: { id: "z", identity_provider_id: "idp-1" } }]],
  [{ okta: { name: "o", idpRef: idp } }, [{ okta: { name: "o", identity_provider_id: "idp-1" } }]],
  [{ oidc: { claimName: "n", claimValue: "v" } }, [{ oidc: { claim_name: "n", claim_value: "v" } }]],
  [
    { saml: { attributeName: "n", attributeValue: "v" } },
    [{ saml: { attribute_name: "n", attribute_value: "v" } }],
  ],
  [{ authMethod: { authMethod: "mfa" } }, [{ auth_method: { auth_method: "mfa" } }]],
  [{ authContext: { id: "i", acId: "c1" } }, [{ auth_context: { id: "i", ac_id: "c1" } }]],
  [{ loginMethod: { id: "m" } }, [{ login_method: { id: "m" } }]],
  [
    { externalEvaluation: { evaluateUrl: "https://e", keysUrl: "https://k" } },
    [{ external_evaluation: { evaluate_url: "https://e", keys_url: "https://k" } }],
  ],
];

describe("rules of Access", () => {
  it.each(TABLE)("TUN-940 %j", (rule, expected) => {
    expect(apiParts({ include: [rule] }, providerOf)).toEqual({ include: expected });
    expect(rulesProblem("spec", { include: [rule], exclude: [rule] })).toBeUndefined();
  });

  it("TUN-940 a rule without a key, with two, or with a switch that is off is refused with its place", () => {
    const rules: AccessRule[] = [{ everyone: true }, {}];
    expect(rulesProblem("spec", { include: rules })).toMatch(/^spec\.include\[1\]: .*exactly one key/);
    const both = [{ everyone: true, certificate: true }];
    expect(rulesProblem("spec", { exclude: both })).toMatch(/^spec\.exclude\[0\]: .*everyone, certificate/);
    expect(rulesProblem("spec", { require: [{ everyone: false }] })).toMatch(/has none/);
  });

  it("TUN-940 several values in require could never fit at once", () => {
    const rule = { ipRanges: { ip: ["10.0.0.0/8", "192.168.0.0/16"] } };
    expect(rulesProblem("spec", { require: [rule] })).toMatch(
      /^spec\.require\[0\]\.ipRanges: all of its 2 values/,
    );
    expect(rulesProblem("spec", { require: [{ ipRanges: { ip: ["10.0.0.0/8"] } }] })).toBeUndefined();
  });

  it("TUN-935 all references to identity providers are found, with their place", () => {
    const rules = [{ everyone: true }, { okta: { name: "o", idpRef: idp } }];
    expect(providersOf("spec", { require: rules })).toEqual([["spec.require[1].okta.idpRef", idp]]);
  });

  it("TUN-905 the order of rules does not count, their number does, and what a rule no longer has does when the spec changes", () => {
    const [a, b] = [{ email: { email: "a" } }, { everyone: {} }];
    expect(sameParts({ include: [b, a] }, { include: [a, b] }, true)).toBe(true);
    expect(sameParts({ include: [a, a] }, { include: [a, b] }, false)).toBe(false);
    expect(sameParts({ include: [a], exclude: [b] }, { include: [a] }, false)).toBe(false);
    const more = { include: [{ okta: { name: "o", identity_provider_id: "x" } }] };
    const less = { include: [{ okta: { name: "o" } }] };
    expect([sameParts(more, less, false), sameParts(more, less, true)]).toEqual([true, false]);
  });
});
