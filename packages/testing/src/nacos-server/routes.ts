/** Which answer a node gives to which request. */
import { type ClusterView, forbidden, gone, memberList, notFound } from "./answers.ts";
import type { NacosMember } from "./types.ts";

export interface NodeAnswer {
  readonly status: number;
  readonly body: string;
}

/** First major version whose member list lies below `/v3/admin` and whose older API is off. */
const V3 = 3;
const OLD_LIST = "/v1/core/cluster/nodes";
const V2_LIST = "/v2/core/cluster/node/list";
const V3_LIST = "/v3/admin/core/cluster/node/list";
const HEALTH = /^\/v1\/console\/health\/(liveness|readiness)$/;

/**
 * Answer of a node.
 * @param path path without query
 * @param contextPath context path of the API, for example `/nacos`
 * @param identified the request carried the identity header
 */
export function answer(
  view: ClusterView,
  member: NacosMember,
  path: string,
  contextPath: string,
  identified: boolean,
): NodeAnswer {
  const { behaviour } = view;
  const own = behaviour.override?.({ path, member });
  if (own !== undefined) return own;
  if (contextPath !== "" && !path.startsWith(`${contextPath}/`)) return { status: 404, body: notFound(path) };
  const route = path.slice(contextPath.length);
  const modern = Number.parseInt(behaviour.version, 10) >= V3;
  if (modern ? route === V3_LIST : route === OLD_LIST || route === V2_LIST) {
    if (behaviour.auth && !identified) return { status: 403, body: forbidden(path) };
    return { status: 200, body: memberList(view, member, route === OLD_LIST ? 200 : 0) };
  }
  if (modern && (route === OLD_LIST || HEALTH.test(route))) {
    if (!behaviour.compatible) return { status: 410, body: gone() };
    if (behaviour.auth && !identified) return { status: 403, body: forbidden(path) };
    return { status: 200, body: memberList(view, member, 200) };
  }
  if (HEALTH.test(route)) return { status: 200, body: "OK" };
  return { status: 404, body: notFound(path) };
}
