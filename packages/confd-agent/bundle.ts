/** Bundles the agent. */
import { join } from "node:path";
import { bundleProgram, commit, versionOf } from "../../tools/bundle.ts";

const HERE = import.meta.dirname;
/** Largest bundle: what is read at each start. */
const MAX_BYTES = 1.75 * 1024 * 1024;

/**
 * Node's flags for the agent in production: it keeps little, and with a young generation of 1 MiB it is 4 MiB smaller
 * than with the manager's 4, with the same latency (docs/performance.md).
 */
export const AGENT_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=1"];

export interface BundleOptions {
  /** Where the file goes; its map and `….LICENSES.txt` stand beside it. */
  readonly outfile: string;
}

/** Bundles, and rejects when the outcome holds what it must not. Returns its size in bytes. */
export async function bundle({ outfile }: BundleOptions): Promise<number> {
  return await bundleProgram({
    entry: join(HERE, "src/main.ts"),
    outfile,
    maxBytes: MAX_BYTES,
    define: { CONFD_VERSION: JSON.stringify(versionOf(HERE)), CONFD_COMMIT: JSON.stringify(commit()) },
  });
}
