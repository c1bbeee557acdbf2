/** The texts by which the peer says whose record a name has: `_managed.<name>`, JSON (TUN-421). */
import { isMap } from "./document.ts";

/** Whose record a text says it is. */
export type Registered = "ours" | "nobody" | { readonly tunnelName: string; readonly tunnelId: string };

export interface Registry {
  /** Identifier of the record that the text is about. */
  readonly recordId: string;
  readonly whose: Registered;
}

/** Name of the text for a host. */
export function registryName(host: string): string {
  return `_managed.${host}`;
}

/**
 * What a text says. One that cannot be read names nobody, and so does one without name and identifier, which the peer
 * writes.
 * @param tunnelId of the tunnel that the record shall point to
 */
export function readRegistry(content: string, tunnelId: string): Registry {
  const value = parse(content.replace(/^"(.*)"$/s, "$1").replaceAll('\\"', '"'));
  const text = (member: string): string => (typeof value[member] === "string" ? String(value[member]) : "");
  const [recordId, named, name] = [text("DnsId"), text("TunnelId"), text("TunnelName")];
  if (named === tunnelId && named !== "") return { recordId, whose: "ours" };
  if (named === "" && name === "") return { recordId, whose: "nobody" };
  return { recordId, whose: { tunnelName: name, tunnelId: named } };
}

function parse(content: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content);
    return isMap(value) ? value : {};
  } catch {
    return {};
  }
}
