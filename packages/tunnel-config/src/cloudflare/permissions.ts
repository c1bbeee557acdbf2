/** Right of a token that each part of the API needs, as the dashboard names it (TUN-115). */

const RIGHTS: readonly (readonly [RegExp, string])[] = [
  [/\/cfd_tunnel/, "Account · Cloudflare Tunnel · Edit"],
  [/\/teamnet\//, "Account · Cloudflare Tunnel · Edit"],
  [/\/dns_records/, "Zone · DNS · Edit"],
  [
    /\/access\/(groups|identity_providers)/,
    "Account · Access: Organizations, Identity Providers, and Groups · Edit",
  ],
  [/\/access\//, "Account · Access: Apps and Policies · Edit"],
  [/\/gateway\//, "Account · Zero Trust · Edit"],
  [/\/r2\//, "Account · Workers R2 Storage · Edit"],
  [/^\/zones/, "Zone · Zone · Read"],
  [/^\/accounts/, "Account · Account Settings · Read"],
];

/** The right for a call, by its path below the base. */
export function permissionFor(path: string): string | undefined {
  return RIGHTS.find(([pattern]) => pattern.test(path))?.[1];
}
