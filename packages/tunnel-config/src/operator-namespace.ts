/** Where what belongs to no namespace of its own stands: configurations, credentials, children of ClusterTunnels. */
import type { FlagValues } from "@quartet/core";
import { DEFAULT_OPERATOR_NAMESPACE } from "./constants.ts";

/** By the flag, else the namespace of the manager's pod, else the peer's default. */
export function operatorNamespaceOf(flags: FlagValues): string {
  return (
    String(flags["tunnel-operator-namespace"] ?? "") ||
    process.env.POD_NAMESPACE ||
    DEFAULT_OPERATOR_NAMESPACE
  );
}
