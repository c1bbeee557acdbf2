/** DNSRecords: one remote record each, never one of somebody else (sections 9.1 to 9.3). */
import {
  type Condition,
  controllerOf,
  finalizer,
  findCondition,
  isTrue,
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
import { ConflictProblem } from "./conflict.ts";
import { cleanUp } from "./dns-cleanup.ts";
import { type FoundRegistry, findRegistry, isRegistered } from "./dns-registry.ts";
import { type DnsOptions, type DnsRun, isShared, SAFE_LIMIT } from "./dns-run.ts";
import { Problem, problemOf } from "./problem.ts";
import { reportProblem, reportReady } from "./report.ts";
import type { Zone } from "./zones.ts";

/** Time after which a record is compared again, in milliseconds (TUN-908). */
const RECHECK_MS = 1_800_000;
const COMMENT_TOO_LONG = 9313;

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
    const owner = ownerIn(options.clusterId, "DNSRecord", key.namespace, key.name);
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
async function bring(run: DnsRun): Promise<Done | undefined> {
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
  const remote = await options.records.named(api, zone.id, wanted.name);
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
  const record = shared?.record ?? (await writeKnown(run, api, zone, wanted, own));
  // The marker says from now on whose it is.
  if (registry !== undefined) await api.deleteRecord(zone.id, registry.text.id);
  if (claimed !== undefined && previous !== undefined) await api.deleteRecord(zone.id, previous.id);
  return { record, zone, ...(shared !== undefined && { shared: shared.shared }) };
}

/** Writes the record; what was known of its name before is not believed any more. */
async function writeKnown(
  run: DnsRun,
  api: CloudflareApi,
  zone: Zone,
  wanted: RecordFields,
  found: DnsRecord | undefined,
): Promise<DnsRecord> {
  let written: DnsRecord | undefined;
  try {
    written = await writeShort(run, api, zone, wanted, found);
    return written;
  } finally {
    if (written === undefined || written !== found) run.options.records.forget(api, zone.id, wanted.name);
  }
}

/** Writes the record, with a shorter comment where the plan of the zone takes no longer one (TUN-809). */
async function writeShort(
  run: DnsRun,
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
  { object, owner }: DnsRun,
  api: CloudflareApi,
  zone: Zone,
  remote: readonly DnsRecord[],
): Promise<DnsRecord | undefined> {
  const { recordId, zoneId } = object.status ?? {};
  if (!recordId || zoneId !== zone.id || isShared(object)) return undefined;
  const record = remote.find(({ id }) => id === recordId) ?? (await api.record(zone.id, recordId));
  const marker = markerOf(record?.comment);
  if (record !== undefined && marker !== undefined && !isSameMarker(marker, owner, true))
    throw managed(marker);
  return record;
}

/** A record that stands where the wanted one would: ours, or to be adopted, or somebody else's. */
function claim(
  { object, owner, ctx }: DnsRun,
  found: readonly DnsRecord[],
  wanted: RecordFields,
  registry: FoundRegistry | undefined,
): DnsRecord | { record: DnsRecord; shared: Owner } | undefined {
  const adopt = object.metadata.annotations?.[ANNOTATIONS.adopt] === "true";
  const own = found.find(({ comment }) => {
    const marker = markerOf(comment);
    return marker !== undefined && isSameMarker(marker, owner, adopt);
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
  if (adopt || isRegistered(registry, record)) {
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
  { object, owner }: DnsRun,
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
