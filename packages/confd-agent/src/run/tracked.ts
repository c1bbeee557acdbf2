/** A resource with everything that the agent knows of it. */
import type { Client } from "../backend/client.ts";
import type { Resource } from "../resource/resource.ts";
import type { ResourceMemory } from "./process.ts";

export interface Tracked {
  readonly resource: Resource;
  readonly client: Client;
  readonly memory: ResourceMemory;
  /** Something changed that no run has seen. */
  dirty: boolean;
  /** The change that made it dirty has this position; undefined when a read at a position says nothing about it. */
  dirtyRevision: number | undefined;
  /** The next run renders even when the values are the same. */
  always: boolean;
  /** When the next run may start (monotonic milliseconds), and when its first change came. */
  dueAt: number;
  dirtySince: number;
  running: boolean;
  /** Failed runs in a row. */
  failures: number;
  /** The file was written and its reload has not succeeded yet. */
  reloadPending: boolean;
  /** Start of the last reload (monotonic milliseconds). */
  lastReloadAt: number;
  /** Changes up to this position are in the file, and it was reloaded. */
  processedRevision: number | undefined;
  /** Wall-clock milliseconds. */
  lastSuccess: number | undefined;
  lastError: string | undefined;
  /** When the present error was logged last (monotonic milliseconds), and how often it came since. */
  errorLoggedAt: number;
  errorsSince: number;
  /** Its resource was removed or replaced: nothing of it runs any more. */
  retired: boolean;
  /** The next run compares because of a resync: a difference means that the watch missed it. */
  resync: boolean;
}

export const track = (resource: Resource, client: Client): Tracked => ({
  resource,
  client,
  memory: { files: new Map(), decrypted: false, attributesRefused: false, told: new Set() },
  dirty: false,
  dirtyRevision: undefined,
  always: false,
  dueAt: 0,
  dirtySince: 0,
  running: false,
  failures: 0,
  reloadPending: false,
  lastReloadAt: Number.NEGATIVE_INFINITY,
  processedRevision: undefined,
  lastSuccess: undefined,
  lastError: undefined,
  errorLoggedAt: Number.NEGATIVE_INFINITY,
  errorsSince: 0,
  retired: false,
  resync: false,
});
