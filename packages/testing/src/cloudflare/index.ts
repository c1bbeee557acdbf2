/** A Cloudflare v4 API in the test's own process. */
export {
  type CloudflareDouble,
  type CloudflareDoubleOptions,
  createCloudflareDouble,
  DEFAULT_TOKEN,
} from "./double.ts";
export type { CloudflareFault } from "./faults.ts";
export { ALL_PERMISSIONS, type CloudflarePermission } from "./permissions.ts";
export type { CloudflareRequest } from "./requests.ts";
