/** Reads of many ranges at one revision. */

import { status } from "@grpc/grpc-js";
import { textOf } from "@quartet/go-template";
import { BackendError, messageOf } from "../../errors.ts";
import type { Snapshot } from "../backend.ts";
import { codeOf, type EtcdConnection } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { encode, type Fields } from "./wire.ts";

const TXN = "/etcdserverpb.KV/Txn";
/** How often a read is begun anew because its revision is gone. */
const MAX_RESTARTS = 3;

export interface ReadOptions {
  readonly connection: EtcdConnection;
  readonly keys: Keys;
  /** Operations of one transaction. */
  readonly maxOperations: number;
  readonly signal: AbortSignal;
}

/** What a read learnt besides the values. */
export interface EtcdSnapshot extends Snapshot {
  readonly revision: number;
  readonly clusterId: string;
}

/** Reads all ranges; later transactions read at the revision of the first. */
export async function readRanges(ranges: readonly string[], options: ReadOptions): Promise<EtcdSnapshot> {
  let size = options.maxOperations;
  for (let restarts = 0; ; ) {
    try {
      return await readAt(ranges, size, options);
    } catch (error) {
      const message = messageOf(error);
      if (message.includes("too many operations") && size > 1) size = Math.floor(size / 2);
      else if (/compacted|future revision/.test(message) && restarts < MAX_RESTARTS) restarts += 1;
      else throw named(ranges, error);
    }
  }
}

async function readAt(
  ranges: readonly string[],
  size: number,
  { connection, keys, signal }: ReadOptions,
): Promise<EtcdSnapshot> {
  const operations = ranges.flatMap((range) => keys.intervals(range));
  const values = new Map<string, string>();
  let revision = 0n;
  let clusterId = "";
  for (let at = 0; at === 0 || at < operations.length; at += size) {
    const request: Fields = operations.slice(at, at + size).map(({ key, end }) => {
      const range = encode([[1, key], ...(end === undefined ? [] : ([[2, end]] as const)), [4, revision]]);
      return [2, encode([[1, range]])] as const;
    });
    const answer = await connection.call(TXN, request, signal);
    const header = answer.message(1);
    if (revision === 0n) revision = header.number(3);
    clusterId = header.number(1).toString();
    for (const response of answer.messages(3)) {
      for (const pair of response.message(1).messages(2)) {
        const key = keys.logical(pair.text(1));
        if (key !== undefined) values.set(key, pair.text(5));
      }
    }
  }
  return { values, revision: Number(revision), clusterId };
}

/** An error with the ranges that it is about, where that helps. */
function named(ranges: readonly string[], error: unknown): unknown {
  if (codeOf(error) !== status.PERMISSION_DENIED) {
    return error instanceof Error && "details" in error && typeof error.details === "string"
      ? new BackendError(error.details, { cause: error })
      : error;
  }
  return new BackendError(`permission denied for ${ranges.map(textOf).join(", ")}`, {
    onlyThisRange: true,
    cause: error,
  });
}
