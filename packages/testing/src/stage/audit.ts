/** What managers sent, in the words of tests. */
import type { RequestRecord } from "../api-server.ts";

/** Verbs that change something. */
const WRITES = ["create", "update", "patch", "apply", "delete", "deletecollection"];
/** A user agent ends with the name of the controller; that of the manager itself ends with its platform. */
const MANAGER_AGENT_END = ")";

/** A write of something that lasts: no event, and no question about rights. */
export function isWrite({ verb, resource, group }: RequestRecord): boolean {
  return WRITES.includes(verb) && resource !== "events" && group !== "authorization.k8s.io";
}

/** Counts as cost of a controller: each of its requests, reads and events included, but watches and Leases. */
export function isCost({ verb, resource, userAgent }: RequestRecord): boolean {
  return verb !== "watch" && resource !== "leases" && !userAgent.endsWith(MANAGER_AGENT_END);
}

/** `verb resource[/subresource] name`. */
export function inWords({ verb, resource, subresource, name }: RequestRecord): string {
  return [verb, subresource === "" ? resource : `${resource}/${subresource}`, name].join(" ");
}
