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
import { type Cached, DNS_RECORD } from "../kinds.ts";
import { holds } from "./subset.ts";

/** Creates, changes and deletes DNSRecords; those of others are left alone and named. */
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
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  for (const record of wanted) {
    const stored = there.get(record.metadata.name ?? "");
    const ownerReferences = [controllerReference(kind, object)];
    const next = { ...record, metadata: { ...record.metadata, ownerReferences } };
    if (stored !== undefined && !isControlledBy(stored, object)) {
      const note = `DNSRecord ${namespace}/${record.metadata.name} is there already and not ours; ${record.spec.name} gets no record`;
      ctx.events.record(object, { type: "Warning", reason: "NameTaken", note, distinct: note });
    } else if (stored === undefined || !holds(stored, next)) await ctx.client.applyOwned(DNS_RECORD, next);
  }
  for (const [name, stored] of there) {
    if (!names.has(name) && isControlledBy(stored, object))
      await ctx.client.deleteIfExists(DNS_RECORD, keyOf(stored));
  }
}
