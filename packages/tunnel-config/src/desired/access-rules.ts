/** Rules of Access groups and policies as the API takes them (TUN-940). */
import type { AccessGroup } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";
import { isHeld, isSame } from "./changes.ts";

export type AccessRule = NonNullable<Cached<AccessGroup>["spec"]["include"]>[number];
/** One selector, such as `{ email: { email: "…" } }`. */
export type ApiRule = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const PARTS = ["include", "exclude", "require"] as const;
export type RuleParts = { readonly [P in (typeof PARTS)[number]]?: readonly AccessRule[] | undefined };
export type ApiParts = { readonly [P in (typeof PARTS)[number]]?: readonly ApiRule[] };

/** How identity providers are named in a rule. */
export type ProviderReference = NonNullable<NonNullable<AccessRule["gsuite"]>["idpRef"]>;

/** Identifier of the identity provider of a reference; nothing when there is no reference. */
export type ProviderOf = (reference: ProviderReference | undefined) => string | undefined;

type Translate = (rule: Required<AccessRule>, providerOf: ProviderOf) => readonly object[];

const one = (fields: object): readonly object[] => [fields];
/** A field of an identity provider. */
const by = (fields: object, provider: string | undefined): readonly object[] => [
  { ...fields, ...(provider !== undefined && { identity_provider_id: provider }) },
];

/** Selector of the API and its fields, by the key of the rule. */
const SELECTORS: Readonly<Record<keyof AccessRule, readonly [selector: string, translate: Translate]>> = {
  email: ["email", ({ email }) => one({ email: email.email })],
  emailDomain: ["email_domain", ({ emailDomain }) => one({ domain: emailDomain.domain })],
  emailList: ["email_list", ({ emailList }) => one({ id: emailList.id })],
  everyone: ["everyone", () => one({})],
  ipRanges: ["ip", ({ ipRanges }) => ipRanges.ip.map((ip) => ({ ip }))],
  ipList: ["ip_list", ({ ipList }) => one({ id: ipList.id })],
  country: ["geo", ({ country }) => country.country.map((code) => ({ country_code: code }))],
  group: ["group", ({ group }) => one({ id: group.id })],
  serviceToken: ["service_token", ({ serviceToken }) => one({ token_id: serviceToken.tokenId })],
  anyValidServiceToken: ["any_valid_service_token", () => one({})],
  certificate: ["certificate", () => one({})],
  commonName: ["common_name", ({ commonName }) => one({ common_name: commonName.commonName })],
  devicePosture: [
    "device_posture",
    ({ devicePosture }) => one({ integration_uid: devicePosture.integrationUid }),
  ],
  gsuite: ["gsuite", ({ gsuite }, of) => by({ email: gsuite.email }, of(gsuite.idpRef))],
  github: [
    "github_organization",
    ({ github: { name, teams = [], idpRef } }, of) =>
      teams.length === 0 ? by({ name }, of(idpRef)) : teams.flatMap((team) => by({ name, team }, of(idpRef))),
  ],
  azure: ["azure_ad", ({ azure }, of) => by({ id: azure.id }, of(azure.idpRef))],
  okta: ["okta", ({ okta }, of) => by({ name: okta.name }, of(okta.idpRef))],
  oidc: [
    "oidc",
    ({ oidc }, of) => by({ claim_name: oidc.claimName, claim_value: oidc.claimValue }, of(oidc.idpRef)),
  ],
  saml: [
    "saml",
    ({ saml }, of) =>
      by({ attribute_name: saml.attributeName, attribute_value: saml.attributeValue }, of(saml.idpRef)),
  ],
  authMethod: ["auth_method", ({ authMethod }) => one({ auth_method: authMethod.authMethod })],
  authContext: [
    "auth_context",
    ({ authContext }, of) => by({ id: authContext.id, ac_id: authContext.acId }, of(authContext.idpRef)),
  ],
  loginMethod: ["login_method", ({ loginMethod }) => one({ id: loginMethod.id })],
  externalEvaluation: [
    "external_evaluation",
    ({ externalEvaluation: { evaluateUrl, keysUrl } }) =>
      one({ evaluate_url: evaluateUrl, keys_url: keysUrl }),
  ],
};

/** Keys that a rule has; a switch that is off is none. */
function keysOf(rule: AccessRule): (keyof AccessRule)[] {
  const keys = Object.keys(rule) as (keyof AccessRule)[];
  return keys.filter((key) => rule[key] !== undefined && rule[key] !== false && SELECTORS[key] !== undefined);
}

/** What is wrong with rules, with its remedy, or nothing. */
export function rulesProblem(path: string, parts: RuleParts): string | undefined {
  for (const part of PARTS) {
    for (const [index, rule] of (parts[part] ?? []).entries()) {
      const place = `${path}.${part}[${index}]`;
      const [key, ...more] = keysOf(rule);
      if (key === undefined || more.length > 0) {
        const found = key === undefined ? "none" : [key, ...more].join(", ");
        return `${place}: a rule has exactly one key, this one has ${found}; make one rule of each`;
      }
      const count = SELECTORS[key][1](rule as Required<AccessRule>, () => undefined).length;
      if (part === "require" && count > 1)
        return `${place}.${key}: all of its ${count} values would have to fit at once; name one, or move them to include`;
    }
  }
  return undefined;
}

/** All references to identity providers, with where they stand. */
export function providersOf(path: string, parts: RuleParts): [path: string, reference: ProviderReference][] {
  return PARTS.flatMap((part) =>
    (parts[part] ?? []).flatMap((rule, index) =>
      Object.entries(rule).flatMap(([key, value]): [string, ProviderReference][] => {
        const reference = (value as { idpRef?: ProviderReference }).idpRef;
        return reference === undefined ? [] : [[`${path}.${part}[${index}].${key}.idpRef`, reference]];
      }),
    ),
  );
}

/** The rules of the API; several values of one rule become one rule each. Parts without a rule are left out. */
export function apiParts(parts: RuleParts, providerOf: ProviderOf): ApiParts {
  const entries = PARTS.map((part): [string, ApiRule[]] => [
    part,
    (parts[part] ?? []).flatMap((rule) =>
      keysOf(rule).flatMap((key) => {
        const [selector, translate] = SELECTORS[key];
        const fields = translate(rule as Required<AccessRule>, providerOf);
        return fields.map((value) => ({ [selector]: value }) as ApiRule);
      }),
    ),
  ]);
  return Object.fromEntries(entries.filter(([, rules]) => rules.length > 0));
}

/** Whether both hold the same rules in any order. */
export function sameParts(remote: ApiParts, wanted: ApiParts, strict: boolean): boolean {
  const equal = strict ? isSame : isHeld;
  return PARTS.every((part) => {
    const left = [...(remote[part] ?? [])];
    const rules = wanted[part] ?? [];
    if (left.length !== rules.length) return false;
    return rules.every((rule) => {
      const at = left.findIndex((other) => equal(other, rule));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
  });
}
