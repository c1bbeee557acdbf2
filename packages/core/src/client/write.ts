/** What all writes share: hooks, query, sending. */
import type { Kind, KubeObject, ObjectKey } from "../object.ts";
import { jsonBody } from "./answer-body.ts";
import type { StatusDetails } from "./errors.ts";
import { isBuiltIn } from "./patch.ts";
import { queryString } from "./paths.ts";
import type { Repeatable } from "./retry.ts";
import { JSON_TYPE, poolOf, type Session } from "./session.ts";
import type { RequestOptions, WriteInfo, WriteOptions } from "./types.ts";

/** A write on its way to the requester. */
export interface Write {
  info: WriteInfo;
  method: string;
  path: string;
  body: string;
  contentType?: string;
  repeatable: Repeatable;
  options: RequestOptions & Pick<WriteOptions, "onWarning">;
}

/** Sends a write between its hooks; resolves with `undefined` when the server answered with a Status. */
export async function sendWrite<T extends KubeObject>(
  session: Session,
  write: Write,
): Promise<T | undefined> {
  const { hooks } = session;
  const { info, options } = write;
  const answer = await session.requester.send({
    verb: info.verb,
    method: write.method,
    path: write.path,
    pool: poolOf(info.kind),
    accept: JSON_TYPE,
    userAgent: session.userAgent,
    body: write.body,
    contentType: write.contentType ?? JSON_TYPE,
    repeatable: write.repeatable,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    onWarning: options.onWarning,
    beforeSend: () => {
      for (const hook of hooks) hook.beforeWrite?.(info);
    },
  });
  return tellHooks<T>(session, info, jsonBody(write, answer));
}

/** Tells the hooks of a write that succeeded; returns the object of the answer, if it holds one. */
export function tellHooks<T extends KubeObject>(
  session: Session,
  info: WriteInfo,
  body: unknown,
): T | undefined {
  const object = isObject(body) ? (body as T) : undefined;
  const uid =
    object === undefined ? (body as { details?: StatusDetails })?.details?.uid : object.metadata?.uid;
  for (const hook of session.hooks) hook.afterWrite?.(info, object, uid);
  return object;
}

/** An object, and no Status; the kind of a custom resource may be named so too. */
function isObject(body: unknown): body is KubeObject {
  if (typeof body !== "object" || body === null || !("metadata" in body)) return false;
  const { apiVersion, kind } = body as Partial<KubeObject>;
  return kind !== "Status" || apiVersion !== "v1";
}

/** What hooks are told of a write. */
export function writeInfo(
  verb: WriteInfo["verb"],
  kind: Kind,
  key: ObjectKey,
  options: { dryRun?: boolean; subresource?: string },
): WriteInfo {
  const info: WriteInfo = { verb, kind, key, dryRun: options.dryRun === true };
  if (options.subresource !== undefined) info.subresource = options.subresource;
  return info;
}

/** Query of a write; `force` belongs to applies alone. */
export function writeQuery(
  session: Session,
  kind: Kind,
  options: WriteOptions,
  force: boolean | undefined = undefined,
): string {
  return queryString({
    dryRun: options.dryRun ? "All" : undefined,
    fieldValidation: options.fieldValidation ?? (isBuiltIn(kind) ? session.fieldValidation : undefined),
    fieldManager: options.fieldManager ?? session.fieldManager,
    force,
  });
}
