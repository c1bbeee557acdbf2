/** Makes the records of a DNSRecord in its zone, and takes none of somebody else (sections 9.1 to 9.3). */
import { controllerOf } from "@quartet/core";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";
import { ApiError } from "../cloudflare/errors.ts";
import { ANNOTATIONS } from "../constants.ts";
import { type Pair, pairs } from "../desired/dns-pairs.ts";
import {
  canBecome,
  differences,
  fullName,
  type RecordFields,
  rivals,
  wantedRecord,
} from "../desired/dns-record.ts";
import type { Content } from "../desired/dns-source.ts";
import { buildComment, isSameMarker, markerOf, type Owner, ownerText, textOf } from "../desired/marker.ts";
import { resolveAccess } from "./access.ts";
import { ConflictProblem } from "./conflict.ts";
import { removeRecord } from "./dns-cleanup.ts";
import { type FoundRegistry, findRegistry, isRegistered } from "./dns-registry.ts";
import { type DnsRun, isShared, recordIds, SAFE_LIMIT } from "./dns-run.ts";
import { Problem } from "./problem.ts";
import type { Zone } from "./zones.ts";

const COMMENT_TOO_LONG = 9313;
/** Time after which a zone that the credentials do not reach is asked again, in milliseconds. */
const UNREACHED_MS = 300_000;

export interface Done {
  /** One, or one for each address of a source. */
  readonly records: readonly DnsRecord[];
  readonly zone: Zone;
  /** Who manages the record, when it is the same as is wanted here. */
  readonly shared?: Owner;
}

/** A record that is wanted, and what becomes it. */
interface Step extends Pair {
  readonly claimed?: Claim;
}

type Claim = DnsRecord | { readonly record: DnsRecord; readonly shared: Owner };

/**
 * Makes the remote records what is wanted; nothing when only plans are made.
 * @param contents what the source of the record amounts to; absent for a record with a content of its own
 */
export async function bring(
  run: DnsRun,
  contents: readonly Content[] | undefined,
): Promise<Done | undefined> {
  const { object, ctx, options } = run;
  const { spec, metadata } = object;
  const { api } = await resolveAccess(spec.cloudflare, metadata.namespace ?? "", ctx.cache, options);
  const zone = await options.zones.find(spec.name, spec.cloudflare, api, ctx.cache);
  const name = fullName(spec.name, zone.name);
  const wanted = (contents ?? [undefined]).map((content) => wantedRecord(object, name, content));
  const remote = await options.records.named(api, zone.id, name);
  const former = await formerRecords(run, api, zone, remote);
  const left = await recordsOfFormerZone(run, api, zone);
  const registry = await findRegistry(object, api, zone.id, name);
  const plan = pairs(wanted, former);
  const steps = claimAll(run, plan.pairs, remote, former, registry);
  if (ctx.dryRun) return undefined;
  const records: DnsRecord[] = [];
  let shared: Owner | undefined;
  for (const { wanted: wish, previous, claimed } of steps) {
    if (claimed !== undefined && "shared" in claimed) {
      shared = claimed.shared;
      records.push(claimed.record);
    } else records.push(await writeKnown(run, api, zone, wish, claimed ?? previous));
  }
  // The marker says from now on whose it is.
  if (registry !== undefined) await api.deleteRecord(zone.id, registry.text.id);
  const replaced = steps.flatMap(({ claimed, previous }) => (claimed === undefined ? [] : (previous ?? [])));
  const used = new Set([...records, ...replaced, ...plan.left].map(({ id }) => id));
  // Of a source with fewer addresses than before, when it is not known any more which records were made.
  const stale = contents === undefined ? [] : remote.filter((one) => !used.has(one.id) && isMarked(run, one));
  for (const { id, name: of } of [...replaced, ...plan.left, ...stale]) {
    await api.deleteRecord(zone.id, id);
    options.records.forget(api, zone.id, of);
  }
  for (const id of left) await removeRecord(run, api, object.status?.zoneId ?? "", id, () => {});
  return { records, zone, ...(shared !== undefined && { shared }) };
}

function isMarked({ owner }: DnsRun, { comment }: DnsRecord, held = false): boolean {
  const marker = markerOf(comment);
  return marker !== undefined && isSameMarker(marker, owner, held);
}

/** What stands where a wanted record would; under a new name or type it may be in the way of others (TUN-910). */
function claimAll(
  run: DnsRun,
  wanted: readonly Pair[],
  remote: readonly DnsRecord[],
  former: readonly DnsRecord[],
  registry: FoundRegistry | undefined,
): Step[] {
  const taken = new Set(former.map(({ id }) => id));
  return wanted.map((pair) => {
    const { wanted: wish, previous } = pair;
    const moved = previous !== undefined && (previous.name !== wish.name || previous.type !== wish.type);
    if (previous !== undefined && !moved) return pair;
    const others = rivals(remote, wish).filter(({ id }) => !taken.has(id));
    const claimed = claim(run, others, wish, registry);
    if (claimed === undefined) return pair;
    taken.add("shared" in claimed ? claimed.record.id : claimed.id);
    return { ...pair, claimed };
  });
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
    run.options.zones.shorten(zone.id);
    return write(run, api, zone, wanted, found, SAFE_LIMIT);
  }
}

function managed(owner: Owner): ConflictProblem {
  return new ConflictProblem(`record managed by ${ownerText(owner)}`, owner);
}

/** The records of the last pass that are still ours (TUN-903). */
async function formerRecords(
  run: DnsRun,
  api: CloudflareApi,
  zone: Zone,
  remote: readonly DnsRecord[],
): Promise<readonly DnsRecord[]> {
  const { object } = run;
  if (object.status?.zoneId !== zone.id || isShared(object)) return [];
  const found: DnsRecord[] = [];
  for (const id of recordIds(object)) {
    const record = remote.find((one) => one.id === id) ?? (await api.record(zone.id, id));
    if (record !== undefined) found.push(checked(run, record));
  }
  return found;
}

/**
 * Identifiers of the records in the zone that the object had before. They are looked at before anything is made: where the
 * credentials do not reach them nothing is changed in either zone (TUN-913).
 */
async function recordsOfFormerZone({ object }: DnsRun, api: CloudflareApi, zone: Zone): Promise<string[]> {
  const { zoneId = zone.id, fqdn } = object.status ?? {};
  if (zoneId === zone.id || isShared(object)) return [];
  const found: string[] = [];
  for (const id of recordIds(object)) {
    const record = await api.record(zoneId, id).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.class === "auth")) throw error;
      const message = `record ${fqdn ?? id} is in zone ${zoneId}, which the credentials do not reach (${error.message}); put the former ones back, or delete the object and create it anew`;
      throw new Problem("ImmutableField", message, { retryAfterMs: UNREACHED_MS });
    });
    if (record !== undefined) found.push(id);
  }
  return found;
}

/** A record that the status names, unless somebody else has taken it since. */
function checked({ owner }: DnsRun, record: DnsRecord): DnsRecord {
  const marker = markerOf(record.comment);
  if (marker !== undefined && !isSameMarker(marker, owner, true)) throw managed(marker);
  return record;
}

/** A record that stands where the wanted one would: ours, or to be adopted, or somebody else's. */
function claim(
  run: DnsRun,
  found: readonly DnsRecord[],
  wanted: RecordFields,
  registry: FoundRegistry | undefined,
): Claim | undefined {
  const { object, ctx, options } = run;
  const adopt = object.metadata.annotations?.[ANNOTATIONS.adopt] === "true";
  const marked = found.filter((one) => isMarked(run, one, adopt));
  const own = marked.find(({ content }) => content === wanted.content) ?? marked[0];
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
  if (adopt || options.overwrite || isRegistered(registry, record)) {
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
