/** Brings a counterpart to what its object wants (section 9.2). */
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { buildComment, ownerText, textOf } from "../desired/marker.ts";
import { type Claimed, type Claims, ownerOf, verdictOf } from "../desired/ownership.ts";
import type { Cached } from "../kinds.ts";
import { resolveAccess } from "./access.ts";
import { accountOf } from "./account.ts";
import { elderOf, holderOf } from "./claims.ts";
import { ConflictProblem } from "./conflict.ts";
import { counterpart } from "./one-to-one-cleanup.ts";
import { Problem } from "./problem.ts";
import type { Remote, ResourceObject, Scope, Wanted } from "./resource.ts";
import { idOf, type Run } from "./resource-run.ts";

export interface Done<T extends ResourceObject, W extends Wanted, R extends Remote> {
  readonly remote: R;
  readonly wanted: W;
  /** The object with the status that was written on the way. */
  readonly object: Cached<T>;
  readonly scope: Scope;
}

/** Makes the counterpart what is wanted; nothing when only plans are made. */
export async function bring<T extends ResourceObject, W extends Wanted, R extends Remote>(
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
  const { claim } = object.status ?? {};
  if ((id !== undefined || claim) && before && before !== account) {
    const message = `the ${type.noun} is in account ${before}, the credentials are for account ${account}; put those of its account back, or delete the object and create it anew`;
    throw new Problem("ImmutableField", message);
  }
  const scope: Scope = { api: access.api, account, cache: ctx.cache };
  const wanted = await type.wanted(object, scope);
  const claims = await claimsOf(run, wanted.key);
  if (id === undefined && claim && claim !== wanted.key) {
    // What was begun under another key is this object's too, and is changed like one that it knows.
    const begun = await counterpart(run, scope, undefined, claim);
    if (begun !== undefined && ownerOf(claimed(run, begun), claims) === undefined)
      return ctx.dryRun ? undefined : bring({ ...run, object: await hold(run, scope, begun, object) });
  }
  const held = id === undefined ? undefined : await type.get(scope, id);
  if (held === undefined) return settle(run, scope, wanted, claims);
  const other = ownerOf(claimed(run, held), claims);
  if (other !== undefined) throw new ConflictProblem(`${type.noun} managed by ${ownerText(other)}`, other);
  if (type.keyOf(held) !== wanted.key) await checkFree(run, scope, wanted, held);
  if (ctx.dryRun) return undefined;
  return { remote: await change(run, scope, wanted, held, object), wanted, scope, object };
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
  const whole = await type.update(scope, remote, wanted, comment(run, type.comment?.of(remote)), {
    object,
    strict: false,
  });
  return { remote: whole, wanted, scope, object: claiming };
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
  const holding = await hold(run, scope, remote, object, adopted ? type.adopted : undefined);
  if (adopted) record(run, "Adopted", `${type.noun} ${wanted.key} (${remote.id}) is taken over`);
  const changed = await change(run, scope, wanted, remote, run.object);
  return { remote: changed, wanted, scope, object: holding };
}

/** Keeps the identifier, before anything is changed. */
function hold<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  { account }: Scope,
  { id }: R,
  object: Cached<T>,
  more?: object,
): Promise<Cached<T>> {
  return persist(run, object, { [run.type.idField]: id, accountId: account, claim: undefined, ...more });
}

async function change<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
  scope: Scope,
  wanted: W,
  remote: R,
  object: Cached<T>,
): Promise<R> {
  const { type } = run;
  const strict = object.status?.observedGeneration !== object.metadata.generation;
  const changed = await type.update(scope, remote, wanted, comment(run, type.comment?.of(remote)), {
    object,
    strict,
  });
  if (changed !== remote) record(run, "Updated", `${type.noun} ${wanted.key} is changed`);
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
    held: idOf(type, object),
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
