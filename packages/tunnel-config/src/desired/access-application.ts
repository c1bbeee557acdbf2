/** An AccessApplication as the API takes it (TUN-934). */
import type { AccessApplication } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";
import { isHeld, isSame } from "./changes.ts";
import { snakeCase, snakeCased } from "./snake-case.ts";

type Spec = Cached<AccessApplication>["spec"];
export type Fields = Readonly<Record<string, unknown>>;

/** What references of the spec stand for, by where they are. */
export interface Resolved {
  /** Identity providers, in the order of the references. */
  readonly providers: readonly string[];
  /** Virtual networks by the index of their destination. */
  readonly networks: ReadonlyMap<number, string>;
}

/** Kinds of applications that stand before destinations. */
const WITH_DESTINATIONS: ReadonlySet<string> = new Set(["self_hosted", "ssh", "vnc", "infrastructure"]);
/** Fields that are the same in the API but for the case of their letters. */
const PLAIN = [
  "privateAddress",
  "autoRedirectToIdentity",
  "enableBindingCookie",
  "httpOnlyCookieAttribute",
  "pathCookieAttribute",
  "skipInterstitial",
  "optionsPreflightBypass",
  "allowAuthenticateViaWarp",
  "appLauncherVisible",
  "sameSiteCookieAttribute",
  "logoUrl",
  "customDenyUrl",
  "customNonIdentityDenyUrl",
  "customDenyMessage",
  "tags",
  "customPages",
  "corsHeaders",
  "saasApp",
  "scimConfig",
] as const satisfies readonly (keyof Spec)[];
/** All fields of the API that a spec decides on. */
const FIELDS = [
  ...PLAIN.map(snakeCase),
  ...["session_duration", "allowed_idps", "service_auth_401_redirect", "gateway_rules", "destinations"],
  ...["target_criteria", "landing_page_design", "app_launcher_logo_url", "header_bg_color", "bg_color"],
  ...["footer_links", "skip_app_launcher_login_page"],
];
/** Never sent back in clear: not compared but when the spec changes. */
const SECRETS: ReadonlySet<string> = new Set(["password", "token", "client_secret"]);

/** Name in the account. */
export function applicationName({ spec, metadata }: Cached<AccessApplication>): string {
  return spec.name || (metadata.name ?? "");
}

/** The application without its policies. */
export function applicationFields(object: Cached<AccessApplication>, resolved: Resolved): Fields {
  const { spec } = object;
  const { type = "self_hosted", sessionDuration = "24h", gatewayRules, targetContexts } = spec;
  const plain = Object.fromEntries(
    PLAIN.filter((field) => spec[field] !== undefined).map((field) => [
      snakeCase(field),
      snakeCased(spec[field]),
    ]),
  );
  const providers = [...new Set([...(spec.allowedIdps ?? []), ...resolved.providers])];
  const destinations = destinationsOf(spec, type, resolved);
  return {
    auto_redirect_to_identity: false,
    app_launcher_visible: true,
    ...plain,
    name: applicationName(object),
    domain: spec.domain,
    type,
    session_duration: sessionDuration,
    ...(providers.length > 0 && { allowed_idps: providers }),
    ...(spec.serviceAuth401Redirect !== undefined && {
      service_auth_401_redirect: spec.serviceAuth401Redirect,
    }),
    ...(gatewayRules !== undefined && { gateway_rules: gatewayRules.map((id) => ({ id })) }),
    ...(destinations.length > 0 && { destinations }),
    ...(targetContexts !== undefined && {
      // Names of attributes are the user's.
      target_criteria: targetContexts.map(({ targetAttributes, port, protocol }) => ({
        target_attributes: targetAttributes,
        port,
        protocol,
      })),
    }),
    ...looks(spec),
  };
}

function destinationsOf(spec: Spec, type: string, { networks }: Resolved): Fields[] {
  const explicit = (spec.destinations ?? []).map(({ vnetRef: _, ...fields }, index) => {
    const network = networks.get(index);
    const known = { ...fields, ...(network !== undefined && { vnetId: network }) };
    return snakeCased(known) as Fields;
  });
  const hosts = spec.domainType === "private" ? [] : [spec.domain, ...(spec.selfHostedDomains ?? [])];
  const domains = WITH_DESTINATIONS.has(type) && type !== "infrastructure" ? hosts : [];
  const all = [...explicit, ...domains.map((uri) => ({ type: "public", uri }))];
  const seen = new Set<string>();
  return all.filter((one) => {
    const text = JSON.stringify(Object.entries(one).sort());
    return !seen.has(text) && seen.add(text);
  });
}

/** Looks of the launcher; in the API they are fields of the application. */
function looks({ appLauncherCustomization }: Spec): Fields {
  if (appLauncherCustomization === undefined) return {};
  const { headerBackgroundColor, backgroundColor, ...rest } = appLauncherCustomization;
  return {
    ...(snakeCased(rest) as Fields),
    ...(headerBackgroundColor !== undefined && { header_bg_color: headerBackgroundColor }),
    ...(backgroundColor !== undefined && { bg_color: backgroundColor }),
  };
}

/**
 * Whether the remote application is what is wanted, policies left aside.
 * @param strict whether fields that the wanted one lacks count, and secrets
 */
export function sameApplication(remote: Fields, wanted: Fields, strict: boolean): boolean {
  if (!strict)
    return Object.entries(withoutSecrets(wanted)).every(([field, value]) => isHeld(remote[field], value));
  const fields = new Set([...FIELDS, ...Object.keys(wanted)]);
  return [...fields].every((field) => {
    // What the API fills in for a field that is not set differs at most once, and a PUT changes nothing then.
    return wanted[field] === undefined
      ? isHeld(remote[field], undefined)
      : isSame(remote[field], wanted[field]);
  });
}

function withoutSecrets(fields: Fields): Fields {
  const scim = fields.scim_config as { authentication?: Fields } | undefined;
  if (scim?.authentication === undefined) return fields;
  const kept = Object.entries(scim.authentication).filter(([name]) => !SECRETS.has(name));
  return { ...fields, scim_config: { ...scim, authentication: Object.fromEntries(kept) } };
}

/** What is wrong with the spec, with its remedy, or nothing. */
export function applicationProblem({ spec }: Cached<AccessApplication>): string | undefined {
  if (spec.type === "saas" && spec.saasApp === undefined)
    return "spec.saasApp is missing; an application of type saas needs it";
  for (const [index, one] of (spec.destinations ?? []).entries()) {
    const place = `spec.destinations[${index}]`;
    if (one.type === "public" && !one.uri) return `${place}.uri is missing; a public destination needs it`;
    if (one.type === "private" && !one.hostname && !one.cidr)
      return `${place}: a private destination needs hostname or cidr`;
  }
  return undefined;
}
