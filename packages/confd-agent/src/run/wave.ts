/** A wave: the resources that are processed together. They share reads and reloads. */
import type { Snapshot } from "../backend/backend.ts";
import type { Client } from "../backend/client.ts";
import type { Environment, Settings } from "../config/settings.ts";
import { BackendError, messageOf, RunError } from "../errors.ts";
import { isLogged, type Level } from "../observe/log.ts";
import type { AgentMetrics } from "../observe/metrics.ts";
import { shownOutput, shownProblem } from "./command.ts";
import { currentHost } from "./host.ts";
import type { PendingReloads } from "./pending.ts";
import { commandVariables, processResource } from "./process.ts";
import { runReload } from "./reload.ts";
import type { Renderer, RenderHost } from "./render.ts";
import type { SecretTexts } from "./secrets.ts";
import type { Slots } from "./slots.ts";
import type { Tracked } from "./tracked.ts";
import { sameValues } from "./values.ts";

export interface WaveDeps {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly renderer: Renderer;
  readonly slots: Slots;
  readonly pending: PendingReloads;
  readonly secrets: SecretTexts;
  readonly metrics: AgentMetrics;
  readonly log: (level: Level, message: string, tracked?: Tracked) => void;
  /** Ends running commands. */
  readonly signal: AbortSignal;
  /** A template is made of files in further folders. */
  readonly onFolders: () => void;
  readonly onDifference?: (dest: string, secret: boolean, before: Buffer, after: Buffer) => void;
}

/** How a resource came out of a wave. */
export type WaveResult =
  | {
      readonly ok: true;
      readonly revision: number | undefined;
      readonly changedData: boolean;
      readonly reloadAt?: number;
    }
  | { readonly ok: false; readonly error: RunError };

export interface WaveOptions {
  /** Told of each resource as soon as it is done. */
  readonly onResult: (tracked: Tracked, result: WaveResult) => void;
  /** Whether to go on with the next resource. */
  readonly goesOn?: () => boolean;
}

/** The reload of one command for all resources of a wave that have it. */
interface ReloadGroup {
  /** Resources that are not written yet. */
  left: number;
  readonly due: Tracked[];
  readonly done: Promise<string | undefined>;
  readonly finish: (problem: string | undefined) => void;
}

/** Processes the resources, each in its turn as slots are free; resolves when all are done. */
export async function runWave(wave: readonly Tracked[], deps: WaveDeps, options: WaveOptions): Promise<void> {
  const host = currentHost(deps.environment);
  const reads = readAll(wave);
  const groups = reloadGroups(wave, deps.settings);
  await Promise.all(
    wave.map(async (tracked) => {
      const group = groups.get(groupKey(tracked));
      await runOne(tracked, {
        deps,
        host,
        reads,
        group,
        goesOn: options.goesOn ?? (() => true),
        onResult: options.onResult,
      });
    }),
  );
}

interface OneOptions {
  readonly deps: WaveDeps;
  readonly host: RenderHost;
  readonly reads: ReadonlyMap<Client, (tracked: Tracked) => Promise<Snapshot>>;
  readonly group: ReloadGroup | undefined;
  readonly goesOn: () => boolean;
  readonly onResult: WaveOptions["onResult"];
}

async function runOne(tracked: Tracked, options: OneOptions): Promise<void> {
  const { deps, group, reads } = options;
  let left = false;
  /** Tells the group that this resource is written, or will not be. */
  const leave = (due: boolean): void => {
    if (group === undefined || left) return;
    left = true;
    group.left -= 1;
    if (due) group.due.push(tracked);
    if (group.left === 0) void reload(group, deps);
  };
  const release = await deps.slots.take();
  let reloadAt: number | undefined;
  let outcome: Awaited<ReturnType<typeof runSteps>>;
  try {
    if (!options.goesOn()) {
      leave(false);
      return;
    }
    const snapshot = await reads.get(tracked.client)!(tracked);
    outcome = await runSteps(tracked, snapshot, options);
    reloadAt = deferredUntil(tracked);
    leave(tracked.reloadPending && reloadAt === undefined);
  } catch (error) {
    leave(false);
    // Told before the slot is free: what comes next may depend on it.
    options.onResult(tracked, { ok: false, error: asRunError(error) });
    return;
  } finally {
    release();
  }
  if (tracked.reloadPending && reloadAt === undefined && group !== undefined) {
    const problem = await group.done;
    if (problem !== undefined) {
      options.onResult(tracked, { ok: false, error: new RunError(problem, "soon") });
      return;
    }
  }
  options.onResult(tracked, { ok: true, ...outcome, ...(reloadAt === undefined ? {} : { reloadAt }) });
}

async function runSteps(
  tracked: Tracked,
  snapshot: Snapshot,
  { deps, host }: OneOptions,
): Promise<{ revision: number | undefined; changedData: boolean }> {
  const { resource, memory, client } = tracked;
  const { settings, renderer, metrics, log, signal, onDifference } = deps;
  const hasReload = !settings.syncOnly && !settings.noop && resource.reload !== undefined;
  const known = memory.values;
  // Of a resource that was edited, the reload of its former version may be due.
  if (hasReload && deps.pending.has(resource.dest)) tracked.reloadPending = true;
  const outcome = await processResource({
    resource,
    settings,
    environment: deps.environment,
    memory,
    renderer,
    host,
    values: snapshot.values,
    revision: snapshot.revision,
    always: tracked.always,
    secret: resource.ranges.some((range) => client.isSecret(range)),
    isSecret: (key) => client.isSecret(key),
    secrets: deps.secrets,
    keepsPrivate: client.keepsPrivate(),
    signal,
    isRetired: () => tracked.retired,
    onFolders: deps.onFolders,
    log: (level, message) => log(level, message, tracked),
    onCommand: metrics.command,
    beforeReplace: () => {
      if (hasReload) deps.pending.set(resource.dest, true);
    },
    ...(onDifference === undefined
      ? {}
      : { onDifference: (secret, before, after) => onDifference(resource.dest, secret, before, after) }),
  });
  if (outcome === "written") {
    metrics.written(resource.dest);
    if (hasReload) {
      tracked.reloadPending = true;
      metrics.reloadPending(resource.dest, true);
    }
  }
  return {
    revision: snapshot.revision,
    changedData: known !== undefined && !sameValues(known, snapshot.values),
  };
}

function asRunError(error: unknown): RunError {
  return error instanceof RunError ? error : new RunError(messageOf(error), "soon", { cause: error });
}

/** When a reload that is due may start, if not now. */
function deferredUntil({ resource, reloadPending, lastReloadAt }: Tracked): number | undefined {
  const earliest = lastReloadAt + resource.minReloadInterval;
  return reloadPending && earliest > performance.now() ? earliest : undefined;
}

const groupKey = ({ resource: { reload } }: Tracked): string =>
  reload === undefined ? "" : `${reload.kind} ${reload.text}`;

function reloadGroups(wave: readonly Tracked[], { syncOnly, noop }: Settings): Map<string, ReloadGroup> {
  const groups = new Map<string, ReloadGroup>();
  if (syncOnly || noop) return groups;
  for (const tracked of wave) {
    if (tracked.resource.reload === undefined) continue;
    const key = groupKey(tracked);
    const group = groups.get(key);
    if (group !== undefined) group.left += 1;
    else {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      groups.set(key, { left: 1, due: [], done: promise, finish: resolve });
    }
  }
  return groups;
}

/** What reloads are called in conf.d. */
const FIELDS = { command: "reload_cmd", http: "reload_http", signal: "reload_signal" } as const;

/** Runs the command once for all that are due; a failure is that of each. */
async function reload(
  group: ReloadGroup,
  { settings, metrics, pending, secrets, log, signal, environment }: WaveDeps,
): Promise<void> {
  const [first] = group.due;
  if (first === undefined) return group.finish(undefined);
  for (const tracked of group.due) tracked.lastReloadAt = performance.now();
  const { resource } = first;
  const result = await runReload({
    reload: resource.reload!,
    timeout: resource.reloadCmdTimeout,
    environment: {
      ...environment,
      ...commandVariables("reload", resource, resource.dest, first.processedRevision),
    },
    signal,
  });
  metrics.command("reload", result.status);
  const problem = shownProblem(result, secrets);
  if (problem === undefined) {
    if (isLogged("debug", settings.logLevel))
      log("debug", `${FIELDS[resource.reload!.kind]} printed ${shownOutput(result, secrets)}`, first);
    for (const tracked of group.due) {
      tracked.reloadPending = false;
      pending.set(tracked.resource.dest, false);
      metrics.reloadPending(tracked.resource.dest, false);
    }
  }
  group.finish(problem === undefined ? undefined : `Reload failed: ${problem}; it stays due`);
}

/** One read per backend for all its resources; where that fails for a range alone, each reads for itself. */
function readAll(wave: readonly Tracked[]): Map<Client, (tracked: Tracked) => Promise<Snapshot>> {
  const reads = new Map<Client, (tracked: Tracked) => Promise<Snapshot>>();
  for (const client of new Set(wave.map((tracked) => tracked.client))) {
    const members = wave.filter((tracked) => tracked.client === client);
    const ranges = members.flatMap(({ resource }) => resource.ranges);
    // Told by the watch, all of them: what it told will do.
    const positions = members.map(({ dirtyRevision }) => dirtyRevision);
    const atLeast = positions.every((position) => position !== undefined)
      ? Math.max(...positions)
      : undefined;
    let shared: Promise<(ranges: readonly string[]) => Snapshot> | undefined;
    const own = async ({ resource }: Tracked): Promise<Snapshot> => {
      if (resource.ranges.length === 0) return { values: new Map() };
      shared ??= client.read(ranges, atLeast).then(partsOf);
      try {
        return (await shared)(resource.ranges);
      } catch (error) {
        if (members.length === 1 || !(error instanceof BackendError && error.onlyThisRange)) throw error;
        return partsOf(await client.read(resource.ranges))(resource.ranges);
      }
    };
    reads.set(client, own);
  }
  return reads;
}

/** Cuts the part of some ranges out of a snapshot. */
function partsOf({ values, revision }: Snapshot): (ranges: readonly string[]) => Snapshot {
  const keys = [...values.keys()].sort();
  return (ranges) => {
    const part = new Map<string, string>();
    const add = (key: string): void => void part.set(key, values.get(key)!);
    for (const range of ranges) {
      if (values.has(range)) add(range);
      const below = range === "/" ? "/" : `${range}/`;
      for (let at = firstFrom(keys, below); keys[at]?.startsWith(below) === true; at++) add(keys[at]!);
    }
    return { values: part, ...(revision === undefined ? {} : { revision }) };
  };
}

/** Index of the first of the sorted keys that is not less than the given one. */
function firstFrom(keys: readonly string[], key: string): number {
  let low = 0;
  for (let high = keys.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
