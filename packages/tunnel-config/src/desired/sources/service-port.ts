/** Whether a Service has a port that is asked for (TUN-480). */
import type { Service } from "@quartet/core/kinds";
import type { Cached } from "../../kinds.ts";
import type { OptionNotice } from "../origin-request.ts";

/** Ports that are told. */
const SHOWN = 10;

/** A notice where nothing answers on the port. Names that lead to pods or elsewhere have no ports of their own. */
export function missingPort({ metadata, spec }: Cached<Service>, port: number): OptionNotice[] {
  const ports = (spec.ports ?? []).map((one) => one.port);
  if (spec.type === "ExternalName" || spec.clusterIP === "None" || ports.includes(port)) return [];
  const has = ports.length === 0 ? "none" : ports.slice(0, SHOWN).join(", ");
  const message = `Service ${metadata.namespace}/${metadata.name} has no port ${port}, its ports: ${has}; requests are answered with 502`;
  return [{ reason: "PortNotInService", message }];
}
