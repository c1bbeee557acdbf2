/** The last resort where a ConfigMap cannot hold what a tunnel needs (TUN-319). */
import type { ConfigDocument } from "../desired/document.ts";
import { documentSize, MAX_DOCUMENT } from "../desired/share.ts";
import { Problem } from "./problem.ts";

/** Time until sources that were too large are looked at again, in milliseconds; a change of them comes by itself. */
const TOO_LARGE_MS = 300_000;

/**
 * Largest document of a tunnel that is held at a former version, in bytes. That stood in the history, beside the same
 * sources, so it has room in the document instead: whoever fills the tunnel does not keep its owner from going back (TUN-661).
 */
const MAX_HELD = 1022 * 1024;

/** What could not be stored is not transmitted either: nobody would know what the account holds. */
export function assertFits(document: ConfigDocument): void {
  const size = documentSize(document);
  if (size <= (document.frozen === undefined ? MAX_DOCUMENT : MAX_HELD)) return;
  const message =
    `the sources of the tunnel take ${Math.ceil(size / 1024)} KiB, a ConfigMap holds 1024; ` +
    "spread its hosts over several tunnels";
  throw new Problem("ConfigTooLarge", message, { retryAfterMs: TOO_LARGE_MS, event: "ConfigTooLarge" });
}
