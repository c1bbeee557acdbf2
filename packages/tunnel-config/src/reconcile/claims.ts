/** What other objects of the cluster hold or want (TUN-911, TUN-941). */
import { type Owner, ownerIn } from "../desired/marker.ts";
import type { Cached } from "../kinds.ts";
import { accountHint } from "./account.ts";
import type { Remote, ResourceObject, Wanted } from "./resource.ts";
import { idOf, type Run } from "./resource-run.ts";

/** Which other object has an identifier in its status. */
export async function holderOf<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
): Promise<(id: string) => Owner | undefined> {
  const { type } = run;
  const own = idOf(type, run.object);
  const holders = new Map<string, Owner>();
  for (const other of await othersOf(run)) {
    const id = idOf(type, other);
    if (id === undefined) continue;
    // Of two that name one counterpart the older has it.
    if (id !== own || isOlder(other, run.object)) holders.set(id, ownerNamed(run, other));
  }
  return (id) => holders.get(id);
}

/** Another object that wants the same counterpart and comes first. */
export async function elderOf<T extends ResourceObject, W extends Wanted, R extends Remote>(
  run: Run<T, W, R>,
): Promise<Owner | undefined> {
  const { type, object, ctx } = run;
  const key = type.claimKey(object);
  const account = await accountHint(type.cloudflare(object), ctx.cache);
  for (const other of await othersOf(run)) {
    const rival = type.claimKey(other) === key && (idOf(type, other) !== undefined || isOlder(other, object));
    if (!rival) continue;
    const elsewhere = await accountHint(type.cloudflare(other), ctx.cache);
    if (elsewhere === account) return ownerNamed(run, other);
  }
  return undefined;
}

async function othersOf<T extends ResourceObject, W extends Wanted, R extends Remote>({
  type,
  object,
  ctx,
}: Run<T, W, R>): Promise<Cached<T>[]> {
  const all = await ctx.cache.list(type.kind);
  return all.filter(({ metadata }) => metadata.uid !== object.metadata.uid);
}

function ownerNamed<T extends ResourceObject, W extends Wanted, R extends Remote>(
  { type, options }: Run<T, W, R>,
  { metadata }: Cached<ResourceObject>,
): Owner {
  const { namespace = "", name = "" } = metadata;
  return ownerIn(options.clusterId, type.kind.kind, namespace, name);
}

/** By creation, then by namespace and name (TUN-911). */
export function isOlder(a: Cached<ResourceObject>, b: Cached<ResourceObject>): boolean {
  const age = ({ metadata }: Cached<ResourceObject>): string =>
    `${metadata.creationTimestamp} ${metadata.namespace ?? ""}/${metadata.name}`;
  return age(a) < age(b);
}
