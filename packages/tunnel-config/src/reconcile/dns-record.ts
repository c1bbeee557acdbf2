/** DNSRecords: one remote record each, never one of somebody else (sections 9.1 to 9.3). */
import {
  type Condition,
  finalizer,
  findCondition,
  isTrue,
  type Reconcile,
  type ReconcileContext,
} from "@quartet/core";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import { ANNOTATIONS, DNS_FINALIZER } from "../constants.ts";
import { hashOf } from "../desired/aggregate.ts";
import { specProblem } from "../desired/dns-record.ts";
import { ownerIn, ownerText } from "../desired/marker.ts";
import { DNS_RECORD } from "../kinds.ts";
import { ConflictProblem } from "./conflict.ts";
import { bring, type Done } from "./dns-bring.ts";
import { cleanUp } from "./dns-cleanup.ts";
import type { DnsOptions, DnsRun } from "./dns-run.ts";
import { type Followed, follow } from "./dns-source.ts";
import { Problem, problemOf } from "./problem.ts";
import { reportProblem, reportReady } from "./report.ts";

/** Time after which a record is compared again, in milliseconds (TUN-908). */
const RECHECK_MS = 1_800_000;

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
      check(run);
      const followed = await follow(run);
      if (followed !== undefined && "gone" in followed) {
        compared.delete(id);
        return await withoutSource(run, report, followed.gone);
      }
      const contents = followed?.contents;
      const hash = hashOf([object.spec, object.metadata.annotations ?? {}, contents ?? []]);
      const last = compared.get(id);
      const ready = isTrue(
        object,
        findCondition(object.status?.conditions as Condition[] | undefined, "Ready"),
      );
      const age = options.clock.monotonic() - (last?.at ?? 0);
      if (ready && last?.hash === hash && age < RECHECK_MS) return { requeueAfter: RECHECK_MS - age };
      const done = await bring(run, contents);
      if (done === undefined) return;
      compared.set(id, { hash, at: options.clock.monotonic() });
      options.waiters.wait(key, undefined);
      options.backoff.reset(id);
      const { shared } = done;
      const status = statusOf(done, followed);
      if (shared === undefined) await reportReady(report, "Synced", status);
      else await reportReady(report, "Shared", status, `the same record is managed by ${ownerText(shared)}`);
      return { requeueAfter: RECHECK_MS };
    } catch (error) {
      compared.delete(id);
      const problem = problemOf(error);
      options.waiters.wait(key, problem instanceof ConflictProblem ? problem.owner : undefined);
      const status = {
        ...(problem instanceof SourceMissing && NOTHING),
        state: STATES[problem.reason] ?? "Error",
      };
      return reportProblem(report, problem, status, { store: options.backoff, id });
    }
  };
}

/** What forbids any change. */
function check({ object }: DnsRun): void {
  if (object.metadata.annotations?.[ANNOTATIONS.pause] === "true")
    throw new Problem("Paused", "nothing is changed while the annotation pause is set");
  const wrong = specProblem(object);
  if (wrong !== undefined) throw new Problem("InvalidSpec", wrong);
}

/** The source is gone: so is the record, unless it is to stay (TUN-927). */
async function withoutSource(run: DnsRun, report: Report, gone: string): Promise<void> {
  const { object, ctx } = run;
  if (object.spec.sourceDeletionPolicy === "Orphan")
    return reportReady(
      report,
      "SourceDeleted",
      { state: "Orphaned" },
      `there is no ${gone} any more; the record stays`,
    );
  if (!ctx.dryRun) await cleanUp(run);
  throw new SourceMissing(`there is no ${gone}`);
}

class SourceMissing extends Problem {
  constructor(message: string) {
    super("SourceMissing", message);
  }
}

/** What a record has no more once its source is gone. */
const NOTHING = {
  recordId: undefined,
  managedRecordIds: undefined,
  resolvedType: undefined,
  resolvedContent: undefined,
  resolvedAddresses: undefined,
  sourceResourceVersion: undefined,
} as const;

const STATES: Readonly<Record<string, string>> = {
  AdoptionConflict: "Conflict",
  SourceMissing: "SourceMissing",
};

type Report = Parameters<typeof reportReady<DnsResource>>[0];

/** What the status says of records that stand. */
function statusOf({ records, zone }: Done, followed: Followed | undefined): object {
  const [first] = records;
  const status = { recordId: first?.id, zoneId: zone.id, fqdn: first?.name, state: "Active" };
  if (followed === undefined) return { ...NOTHING, ...status };
  const { contents, version } = followed;
  return {
    ...status,
    managedRecordIds: records.map(({ id }) => id),
    resolvedType: contents[0]?.type,
    resolvedContent: contents[0]?.content,
    resolvedAddresses: contents.map(({ content }) => content),
    sourceResourceVersion: version,
  };
}
