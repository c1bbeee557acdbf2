/** What a token may do; each permission is one of those that a user picks on the dashboard. */

export type CloudflarePermission =
  | "account:read"
  | "zone:read"
  | "tunnel:edit"
  | "dns:edit"
  | "access:edit"
  | "zero-trust:edit"
  | "r2:edit";

export const ALL_PERMISSIONS: readonly CloudflarePermission[] = [
  "account:read",
  "zone:read",
  "tunnel:edit",
  "dns:edit",
  "access:edit",
  "zero-trust:edit",
  "r2:edit",
];
