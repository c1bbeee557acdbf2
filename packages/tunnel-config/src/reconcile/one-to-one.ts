/** Objects with one counterpart in the account each, never one of somebody else (sections 9.1 and 9.2). */
import {
  type Condition,
  finalizer,
  findCondition,
  isTrue,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from "@quartet/core";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { hashOf } from "../desired/aggregate.ts";
import { ownerIn } from "../desired/marker.ts";
import type { Cached } from "../kinds.ts";
import { accountHint } from "./account.ts";
import { bring } from "./bring.ts";
import { ConflictProblem } from "./conflict.ts";
import { createNoticeBook } from "./notice-book.ts";
import { cleanUp } from "./one-to-one-cleanup.ts";
import { problemOf } from "./problem.ts";
import { refusalOf } from "./refusal.ts";
import { reportProblem, reportReady } from "./report.ts";
import type { Remote, ResourceKind, ResourceObject, Wanted } from "./resource.ts";
import type { ResourceOptions, Run } from "./resource-run.ts";

/** Time after which a counterpart is compared again, in milliseconds, and the part of it that is left to chance (TUN-908). */
const RECHECK_MS = 1_800_000;
const JITTER = 0.1;

/** Reconcile of a kind. */
export function createResourceReconcile<T extends ResourceObject, W extends Wanted, R extends Remote>(
  type: ResourceKind<T, W, R>,
  options: ResourceOptions,
): Reconcile {
  const { kind } = type;
  const guard = finalizer<T, ReconcileContext>({ kind, name: type.finalizer, cleanup: async () => {} });
  /** What was compared last, and until when that holds. */
  const compared = new Map<string, { readonly hash: string; readonly until: number }>();
  const notices = createNoticeBook();
  return async (key, ctx) => {
    const object = await ctx.cache.get(kind, key);
    const id = `${kind.kind}/${key.namespace}/${key.name}`;
    if (object === undefined) {
      compared.delete(id);
      options.waiters.wait(key, undefined);
      notices.forget(key);
      return options.backoff.reset(id);
    }
    const owner = ownerIn(options.clusterId, kind.kind, key.namespace, key.name);
    const run: Run<T, W, R> = { type, object, key, ctx, options, owner };
    const report = { kind, object, ctx, now: options.clock.now() };
    const deleting = object.metadata.deletionTimestamp !== undefined;
    try {
      if (deleting) {
        if ((object.metadata.finalizers ?? []).includes(type.finalizer) && !ctx.dryRun) await cleanUp(run);
        await guard(object, ctx);
        return;
      }
      if ((await guard(object, ctx)) !== "present") return;
      const hash = await fingerprint(run);
      const last = compared.get(id);
      const now = options.clock.monotonic();
      if (isReady(object) && last?.hash === hash && now < last.until)
        return { requeueAfter: last.until - now };
      const done = await bring(run);
      if (done === undefined) return;
      const pause = Math.round(RECHECK_MS * (1 - JITTER + 2 * JITTER * Math.random()));
      compared.set(id, { hash, until: now + pause });
      options.waiters.wait(key, undefined);
      options.backoff.reset(id);
      const { remote, wanted, scope } = done;
      const status = {
        [type.idField]: remote.id,
        accountId: scope.account,
        claim: undefined,
        state: type.states.ready,
        ...type.status(remote, wanted),
      };
      await reportReady({ ...report, object: done.object }, "Synced", status);
      notices.tell(ctx.events, object, (await type.notices?.(object, remote, scope)) ?? []);
      return { requeueAfter: pause };
    } catch (error) {
      compared.delete(id);
      return tell(run, error, id, report.now);
    }
  };
}

/** Everything within the cluster that the counterpart depends on. */
async function fingerprint<T extends ResourceObject, W extends Wanted, R extends Remote>({
  type,
  object,
  ctx,
}: Run<T, W, R>): Promise<string> {
  const { annotations = {} } = object.metadata;
  const { spec } = object as unknown as { spec?: unknown };
  return hashOf([
    spec ?? {},
    annotations[ANNOTATIONS.adopt] ?? "",
    annotations[ANNOTATIONS.pause] ?? "",
    (await accountHint(type.cloudflare(object), ctx.cache)) ?? "",
    (await type.inputs?.(object, ctx.cache)) ?? "",
  ]);
}

function isReady(object: Cached<ResourceObject>): boolean {
  return isTrue(object, findCondition(object.status?.conditions as Condition[] | undefined, "Ready"));
}

async function tell<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  error: unknown,
  id: string,
  now: number,
): Promise<Result> {
  const { type, object, ctx, options, key } = run;
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const problem =
    (error instanceof ApiError && type.explain?.(error, deleting)) || refusalOf(error) || problemOf(error);
  options.waiters.wait(key, problem instanceof ConflictProblem ? problem.owner : undefined);
  const state = { state: type.states.error, ...(type.tellsMessage && { message: problem.message }) };
  const backoff = { store: options.backoff, id };
  try {
    return await reportProblem({ kind: type.kind, object, ctx, now }, problem, state, backoff);
  } catch (unwritten) {
    // Where not even the status may be written an event is all that is left.
    const refused = refusalOf(unwritten);
    if (refused === undefined) throw unwritten;
    const { reason, message } = refused;
    ctx.events.record(object, { type: "Warning", reason, note: message, distinct: message });
    return { requeueAfter: options.backoff.next(id) };
  }
}
