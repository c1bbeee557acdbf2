/** Server-side apply. */

import { unsupportedMedia } from "../body.ts";
import type { Call } from "../call.ts";
import type { Server } from "../server.ts";
import type { Updated } from "../verbs/write.ts";

export async function applyPatch(_server: Server, _call: Call): Promise<Updated> {
  throw unsupportedMedia([]);
}
