/** The controller of DNSRecords, and what concerns them. */
import { type EventHandler, keyOf, type Manager, type MapFn, primaryChanged } from "@quartet/core";
import { NODE, SERVICE } from "@quartet/core/kinds";
import type { DNSRecord } from "./api.gen.ts";
import { type Source, sourceOf } from "./desired/dns-source.ts";
import { ownerIn } from "./desired/marker.ts";
import { GATEWAY, HTTP_ROUTE, REFERENCE_GRANT } from "./gateway-kinds.ts";
import { CREDENTIALS, DNS_RECORD, DOMAIN, INGRESS } from "./kinds.ts";
import { createBackoff } from "./reconcile/backoff.ts";
import type { SimpleOptions } from "./reconcile/credentials.ts";
import { createDnsReconcile } from "./reconcile/dns-record.ts";
import { createWaiters } from "./reconcile/waiters.ts";
import { createZoneRecords } from "./reconcile/zone-records.ts";
import { createZones } from "./reconcile/zones.ts";
import { everything, namingSecret, watchSecrets, zoneFound } from "./watching.ts";

const SOURCE_INDEX = "source";

function sourceText({ kind, namespace, name }: Source): string {
  return `${kind}/${namespace}/${name}`;
}

/** Records that follow an object. */
function followers(kind: Source["kind"]): MapFn {
  return ({ metadata: { namespace = "", name = "" } }, cache) =>
    cache.byIndex(DNS_RECORD, SOURCE_INDEX, sourceText({ kind, namespace, name })).map(keyOf);
}

/** Records that follow a Gateway, or any route: few do, and Gateways rarely change. */
const gatewayFollowers: MapFn = async (gateway, cache) => {
  const routes = (await cache.list(DNS_RECORD)).filter(({ spec }) => spec.sourceRef?.httpRoute !== undefined);
  return [...(await followers("Gateway")(gateway, cache)), ...routes.map(keyOf)];
};

/** Records that follow an object of the namespace of a grant. */
const grantees: MapFn = async ({ metadata }, cache) =>
  (await cache.list(DNS_RECORD))
    .filter((record) => sourceOf(record)?.namespace === metadata.namespace)
    .map(keyOf);

/** Credentials and zones concern all records; the end of a record concerns those that it stood in the way of. */
export function addRecords(
  manager: Manager,
  simple: Omit<SimpleOptions, "backoff">,
  overwrite: boolean,
): void {
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
    .watches(CREDENTIALS, all, { predicates: [primaryChanged] })
    .index(DNS_RECORD, SOURCE_INDEX, (record) => {
      const source = sourceOf(record);
      return source === undefined ? [] : [sourceText(source)];
    })
    .watches(SERVICE, followers("Service"))
    .watches(INGRESS, followers("Ingress"))
    .watches(GATEWAY, gatewayFollowers, { optional: true })
    .watches(HTTP_ROUTE, followers("HTTPRoute"), { optional: true })
    .watches(REFERENCE_GRANT, grantees, { optional: true })
    .references(NODE, ({ spec }) => (spec.sourceRef?.node === undefined ? [] : [spec.sourceRef.node.name]));
  watchSecrets(records, simple.operatorNamespace, all, namingSecret(DNS_RECORD, simple.operatorNamespace));
  const options = {
    ...simple,
    zones,
    records: createZoneRecords(clock),
    waiters,
    overwrite,
    namespaces: manager.namespaces,
    backoff: createBackoff(),
  };
  manager.add(records.complete(createDnsReconcile(options)));
}
