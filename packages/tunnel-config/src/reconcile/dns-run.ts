/** One pass over a DNSRecord, and what its steps share. */
import { type Condition, findCondition, type ObjectKey, type ReconcileContext } from "@quartet/core";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { Owner } from "../desired/marker.ts";
import type { Cached } from "../kinds.ts";
import type { SimpleOptions } from "./credentials.ts";
import type { Waiters } from "./waiters.ts";
import type { ZoneRecords } from "./zone-records.ts";
import type { Zones } from "./zones.ts";

/** Comment limit that every plan has. */
export const SAFE_LIMIT = 100;

/** Whether the record is the same as another's, who manages it (TUN-475). */
export function isShared({ status }: Cached<DnsResource>): boolean {
  return findCondition(status?.conditions as Condition[] | undefined, "Ready")?.reason === "Shared";
}

/** Identifiers of the records that the status names. */
export function recordIds({ status }: Cached<DnsResource>): readonly string[] {
  const { recordId, managedRecordIds = [] } = status ?? {};
  return [...new Set([...(recordId ? [recordId] : []), ...managedRecordIds])];
}

export interface DnsOptions extends SimpleOptions {
  readonly zones: Zones;
  readonly records: ZoneRecords;
  readonly waiters: Waiters;
  /** Whether records that nobody manages are taken over (D13). */
  readonly overwrite: boolean;
  /** Namespaces that are watched; none means all. */
  readonly namespaces: readonly string[];
}

export interface DnsRun {
  readonly object: Cached<DnsResource>;
  readonly key: ObjectKey;
  readonly ctx: ReconcileContext;
  readonly options: DnsOptions;
  readonly owner: Owner;
}
