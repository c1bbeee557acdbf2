/** The end of a DNSRecord. */
import { controllerOf } from "@quartet/core";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";
import { ANNOTATIONS } from "../constants.ts";
import {
  buildComment,
  isSameMarker,
  markerOf,
  type Owner,
  ownerIn,
  ownerText,
  textOf,
} from "../desired/marker.ts";
import { DNS_RECORD } from "../kinds.ts";
import { resolveAccess } from "./access.ts";
import { type DnsRun, isShared, recordIds, SAFE_LIMIT } from "./dns-run.ts";
import { Problem } from "./problem.ts";

/** Time after which a record whose credentials are gone is given up, in milliseconds (TUN-1013). */
const GIVE_UP_MS = 900_000;

/** Takes the remote record away, unless it is somebody else's or wanted by another (TUN-909, TUN-929). */
export async function cleanUp(run: DnsRun): Promise<void> {
  const { object, ctx, options } = run;
  const { zoneId } = object.status ?? {};
  const ids = recordIds(object);
  if (ids.length === 0 || !zoneId) return;
  const { annotations = {}, deletionTimestamp = "" } = object.metadata;
  const giveUp = (why: string): void => {
    const note = `DNS record ${ids.join(", ")} of ${object.status?.fqdn} stays in the account: ${why}`;
    ctx.events.record(object, { type: "Warning", reason: "Orphaned", note });
  };
  if (annotations[ANNOTATIONS.forceDelete] === "true") return giveUp("force-delete is set");
  let api: CloudflareApi;
  try {
    ({ api } = await resolveAccess(
      object.spec.cloudflare,
      object.metadata.namespace ?? "",
      ctx.cache,
      options,
    ));
  } catch (error) {
    const age = options.clock.now() - Date.parse(deletionTimestamp);
    if (error instanceof Problem && age > GIVE_UP_MS) return giveUp(error.message);
    throw error;
  }
  for (const id of ids) await removeRecord(run, api, zoneId, id, giveUp);
}

/** Takes one remote record away, with the same exceptions. */
export async function removeRecord(
  run: DnsRun,
  api: CloudflareApi,
  zoneId: string,
  recordId: string,
  giveUp: (why: string) => void,
): Promise<void> {
  const { object, owner, options } = run;
  const record = await api.record(zoneId, recordId);
  if (object.status?.fqdn !== undefined) options.records.forget(api, zoneId, object.status.fqdn);
  if (record === undefined) return;
  const marker = markerOf(record.comment);
  const shared = isShared(object);
  if (marker !== undefined && !isSameMarker(marker, owner, !shared)) {
    // A shared record goes with whoever manages it.
    if (!shared) giveUp(`it is managed by ${ownerText(marker)}`);
    return;
  }
  if (object.metadata.annotations?.[ANNOTATIONS.deletionPolicy] === "Orphan") {
    await api.patchRecord(zoneId, recordId, { comment: textOf(record.comment) });
    return;
  }
  const heir = await heirOf(run, record);
  if (heir === undefined) return api.deleteRecord(zoneId, recordId);
  await api.patchRecord(zoneId, recordId, {
    comment: buildComment(heir, textOf(record.comment), SAFE_LIMIT),
  });
}

/** Another object of the cluster that shares the record. */
async function heirOf({ object, ctx, options }: DnsRun, record: DnsRecord): Promise<Owner | undefined> {
  if (controllerOf(object) === undefined) return undefined;
  const all = await ctx.cache.list(DNS_RECORD);
  const heir = all.find(
    (other) =>
      other.metadata.uid !== object.metadata.uid &&
      other.metadata.deletionTimestamp === undefined &&
      other.status?.recordId === record.id,
  );
  if (heir === undefined) return undefined;
  const { namespace = "", name = "" } = heir.metadata;
  return ownerIn(options.clusterId, "DNSRecord", namespace, name);
}
