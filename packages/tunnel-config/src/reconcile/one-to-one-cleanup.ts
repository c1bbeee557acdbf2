/** The end of a counterpart with its object (TUN-909, TUN-1013). */
import { ANNOTATIONS } from "../constants.ts";
import { isSameMarker, markerOf, ownerText, textOf } from "../desired/marker.ts";
import { type Access, resolveAccess } from "./access.ts";
import { accountOf } from "./account.ts";
import { holderOf } from "./claims.ts";
import { Problem } from "./problem.ts";
import type { Remote, ResourceObject, Scope, Wanted } from "./resource.ts";
import { idOf, type Run } from "./resource-run.ts";

/** Time after which a counterpart whose credentials are gone is given up, in milliseconds (TUN-1013). */
const GIVE_UP_MS = 900_000;

/** Takes the counterpart away, unless it is somebody else's or is to stay. */
export async function cleanUp<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
): Promise<void> {
  const { type, object, ctx, options, key } = run;
  const { annotations = {}, deletionTimestamp = "" } = object.metadata;
  const id = idOf(type, object);
  const former = object.status?.claim || type.formerKey?.(object);
  // Nothing was ever begun: the status says so before the first call.
  if (id === undefined && !former) return;
  const name = `${type.noun} ${id ?? former}`;
  const orphaned = (why: string): void => {
    const note = `${name} stays in the account: ${why}`;
    ctx.events.record(object, { type: "Warning", reason: "Orphaned", note });
  };
  if (annotations[ANNOTATIONS.forceDelete] === "true") return orphaned("force-delete is set");
  let access: Access;
  try {
    access = await resolveAccess(type.cloudflare(object), key.namespace, ctx.cache, options);
  } catch (error) {
    const age = options.clock.now() - Date.parse(deletionTimestamp);
    const gone = error instanceof Problem && error.reason === "CredentialsNotFound";
    if (gone && age > GIVE_UP_MS) return orphaned(error.message);
    throw error;
  }
  const account = object.status?.accountId || (await accountOf(access));
  const scope: Scope = { api: access.api, account, cache: ctx.cache };
  const remote = await counterpart(run, scope, id, former);
  if (remote === undefined) return;
  const there = type.comment?.of(remote);
  const marker = markerOf(there);
  const other =
    marker !== undefined
      ? isSameMarker(marker, run.owner, id !== undefined)
        ? undefined
        : marker
      : (await holderOf(run))(remote.id);
  if (other !== undefined) return orphaned(`it is managed by ${ownerText(other)}`);
  const why =
    annotations[ANNOTATIONS.deletionPolicy] === "Orphan" ? "deletion-policy is Orphan" : type.keeps?.(object);
  if (why !== undefined) {
    if (marker !== undefined) await type.release?.(scope, remote, textOf(there));
    const note = `${name} stays in the account: ${why}`;
    ctx.events.record(object, { type: "Normal", reason: "Kept", note });
    return;
  }
  await type.remove(scope, remote);
  const note = `${name} is deleted in the account`;
  ctx.events.record(object, { type: "Normal", reason: "Deleted", note });
}

/** The counterpart by its identifier, else by the key under which it was begun. */
export async function counterpart<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { type, owner }: Run<T, W, R>,
  scope: Scope,
  id: string | undefined,
  former: string | undefined,
): Promise<R | undefined> {
  if (id !== undefined) return type.get(scope, id);
  const found = await type.find(scope, former ?? "");
  const { comment } = type;
  if (comment === undefined) return found.length === 1 ? found[0] : undefined;
  return found.find((remote) => {
    const marker = markerOf(comment.of(remote));
    return marker !== undefined && isSameMarker(marker, owner);
  });
}
