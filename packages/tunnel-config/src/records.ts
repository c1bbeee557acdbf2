/** The controller of DNSRecords, and what concerns them. */
import { type EventHandler, type Manager, primaryChanged } from "@quartet/core";
import type { DNSRecord } from "./api.gen.ts";
import { ownerIn } from "./desired/marker.ts";
import { CREDENTIALS, DNS_RECORD, DOMAIN } from "./kinds.ts";
import { createBackoff } from "./reconcile/backoff.ts";
import type { SimpleOptions } from "./reconcile/credentials.ts";
import { createDnsReconcile } from "./reconcile/dns-record.ts";
import { createWaiters } from "./reconcile/waiters.ts";
import { createZoneRecords } from "./reconcile/zone-records.ts";
import { createZones } from "./reconcile/zones.ts";
import { everything, namingSecret, watchSecrets, zoneFound } from "./watching.ts";

/** Credentials and zones concern all records; the end of a record concerns those that it stood in the way of. */
export function addRecords(manager: Manager, simple: Omit<SimpleOptions, "backoff">): void {
  const waiters = createWaiters();
  const onEvent: EventHandler<DNSRecord> = ({ type, object }, enqueue) => {
    if (type !== "delete") return;
    const { namespace = "", name = "" } = object.metadata;
    for (const key of waiters.of(ownerIn(simple.clusterId, "DNSRecord", namespace, name))) enqueue(key);
  };
  const { clock } = manager;
  const zones = createZones(clock);
  const all = everything(DNS_RECORD);
  const records = manager
    .controller("tunnel-dns-records")
    .for(DNS_RECORD, { onEvent })
    .watches(DOMAIN, all, { predicates: [zoneFound] })
    .watches(CREDENTIALS, all, { predicates: [primaryChanged] });
  watchSecrets(records, simple.operatorNamespace, all, namingSecret(DNS_RECORD, simple.operatorNamespace));
  const options = { ...simple, zones, records: createZoneRecords(clock), waiters, backoff: createBackoff() };
  manager.add(records.complete(createDnsReconcile(options)));
}
