/** DNS records of a zone. */
import { type CloudflareCall, fieldsOf, type Route, zoneOf } from "./call.ts";
import { filterRecords } from "./dns-filters.ts";
import { checkConflicts, recordOf } from "./dns-records.ts";
import { type CloudflareAnswer, CloudflareRefusal, success } from "./envelope.ts";
import { pageOf, RECORD_PAGES } from "./pages.ts";
import { type Fields, hexId, timeOf } from "./state.ts";

const ALL = "/zones/:zone/dns_records";
const ONE = `${ALL}/:record`;

const route = (method: string, path: string, handle: Route["handle"]): Route => ({
  method,
  path,
  permission: "dns:edit",
  handle,
});

export const DNS_ROUTES: readonly Route[] = [
  route("GET", ALL, (call) =>
    pageOf(filterRecords(zoneOf(call).records.values(), call.query), call.query, RECORD_PAGES),
  ),
  route("POST", ALL, create),
  route("GET", ONE, (call) => success(recordAt(call))),
  route("PUT", ONE, (call) => change(call, {})),
  route("PATCH", ONE, (call) => change(call, recordAt(call))),
  route("DELETE", ONE, remove),
];

function recordAt(call: CloudflareCall): Fields {
  const record = zoneOf(call).records.get(call.params.record ?? "");
  if (record === undefined) throw new CloudflareRefusal(404, 81044, "Record does not exist.");
  return record;
}

function create(call: CloudflareCall): CloudflareAnswer {
  const zone = zoneOf(call);
  const record = recordOf(zone, fieldsOf(call));
  checkConflicts(zone, record, undefined);
  const id = hexId();
  const time = timeOf(call.state);
  const commented = record.comment === null ? {} : { comment_modified_on: time };
  const stored = {
    id,
    zone_id: zone.id,
    zone_name: zone.name,
    ...record,
    created_on: time,
    modified_on: time,
    ...commented,
  };
  zone.records.set(id, stored);
  return success(stored);
}

function change(call: CloudflareCall, base: Fields): CloudflareAnswer {
  const zone = zoneOf(call);
  const before = recordAt(call);
  const record = recordOf(zone, { ...base, ...fieldsOf(call) });
  const id = String(before.id);
  checkConflicts(zone, record, id);
  const time = timeOf(call.state);
  const { zone_id, zone_name, created_on } = before;
  const stored = { id, zone_id, zone_name, ...record, created_on, modified_on: time };
  zone.records.set(id, stored);
  return success(stored);
}

function remove(call: CloudflareCall): CloudflareAnswer {
  const { id } = recordAt(call);
  zoneOf(call).records.delete(String(id));
  return success({ id });
}
