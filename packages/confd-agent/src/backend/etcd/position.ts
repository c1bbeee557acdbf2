/** Where the store stands: its cluster and its newest revision. */
import { status } from "@grpc/grpc-js";
import { codeOf, type EtcdConnection } from "./connection.ts";
import type { Interval } from "./keys.ts";
import type { Message } from "./wire.ts";

const RANGE = "/etcdserverpb.KV/Range";

/** Asks with the first of the intervals that the user may read: the header of the answer, or nothing when there is none. */
export async function askPosition(
  connection: EtcdConnection,
  intervals: readonly Interval[],
  signal: AbortSignal,
): Promise<Message | undefined> {
  for (const { key, end } of intervals) {
    try {
      const request = [
        [1, key],
        ...(end === undefined ? [] : ([[2, end]] as const)),
        [3, 1],
        [9, true],
      ] as const;
      return (await connection.call(RANGE, request, signal)).message(1);
    } catch (error) {
      if (codeOf(error) !== status.PERMISSION_DENIED) throw error;
    }
  }
  return undefined;
}
