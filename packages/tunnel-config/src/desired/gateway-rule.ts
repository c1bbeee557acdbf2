/** A GatewayRule as the API takes it (TUN-944). */
import type { GatewayRule } from "../api.gen.ts";
import type { Cached } from "../kinds.ts";
import { snakeCased } from "./snake-case.ts";

/** A rule of an account. */
export interface RemoteRule {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly [field: string]: unknown;
}

/** Name in the account. */
export function ruleName({ spec, metadata }: Cached<GatewayRule>): string {
  return spec.name || (metadata.name ?? "");
}

/** What is wrong with the spec, with its remedy, or nothing. */
export function ruleProblem({ spec }: Cached<GatewayRule>): string | undefined {
  const { expiration } = spec;
  if (expiration?.expiresAt !== undefined && Number.isNaN(Date.parse(expiration.expiresAt)))
    return `spec.expiration.expiresAt: ${expiration.expiresAt} is no time of RFC 3339, such as 2026-12-31T00:00:00Z`;
  return undefined;
}

/** The whole rule but its description: a PUT takes away what it lacks. */
export function ruleFields(object: Cached<GatewayRule>): Record<string, unknown> {
  const { spec } = object;
  const { precedence, enabled = true, action, filters, traffic = "", identity = "" } = spec;
  const { devicePosture = "", schedule, expiration, ruleSettings } = spec;
  return {
    name: ruleName(object),
    precedence,
    enabled,
    action,
    ...(filters !== undefined && { filters }),
    traffic,
    identity,
    device_posture: devicePosture,
    ...(schedule !== undefined && { schedule: snakeCased(schedule) }),
    ...(expiration !== undefined && { expiration: snakeCased(expiration) }),
    ...(ruleSettings !== undefined && { rule_settings: settingsOf(ruleSettings) }),
  };
}

/** Members of `biso_admin_controls` in the API. */
const BISO: Readonly<Record<string, string>> = {
  disablePrinting: "dp",
  disableCopyPaste: "dcp",
  disableDownload: "dd",
  disableUpload: "du",
  disableKeyboard: "dk",
  disableClipboardRedirection: "dcr",
};

function settingsOf(
  settings: NonNullable<Cached<GatewayRule>["spec"]["ruleSettings"]>,
): Record<string, unknown> {
  const {
    bisoAdminControls,
    addHeaders,
    resolveDnsInternally,
    l4Override,
    notificationSettings,
    untrustedCertificateAction,
    ...rest
  } = settings;
  return {
    ...(snakeCased(rest) as Record<string, unknown>),
    // Names that are others in the API.
    ...(l4Override !== undefined && { l4override: l4Override }),
    ...(notificationSettings !== undefined && {
      notification_settings: {
        enabled: notificationSettings.enabled,
        msg: notificationSettings.message,
        support_url: notificationSettings.supportUrl,
      },
    }),
    ...(untrustedCertificateAction !== undefined && {
      untrusted_cert: { action: untrustedCertificateAction },
    }),
    ...(bisoAdminControls !== undefined && {
      biso_admin_controls: Object.fromEntries(
        Object.entries(bisoAdminControls).map(([key, value]) => [BISO[key] ?? key, value]),
      ),
    }),
    // Names of headers are the user's.
    ...(addHeaders !== undefined && {
      add_headers: Object.fromEntries(Object.entries(addHeaders).map(([name, value]) => [name, [value]])),
    }),
    ...(resolveDnsInternally !== undefined && {
      resolve_dns_internally: {
        view_id: resolveDnsInternally.viewId,
        fallback: resolveDnsInternally.fallback === true ? "public_dns" : "none",
      },
    }),
  };
}
