/** Keeps the heap within the memory that the container was given. */
import { getHeapStatistics } from "node:v8";
import type { Clock, Logger } from "@quartet/core";

/** Share of the container's memory that the old generation may take (CORE-531). */
const HEAP_SHARE = 0.75;
/** Use of the heap that is worth a warning; same rule. */
const WARN_SHARE = 0.9;
const WARN_EVERY_MS = 60_000;
const CHECK_EVERY_MS = 5_000;
const MIB = 1024 * 1024;
/** Above this there is no limit: `constrainedMemory` answers with a huge number or with the machine's memory. */
const MAX_LIMIT_MIB = 1024 * 1024;

const FLAG = "--max-old-space-size";

/** Where a limit may come from. */
export interface HeapSources {
  /** Bytes that the cgroup allows, as `process.constrainedMemory()` gives them. */
  readonly constrainedMemory: number;
  /** Bytes of the machine. */
  readonly totalMemory: number;
  readonly execArgv: readonly string[];
  readonly nodeOptions: string | undefined;
}

/**
 * Value of `--max-old-space-size` in MiB for a process in a container, or `undefined` when it is set already or the
 * memory is not limited.
 */
export function heapLimit(sources: HeapSources): number | undefined {
  const { constrainedMemory, totalMemory, execArgv, nodeOptions = "" } = sources;
  const isSet = [...execArgv, ...nodeOptions.split(/\s+/)].some((arg) =>
    arg.replaceAll("_", "-").startsWith(FLAG),
  );
  const limited = constrainedMemory > 0 && constrainedMemory < totalMemory;
  if (isSet || !limited) return undefined;
  const mebibytes = Math.floor((constrainedMemory * HEAP_SHARE) / MIB);
  return mebibytes > 0 && mebibytes < MAX_LIMIT_MIB ? mebibytes : undefined;
}

/**
 * Starts this program again, in the same process, with a heap limit: Node takes it only at its start. Does not return
 * if it does so.
 */
export function restartWithLimit(mebibytes: number): void {
  const args = [process.execPath, `${FLAG}=${mebibytes}`, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, process.env);
}

/** Warns once a minute while more than 90 % of the heap is in use; returns the way to end it. */
export function watchHeap(
  clock: Clock,
  log: Logger,
  statistics: () => { used_heap_size: number; heap_size_limit: number } = getHeapStatistics,
): () => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  let cancel = (): void => {};
  const check = (): void => {
    const { used_heap_size: used, heap_size_limit: limit } = statistics();
    if (used > WARN_SHARE * limit && clock.monotonic() - warnedAt >= WARN_EVERY_MS) {
      warnedAt = clock.monotonic();
      log.warn("Heap is nearly full", { usedMiB: Math.round(used / MIB), limitMiB: Math.round(limit / MIB) });
    }
    arm();
  };
  const arm = (): void => {
    cancel = clock.setTimer(CHECK_EVERY_MS, check, { unref: true });
  };
  arm();
  return () => cancel();
}
