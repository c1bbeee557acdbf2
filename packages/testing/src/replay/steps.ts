/** Takes the steps of a recorded case. */
import type { TestClient } from "../request.ts";
import type { Scene } from "./arena.ts";
import type { RecordedObject, Step } from "./recorded.ts";

const CONFLICT = 409;
const NOT_FOUND = 404;

/** Takes a step; what the API server says when it refuses, else `undefined`. */
export async function take(
  client: TestClient,
  scene: Scene,
  { op, object }: Step,
): Promise<string | undefined> {
  const path = await scene.pathOf(object, object.metadata.name);
  const body = scene.here(object);
  const answer = await (async () => {
    if (op === "delete") return client.request<{ message?: string }>("DELETE", path);
    if (op === "merge") {
      const { apiVersion: _version, kind: _kind, ...patch } = body;
      return client.request<{ message?: string }>("PATCH", path, patch, {
        contentType: "application/merge-patch+json",
      });
    }
    return apply(client, path, await scene.pathOf(object), body);
  })();
  return answer.code < 400 ? undefined : `${answer.code} ${answer.body.message ?? ""}`;
}

/** Creates the object, or replaces the one that there is; a write of somebody else in between is read again. */
async function apply(
  client: TestClient,
  path: string,
  collection: string,
  object: RecordedObject,
): Promise<{ code: number; body: { message?: string } }> {
  for (;;) {
    const live = await client.request<{ metadata: { resourceVersion: string } }>("GET", path);
    if (live.code === NOT_FOUND) return client.request("POST", collection, object);
    const { resourceVersion } = live.body.metadata;
    const body = { ...object, metadata: { ...object.metadata, resourceVersion } };
    const answer = await client.request<{ message?: string }>("PUT", path, body);
    if (answer.code !== CONFLICT) return answer;
  }
}
