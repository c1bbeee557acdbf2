/** Which cluster markers name. */
import type { FlagValues } from "@quartet/core";
import { isClusterId } from "./desired/marker.ts";

/** By the flag; empty for none. */
export function clusterIdOf(flags: FlagValues): string {
  const text = String(flags["tunnel-cluster-id"]);
  if (text !== "" && !isClusterId(text))
    throw new Error(
      `--tunnel-cluster-id: at most 20 lower-case letters, digits and "-", not ${JSON.stringify(text)}`,
    );
  return text;
}
