/**
 * `@quartet/tunnel-ingress`: the ingress rules of a Cloudflare Tunnel as cloudflared understands them. Pure: whether a
 * configuration is valid, and which rule serves a request.
 */
export { parseGoDuration } from "./duration.ts";
export { GoUrlError, parseGoUrl } from "./go-url.ts";
export { holdsPort, isCatchAll, punycodeOf } from "./hostname.ts";
export { IngressError, type IngressProblem } from "./problems.ts";
export { compilePath, PathPatternError } from "./regexp.ts";
export { type IngressRoutes, routesOf } from "./routes.ts";
export type { ConfigForm, IngressConfig, IngressRule } from "./types.ts";
export { validateIngress } from "./validate.ts";
