/** `Impersonate-*` headers. */
import type { IncomingHttpHeaders } from "node:http";
import type { Attributes } from "../auth.ts";
import type { User } from "../call.ts";

const EXTRA = "impersonate-extra-";

function values(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return Array.isArray(header) ? header : header.split(",").map((part) => part.trim());
}

/** The user that a request acts as; `permit` throws when the asker may not impersonate it. */
export function impersonate(
  asker: User,
  headers: IncomingHttpHeaders,
  permit: (asker: User, wanted: Attributes) => void,
): User {
  const [name] = values(headers["impersonate-user"]);
  if (name === undefined) return asker;
  const groups = values(headers["impersonate-group"]);
  const target = { verb: "impersonate", group: "", subresource: "", namespace: "" };
  permit(asker, { ...target, resource: "users", name });
  for (const group of groups) permit(asker, { ...target, resource: "groups", name: group });
  const extra: Record<string, string[]> = {};
  for (const [key, header] of Object.entries(headers)) {
    if (key.startsWith(EXTRA)) extra[decodeURIComponent(key.slice(EXTRA.length))] = values(header);
  }
  return {
    name,
    uid: values(headers["impersonate-uid"])[0] ?? "",
    groups: [...new Set([...groups, "system:authenticated"])],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
