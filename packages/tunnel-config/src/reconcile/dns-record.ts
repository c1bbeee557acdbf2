/** DNSRecords: one remote record each, never one of somebody else (sections 9.1 to 9.3). */
import {
  type Condition,
  controllerOf,
  finalizer,
  findCondition,
  isTrue,
  type ObjectKey,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS, DNS_FINALIZER } from "../constants.ts";
import { hashOf } from "../desired/aggregate.ts";
import {
  canBecome,
  differences,
  fullName,
  type RecordFields,
  rivals,
  specProblem,
  wantedRecord,
} from "../desired/dns-record.ts";
import { buildComment, isSameMarker, markerOf, type Owner, ownerText, textOf } from "../desired/marker.ts";
import { type Cached, DNS_RECORD } from "../kinds.ts";
import { resolveAccess } from "./access.ts";
import { ConflictProblem } from "./conflict.ts";
import type { SimpleOptions } from "./credentials.ts";
import { type FoundRegistry, findRegistry, isRegistered } from "./dns-registry.ts";
import { Problem, problemOf } from "./problem.ts";
import { reportProblem, reportReady } from "./report.ts";
import type { Waiters } from "./waiters.ts";
import type { Zone, Zones } from "./zones.ts";

/** Time after which a record is compared again, in milliseconds (TUN-908). */
const RECHECK_MS = 1_800_000;
const COMMENT_TOO_LONG = 9313;
/** Comment limit that every plan has. */
const SAFE_LIMIT = 100;
/** Time after which a record whose credentials are gone is given up, in milliseconds (TUN-1013). */
const GIVE_UP_MS = 900_000;

export interface DnsOptions extends SimpleOptions {
  readonly zones: Zones;
  readonly waiters: Waiters;
}

interface Run {
  readonly object: Cached<DnsResource>;
  readonly key: ObjectKey;
  readonly ctx: ReconcileContext;
  readonly options: DnsOptions;
  readonly owner: Owner;
}

/** Reconcile of DNSRecords. */
export function createDnsReconcile(options: DnsOptions): Reconcile {
  const guard = finalizer<DnsResource, ReconcileContext>({
    kind: DNS_RECORD,
    name: DNS_FINALIZER,
    cleanup: async () => {},
  });
  /** What was compared last, and when. */
  const compared = new Map<string, { readonly hash: string; readonly at: number }>();
  return async (key, ctx) => {
    const object = await ctx.cache.get(DNS_RECORD, key);
    const id = `${key.namespace}/${key.name}`;
    if (object === undefined) {
      compared.delete(id);
      options.waiters.wait(key, undefined);
      return options.backoff.reset(id);
    }
    const owner = { kind: "DNSRecord", namespace: key.namespace, name: key.name };
    const run = { object, key, ctx, options, owner };
    const report = { kind: DNS_RECORD, object, ctx, now: options.clock.now() };
    try {
      if (object.metadata.deletionTimestamp !== undefined) {
        if ((object.metadata.finalizers ?? []).includes(DNS_FINALIZER) && !ctx.dryRun) await cleanUp(run);
        await guard(object, ctx);
        return;
      }
      if ((await guard(object, ctx)) !== "present") return;
      const hash = hashOf([object.spec, object.metadata.annotations ?? {}]);
      const last = compared.get(id);
      const ready = isTrue(
        object,
        findCondition(object.status?.conditions as Condition[] | undefined, "Ready"),
      );
      const age = options.clock.monotonic() - (last?.at ?? 0);
      if (ready && last?.hash === hash && age < RECHECK_MS) return { requeueAfter: RECHECK_MS - age };
      const done = await bring(run);
      if (done === undefined) return;
      compared.set(id, { hash, at: options.clock.monotonic() });
      options.waiters.wait(key, undefined);
      options.backoff.reset(id);
      const { record, zone, shared } = done;
      const status = { recordId: record.id, zoneId: zone.id, fqdn: record.name, state: "Active" };
      if (shared === undefined) await reportReady(report, "Synced", status);
      else await reportReady(report, "Shared", status, `the same record is managed by ${ownerText(shared)}`);
      return { requeueAfter: RECHECK_MS };
    } catch (error) {
      compared.delete(id);
      const problem = problemOf(error);
      options.waiters.wait(key, problem instanceof ConflictProblem ? problem.owner : undefined);
      const state = problem.reason === "AdoptionConflict" ? "Conflict" : "Error";
      return reportProblem(report, problem, { state }, { store: options.backoff, id });
    }
  };
}

interface Done {
  readonly record: DnsRecord;
  readonly zone: Zone;
  /** Who manages the record, when it is the same as is wanted here. */
  readonly shared?: Owner;
}

/** Makes the remote record what is wanted; nothing when only plans are made. */
async function bring(run: Run): Promise<Done | undefined> {
  const { object, ctx, options } = run;
  if (object.metadata.annotations?.[ANNOTATIONS.pause] === "true")
    throw new Problem("Paused", "nothing is changed while the annotation pause is set");
  const wrong = specProblem(object);
  if (wrong !== undefined) throw new Problem("InvalidSpec", wrong);
  if (object.spec.sourceRef !== undefined) {
    throw new Problem(
      "UnsupportedSource",
      "spec.sourceRef is not followed by this version; set spec.content and spec.type",
    );
  }
  const { api } = await resolveAccess(
    object.spec.cloudflare,
    object.metadata.namespace ?? "",
    ctx.cache,
    options,
  );
  const zone = await options.zones.find(object.spec.name, object.spec.cloudflare, api, ctx.cache);
  const wanted = wantedRecord(object, fullName(object.spec.name, zone.name));
  const remote = await api.records(zone.id, { "name.exact": wanted.name });
  const previous = await formerRecord(run, api, zone, remote);
  // Under a new name or type it may be in the way of others (TUN-910).
  const moved = previous !== undefined && (previous.name !== wanted.name || previous.type !== wanted.type);
  const registry = await findRegistry(object, api, zone.id, wanted.name);
  const others = rivals(remote, wanted).filter(({ id }) => id !== previous?.id);
  const claimed = previous === undefined || moved ? claim(run, others, wanted, registry) : undefined;
  const found = claimed ?? previous;
  if (ctx.dryRun) return undefined;
  const shared = found !== undefined && "shared" in found ? found : undefined;
  const own = found === undefined || "shared" in found ? undefined : found;
  const record = shared?.record ?? (await writeShort(run, api, zone, wanted, own));
  // The marker says from now on whose it is.
  if (registry !== undefined) await api.deleteRecord(zone.id, registry.text.id);
  if (claimed !== undefined && previous !== undefined) await api.deleteRecord(zone.id, previous.id);
  return { record, zone, ...(shared !== undefined && { shared: shared.shared }) };
}

/** Writes the record, with a shorter comment where the plan of the zone takes no longer one (TUN-809). */
async function writeShort(
  run: Run,
  api: CloudflareApi,
  zone: Zone,
  wanted: RecordFields,
  found: DnsRecord | undefined,
): Promise<DnsRecord> {
  try {
    return await write(run, api, zone, wanted, found, zone.commentLimit);
  } catch (error) {
    if (!(error instanceof ApiError && error.is(COMMENT_TOO_LONG))) throw error;
    return write(run, api, zone, wanted, found, SAFE_LIMIT);
  }
}

function managed(owner: Owner): ConflictProblem {
  return new ConflictProblem(`record managed by ${ownerText(owner)}`, owner);
}

/** The record of the last pass, when it is still ours (TUN-903). */
async function formerRecord(
  { object, owner }: Run,
  api: CloudflareApi,
  zone: Zone,
  remote: readonly DnsRecord[],
): Promise<DnsRecord | undefined> {
  const { recordId, zoneId } = object.status ?? {};
  if (!recordId || zoneId !== zone.id) return undefined;
  const record = remote.find(({ id }) => id === recordId) ?? (await api.record(zone.id, recordId));
  const marker = markerOf(record?.comment);
  if (record !== undefined && marker !== undefined && !isSameMarker(marker, owner)) throw managed(marker);
  return record;
}

/** A record that stands where the wanted one would: ours, or to be adopted, or somebody else's. */
function claim(
  { object, owner, ctx }: Run,
  found: readonly DnsRecord[],
  wanted: RecordFields,
  registry: FoundRegistry | undefined,
): DnsRecord | { record: DnsRecord; shared: Owner } | undefined {
  const own = found.find(({ comment }) => {
    const marker = markerOf(comment);
    return marker !== undefined && isSameMarker(marker, owner);
  });
  if (own !== undefined) return own;
  const [record] = found;
  if (record === undefined) return undefined;
  const marker = markerOf(record.comment);
  if (marker !== undefined) {
    const same = record.type === wanted.type && record.content === wanted.content;
    if (same && controllerOf(object) !== undefined && marker.kind === "DNSRecord")
      return { record, shared: marker };
    throw managed(marker);
  }
  if (object.metadata.annotations?.[ANNOTATIONS.adopt] === "true" || isRegistered(registry, record)) {
    const note = `record ${record.name} (${record.type} ${record.content}) is taken over`;
    ctx.events.record(object, { type: "Normal", reason: "Adopted", note, distinct: record.id });
    return record;
  }
  const message =
    `record ${record.name} (${record.type} ${record.content}) exists and is not managed by this resource; ` +
    `take it over with the annotation ${ANNOTATIONS.adopt}: "true"`;
  throw new ConflictProblem(message);
}

async function write(
  { object, owner }: Run,
  api: CloudflareApi,
  zone: Zone,
  wanted: RecordFields,
  found: DnsRecord | undefined,
  limit: number,
): Promise<DnsRecord> {
  const comment = buildComment(owner, object.spec.comment ?? textOf(found?.comment), limit);
  const record = { ...wanted, comment };
  if (found === undefined) return api.createRecord(zone.id, record);
  if (!canBecome(found.type, wanted.type)) {
    await api.deleteRecord(zone.id, found.id);
    return api.createRecord(zone.id, record);
  }
  const changes = differences(found, record);
  return Object.keys(changes).length === 0 ? found : api.patchRecord(zone.id, found.id, changes);
}

/** Takes the remote record away, unless it is somebody else's or wanted by another (TUN-909, TUN-929). */
async function cleanUp(run: Run): Promise<void> {
  const { object, owner, ctx, options } = run;
  const { recordId, zoneId } = object.status ?? {};
  if (!recordId || !zoneId) return;
  const { annotations = {}, deletionTimestamp = "" } = object.metadata;
  const giveUp = (why: string): void => {
    const note = `DNS record ${recordId} of ${object.status?.fqdn} stays in the account: ${why}`;
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
  const record = await api.record(zoneId, recordId);
  if (record === undefined) return;
  const marker = markerOf(record.comment);
  if (marker !== undefined && !isSameMarker(marker, owner)) {
    // A shared record goes with whoever manages it.
    if (findCondition(object.status?.conditions as Condition[] | undefined, "Ready")?.reason !== "Shared") {
      giveUp(`it is managed by ${ownerText(marker)}`);
    }
    return;
  }
  if (annotations[ANNOTATIONS.deletionPolicy] === "Orphan") {
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
async function heirOf({ object, ctx }: Run, record: DnsRecord): Promise<Owner | undefined> {
  if (controllerOf(object) === undefined) return undefined;
  const all = await ctx.cache.list(DNS_RECORD);
  const heir = all.find(
    (other) =>
      other.metadata.uid !== object.metadata.uid &&
      other.metadata.deletionTimestamp === undefined &&
      other.status?.recordId === record.id,
  );
  if (heir === undefined) return undefined;
  return { kind: "DNSRecord", namespace: heir.metadata.namespace ?? "", name: heir.metadata.name ?? "" };
}
