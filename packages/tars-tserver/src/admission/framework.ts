/** TFrameworkConfig: validation (V-070, CRD-006). */
import type { DeepReadonly } from "@quartet/core";
import type { TFrameworkConfig } from "../api.gen.ts";
import { FRAMEWORK_NAME } from "../labels.ts";
import { type Denial, invalid } from "./denial.ts";

/** Why a new framework configuration is refused. */
export function validateNewFramework({ metadata, upChain }: DeepReadonly<TFrameworkConfig>): Denial {
  if (metadata.name !== FRAMEWORK_NAME) return "create tframeworkconfig operation is defined";
  for (const [name, endpoints] of Object.entries(upChain ?? {})) {
    const lacks = endpoints.find(({ host, port }) => !host || port === undefined);
    if (lacks !== undefined)
      return invalid("tframeworkconfig", `upChain.${name}: host and port are both needed`);
  }
  return undefined;
}
