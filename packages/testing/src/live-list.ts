/** A list of objects that is kept current by a watch. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "./request.ts";

/** Pause before the objects are listed again, in milliseconds, when the watch has ended. */
const PAUSE_MS = 100;

interface Listed {
  metadata: { name: string; resourceVersion?: string };
}

/**
 * The objects at a path of a list (in one namespace) by name: now, and after each change, one at a time, until the signal
 * aborts. The API server may be away meanwhile: then they are listed again, and what happened in between is not told.
 */
export async function* liveList<T extends Listed>(
  client: TestClient,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ReadonlyMap<string, T>> {
  while (!signal.aborted) {
    try {
      const { metadata, items } = await client.ok<{ metadata: { resourceVersion: string }; items: T[] }>(
        "GET",
        path,
      );
      const objects = new Map(items.map((object) => [object.metadata.name, object]));
      yield objects;
      const watch = `${path}${path.includes("?") ? "&" : "?"}watch=true&resourceVersion=${metadata.resourceVersion}`;
      for await (const { type, object } of client.stream<{ type: string; object: T }>(watch, signal)) {
        if (type === "ERROR") break;
        if (type === "DELETED") objects.delete(object.metadata.name);
        else objects.set(object.metadata.name, object);
        yield objects;
      }
    } catch {
      // Listed again, unless it is over.
    }
    if (!signal.aborted) await sleep(PAUSE_MS);
  }
}
