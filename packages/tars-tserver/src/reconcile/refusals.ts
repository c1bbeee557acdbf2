/** Writes that the API server refuses are told of on the object that they were for. */
import {
  ApiError,
  type DeepReadonly,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  type KubeObject,
  messageOf,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";

/** Server errors pass by themselves, and say nothing of the object; but for a webhook that somebody has to mend. */
const FIRST_SERVER_ERROR = 500;
const DEAD_WEBHOOK = "failed calling webhook";

type ObjectOf = (
  key: ObjectKey,
  ctx: ReconcileContext,
) => DeepReadonly<KubeObject> | undefined | Promise<DeepReadonly<KubeObject> | undefined>;

/** The reconcile, which tells of refusals in an event with the server's words. */
export function tellingRefusals(reconcile: Reconcile, objectOf: ObjectOf): Reconcile {
  return async (key, ctx) => {
    try {
      return await reconcile(key, ctx);
    } catch (error) {
      const object = isRefusal(error) ? await objectOf(key, ctx) : undefined;
      if (object !== undefined) {
        ctx.events.record(object, { type: "Warning", reason: "WriteRefused", note: messageOf(error) });
      }
      throw error;
    }
  };
}

/** The API server refuses a request for what it is or for whose it is. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.code >= FIRST_SERVER_ERROR) return error.message.includes(DEAD_WEBHOOK);
  const passing: boolean = isConflict(error) || isNotFound(error) || isNamespaceTerminating(error);
  return !passing;
}
