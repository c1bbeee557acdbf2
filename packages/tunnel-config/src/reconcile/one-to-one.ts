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
import { buildComment, ownerText, textOf } from "../desired/marker.ts";
import { type Claimed, type Claims, ownerOf, verdictOf } from "../desired/ownership.ts";
import type { Cached } from "../kinds.ts";
import { resolveAccess } from "./access.ts";
import { accountHint, accountOf } from "./account.ts";
import { elderOf, holderOf } from "./claims.ts";
import { ConflictProblem } from "./conflict.ts";
import { cleanUp } from "./one-to-one-cleanup.ts";
import { Problem, problemOf } from "./problem.ts";
import { refusalOf } from "./refusal.ts";
import { reportProblem, reportReady } from "./report.ts";
import type { Remote, ResourceKind, ResourceObject, Scope, Wanted } from "./resource.ts";
import { idOf, type ResourceOptions, type Run } from "./resource-run.ts";

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
  return async (key, ctx) => {
    const object = await ctx.cache.get(kind, key);
    const id = `${kind.kind}/${key.namespace}/${key.name}`;
    if (object === undefined) {
      compared.delete(id);
      options.waiters.wait(key, undefined);
      return options.backoff.reset(id);
    }
    const owner = { kind: kind.kind, namespace: key.namespace, name: key.name };
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
      const { remote, wanted, account } = done;
      const status = {
        [type.idField]: remote.id,
        accountId: account,
        claim: undefined,
        state: type.states.ready,
        ...type.status(remote, wanted),
      };
      await reportReady({ ...report, object: done.object }, "Synced", status);
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

interface Done<T extends ResourceObject, W extends Wanted, R extends Remote> {
  readonly remote: R;
  readonly wanted: W;
  readonly account: string;
  /** The object with the status that was written on the way. */
  readonly object: Cached<T>;
}

/** Makes the counterpart what is wanted; nothing when only plans are made. */
async function bring<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
): Promise<Done<T, W, R> | undefined> {
  const { type, object, ctx, options, key } = run;
  if (object.metadata.annotations?.[ANNOTATIONS.pause] === "true")
    throw new Problem("Paused", "nothing is changed while the annotation pause is set");
  const wrong = type.problem(object);
  if (wrong !== undefined) throw new Problem("InvalidSpec", wrong);
  const access = await resolveAccess(type.cloudflare(object), key.namespace, ctx.cache, options);
  const account = await accountOf(access);
  const id = idOf(type, object);
  const before = object.status?.accountId;
  if (id !== undefined && before && before !== account) {
    const message = `the ${type.noun} is in account ${before}, the credentials are for account ${account}; put those of its account back, or delete the object and create it anew`;
    throw new Problem("ImmutableField", message);
  }
  const scope: Scope = { api: access.api, account, cache: ctx.cache };
  const wanted = await type.wanted(object, scope);
  const claims = await claimsOf(run, wanted.key);
  const held = id === undefined ? undefined : await type.get(scope, id);
  if (held === undefined) return settle(run, scope, wanted, claims);
  const other = ownerOf(claimed(run, held), claims);
  if (other !== undefined) throw new ConflictProblem(`${type.noun} managed by ${ownerText(other)}`, other);
  if (type.keyOf(held) !== wanted.key) await checkFree(run, scope, wanted, held);
  if (ctx.dryRun) return undefined;
  return { remote: await change(run, scope, wanted, held, object), wanted, account, object };
}

/** The counterpart is looked for by its key, and created where there is none. */
async function settle<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  claims: Claims,
): Promise<Done<T, W, R> | undefined> {
  const { type, object, ctx } = run;
  const { account } = scope;
  const found = await lookUp(run, scope, wanted, claims);
  const elder = found === undefined || found.adopted ? await elderOf(run) : undefined;
  if (elder !== undefined) throw new ConflictProblem(`${type.noun} managed by ${ownerText(elder)}`, elder);
  if (ctx.dryRun) return undefined;
  if (found !== undefined) return take(run, scope, wanted, found, object);
  // What is created is found again by this, should its identifier be lost.
  const claiming = await persist(run, object, { claim: wanted.key, accountId: account });
  let remote: R;
  try {
    remote = await type.create(scope, wanted, comment(run, undefined));
  } catch (error) {
    // A failure that does not say how the call ended may hide a success: the claim stays.
    if (!(error instanceof ApiError) || error.class === "transient") throw error;
    const plain = claims.began ? claiming : await persist(run, claiming, { claim: undefined });
    const other = error.class === "conflict" ? await lookUp(run, scope, wanted, claims) : undefined;
    if (other === undefined) throw error;
    return take(run, scope, wanted, other, plain);
  }
  record(run, "Created", `${type.noun} ${wanted.key} is created: ${remote.id}`);
  const whole = await type.update(scope, remote, wanted, comment(run, type.comment?.of(remote)), object);
  await type.warn?.(object, whole, ctx);
  return { remote: whole, wanted, account, object: claiming };
}

async function lookUp<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  claims: Claims,
): Promise<{ readonly remote: R; readonly adopted: boolean } | undefined> {
  const found = (await run.type.find(scope, wanted.key)).map((remote) => claimed(run, remote));
  const verdict = verdictOf(found, claims);
  if (verdict === undefined) return undefined;
  if ("conflict" in verdict) throw new ConflictProblem(verdict.conflict, verdict.owner);
  return { remote: verdict.use.remote, adopted: verdict.adopted };
}

/** Makes a counterpart that is there this object's own. Its identifier is kept before anything is changed. */
async function take<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  { remote, adopted }: { readonly remote: R; readonly adopted: boolean },
  object: Cached<T>,
): Promise<Done<T, W, R>> {
  const { type } = run;
  const status = {
    [type.idField]: remote.id,
    accountId: scope.account,
    claim: undefined,
    ...(adopted && type.adopted),
  };
  const holding = await persist(run, object, status);
  if (adopted) record(run, "Adopted", `${type.noun} ${wanted.key} (${remote.id}) is taken over`);
  const changed = await change(run, scope, wanted, remote, run.object);
  return { remote: changed, wanted, account: scope.account, object: holding };
}

async function change<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  remote: R,
  object: Cached<T>,
): Promise<R> {
  const { type } = run;
  const changed = await type.update(scope, remote, wanted, comment(run, type.comment?.of(remote)), object);
  if (changed !== remote) record(run, "Updated", `${type.noun} ${wanted.key} is changed`);
  await type.warn?.(object, changed, run.ctx);
  return changed;
}

/** A new key must not be that of another remote object. */
async function checkFree<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  held: R,
): Promise<void> {
  const { type } = run;
  const others = (await type.find(scope, wanted.key)).filter(({ id }) => id !== held.id);
  const [other] = others.map((remote) => claimed(run, remote));
  if (other === undefined) return;
  const claims = await claimsOf(run, wanted.key);
  const owner = ownerOf(other, claims);
  const by =
    owner === undefined ? "exists and is not managed by this resource" : `managed by ${ownerText(owner)}`;
  throw new ConflictProblem(`${type.noun} ${by}; choose another name, or remove it`, owner);
}

function claimed<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { type }: Run<T, W, R>,
  remote: R,
): Claimed & { readonly remote: R } {
  return { id: remote.id, comment: type.comment?.of(remote), remote };
}

async function claimsOf<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  key: string,
): Promise<Claims> {
  const { type, object, owner } = run;
  return {
    own: owner,
    noun: type.noun,
    adopt: object.metadata.annotations?.[ANNOTATIONS.adopt] === "true",
    // A marker says by itself whose the object is.
    began: type.comment === undefined && object.status?.claim === key,
    holder: await holderOf(run),
  };
}

function comment<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { type, owner, object }: Run<T, W, R>,
  there: string | null | undefined,
): string {
  if (type.comment === undefined) return "";
  return buildComment(owner, type.comment.text(object) ?? textOf(there), type.comment.limit);
}

function record<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { ctx, object }: Run<T, W, R>,
  reason: string,
  note: string,
): void {
  ctx.events.record(object, { type: "Normal", reason, note, distinct: note });
}

/** Writes a part of the status before the API is asked to change anything. */
async function persist<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { type, ctx }: Run<T, W, R>,
  object: Cached<T>,
  status: Readonly<Record<string, unknown>>,
): Promise<Cached<T>> {
  const next = { ...object.status, ...status };
  return ((await ctx.client.patchStatus(type.kind, object, next)) ?? object) as Cached<T>;
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
  const state = { state: type.states.error };
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
