/** Keeps the DNSRecord objects of an object as they are wanted. */
import {
  controllerReference,
  isControlledBy,
  type Kind,
  type KubeObject,
  keyOf,
  type ReconcileContext,
} from "@quartet/core";
import type { DNSRecord } from "../api.gen.ts";
import { otherName } from "../desired/dns-objects.ts";
import { type Cached, DNS_RECORD } from "../kinds.ts";
import { holds } from "./subset.ts";

/**
 * Creates, changes and deletes DNSRecords. Those of others are left alone: where one has the name, another is taken, for two
 * records that want the same are shared (TUN-475), and the host goes on when the other one ends.
 */
export async function keepDnsRecords(
  ctx: ReconcileContext,
  owner: { readonly kind: Kind; readonly object: Cached<KubeObject> },
  wanted: readonly DNSRecord[],
): Promise<void> {
  const { object, kind } = owner;
  const namespace = object.metadata.namespace ?? "";
  const there = new Map(
    (await ctx.cache.list(DNS_RECORD, { namespace })).map((one) => [one.metadata.name ?? "", one]),
  );
  const isOwn = (name: string): boolean => {
    const stored = there.get(name);
    return stored !== undefined && isControlledBy(stored, object);
  };
  const names = new Set<string>();
  for (const record of wanted) {
    const { name: usual = "" } = record.metadata;
    const other = otherName(record, kind.kind);
    // One that has the other name keeps it: nothing is made anew for a name.
    const name = isOwn(other) || (there.has(usual) && !isOwn(usual)) ? other : usual;
    names.add(name);
    const stored = there.get(name);
    const ownerReferences = [controllerReference(kind, object)];
    const next = { ...record, metadata: { ...record.metadata, name, ownerReferences } };
    if (stored !== undefined && !isOwn(name)) {
      const note = `DNSRecord ${namespace}/${name} is there already and not ours; ${record.spec.name} gets no record`;
      ctx.events.record(object, { type: "Warning", reason: "NameTaken", note, distinct: note });
    } else if (stored === undefined || !holds(stored, next)) await ctx.client.applyOwned(DNS_RECORD, next);
  }
  for (const [name, stored] of there) {
    if (!names.has(name) && isOwn(name)) await ctx.client.deleteIfExists(DNS_RECORD, keyOf(stored));
  }
}
