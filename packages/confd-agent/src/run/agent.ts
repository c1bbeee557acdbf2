/** The agent at work: once, at intervals, or following its backends. */
import { setTimeout as sleep } from "node:timers/promises";
import { belongs, type Change } from "../backend/backend.ts";
import { type Client, createClient } from "../backend/client.ts";
import { connectBackend } from "../backend/connect.ts";
import { nodesOf } from "../backend/discovery.ts";
import type { Environment, Settings } from "../config/settings.ts";
import { messageOf } from "../errors.ts";
import { targetOf } from "../files/compare.ts";
import { recoverFormer } from "../files/former.ts";
import { removeLeftovers } from "../files/stage.ts";
import type { Level, Log } from "../observe/log.ts";
import type { AgentMetrics } from "../observe/metrics.ts";
import type { Decrypt } from "../openpgp/keyring.ts";
import type { LoadedResources } from "../resource/load.ts";
import { aborted } from "./aborted.ts";
import { createInventory } from "./inventory.ts";
import { createPendingReloads } from "./pending.ts";
import { createRenderer } from "./render.ts";
import { createScheduler, runOnce } from "./scheduler.ts";
import { createSecretTexts } from "./secrets.ts";
import { createSlots } from "./slots.ts";
import { createSources, tellsTime } from "./sources.ts";
import type { Tracked } from "./tracked.ts";
import type { WaveDeps } from "./wave.ts";

export interface AgentOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: AgentMetrics;
  /** Aborted when the agent shall end. */
  readonly stop: AbortSignal;
  /** Decrypts values where there is a keyring. */
  readonly decrypt?: Decrypt | undefined;
  readonly onDifference?: (dest: string, secret: boolean, before: Buffer, after: Buffer) => void;
}

export interface Agent {
  /** Processes everything once; whether all went well. */
  once(): Promise<boolean>;
  /** Works until it is told to end. */
  run(): Promise<void>;
  /** Asks all backends and reads everything; what is wrong. */
  preflight(): Promise<readonly string[]>;
  /** Loads conf.d again and compares everything. */
  reload(): void;
  /** Compares everything with the backends. */
  resync(): void;
  /** Ends running commands by force and removes candidates. */
  abandon(): Promise<void>;
  /** For health and metrics. */
  resources(): readonly Tracked[];
  /** Resources that were refused. */
  refused(): LoadedResources["errors"];
}

export function createAgent({
  settings,
  environment,
  log,
  metrics,
  stop,
  decrypt,
  onDifference,
}: AgentOptions): Agent {
  /** Ends running commands, some time after the stop. */
  const force = new AbortController();
  const pending = createPendingReloads(settings.stateFile, (message) => log.log("warn", message));

  const deps: WaveDeps = {
    settings,
    environment,
    renderer: createRenderer(decrypt),
    slots: createSlots(settings.onetime ? 1 : settings.concurrency),
    pending,
    secrets: createSecretTexts(),
    metrics,
    log: (level, message, about) =>
      log.log(
        level,
        message,
        about === undefined ? {} : { resource: about.resource.name, dest: about.resource.dest },
      ),
    signal: force.signal,
    onFolders: () => sources.follow(),
    ...(onDifference === undefined ? {} : { onDifference }),
  };
  const scheduler = createScheduler(deps, () => inventory.tracked());

  const inventory = createInventory({
    settings,
    connect: (own) =>
      createClient({
        settings: own,
        connect: async (wanted) => {
          const nodes = await nodesOf(wanted, environment);
          const notice = (level: Level, message: string): void => log.log(level, message);
          return await connectBackend({ ...wanted, nodes }, environment, notice);
        },
        log: (level, message) => log.log(level, message),
        metrics,
        signal: force.signal,
      }),
    log: (level, message) => log.log(level, message),
  });
  const load = (): readonly Tracked[] => {
    const fresh = inventory.load();
    if (!settings.watch && !settings.onetime) {
      for (const { resource } of fresh) {
        if (!tellsTime(resource.template)) continue;
        log.log("warn", `${resource.dest}: its template uses datetime: each interval writes and reloads it`);
      }
    }
    const { resources } = inventory.loaded();
    metrics.loaded(
      resources.length,
      resources.reduce((sum, { ranges }) => sum + ranges.length, 0),
    );
    return fresh;
  };
  const cleanUp = (onlyOld: boolean): void => {
    for (const { resource } of inventory.tracked()) removeLeftovers(realPathOf(resource.dest), { onlyOld });
  };
  /** What a crash of the machine left behind. */
  const recover = (): void => {
    cleanUp(true);
    if (settings.noop) return;
    for (const { resource } of inventory.tracked()) {
      try {
        if (!recoverFormer(realPathOf(resource.dest), resource.uid)) continue;
        log.log(
          "warn",
          `${resource.dest}: its last text was lost in a crash: the one before stands there again`,
        );
      } catch (error) {
        // Its folder may not be there yet; whatever else is wrong, the first run tells.
        log.log("debug", `${resource.dest}: ${messageOf(error)}`);
      }
    }
  };

  const changedBelow = (client: Client, change: Change): void => {
    const isAbout = (key: string, range: string): boolean =>
      belongs(key, range) || (change.withBelow === true && belongs(range, key));
    for (const one of inventory.tracked()) {
      if (one.client !== client) continue;
      const known =
        change.revision !== undefined &&
        one.processedRevision !== undefined &&
        change.revision <= one.processedRevision;
      const concerns =
        change.keys === undefined ||
        change.keys.some((key) => one.resource.ranges.some((range) => isAbout(key, range)));
      if (concerns && !known)
        scheduler.mark(one, {
          settle: true,
          ...(change.revision === undefined ? {} : { revision: change.revision }),
        });
    }
  };
  /** (Re)starts the watches for what the resources ask now. */
  const follow = (): void => {
    for (const client of inventory.clients()) {
      const members = [...inventory.tracked()].filter((one) => one.client === client);
      const ranges = members.flatMap(({ resource }) => resource.ranges);
      if (ranges.length === 0) {
        void client.stopFollowing();
        continue;
      }
      client.follow(ranges, {
        onChange: (change) => changedBelow(client, change),
        onState: ({ missed }) => {
          if (!missed) return;
          for (const one of inventory.tracked()) {
            if (one.client !== client) continue;
            // What comes may be of another history, with lower positions.
            one.processedRevision = undefined;
            scheduler.mark(one);
          }
        },
      });
    }
  };
  const markAll = (options: Parameters<typeof scheduler.mark>[1]): void => {
    for (const one of inventory.tracked()) scheduler.mark(one, options);
  };

  /** Templates and conf.d changed on the disk, or may have. */
  const reload = (): void => {
    try {
      const fresh = load();
      for (const one of fresh) scheduler.mark(one, { always: true });
      for (const one of inventory.tracked())
        if (sources.haveChanged(one)) scheduler.mark(one, { always: true });
    } catch (error) {
      log.log("error", `cannot read ${settings.confdir}: ${String(error)}`);
    }
    sources.follow();
    if (settings.watch) follow();
  };
  const sources = createSources(settings, inventory, () => {
    inventory.forgetTold();
    reload();
  });

  const intervalLoop = async (): Promise<void> => {
    while (!stop.aborted) {
      markAll({ always: true });
      await scheduler.settled();
      await pause(settings.interval);
      // Not all file systems tell of changes.
      reload();
    }
  };
  const watchLoop = async (): Promise<void> => {
    for (const one of inventory.tracked()) if (one.resource.ranges.length === 0) scheduler.mark(one);
    follow();
    const resync =
      settings.resyncInterval === 0
        ? undefined
        : every(settings.resyncInterval, () => {
            reload();
            markAll({ resync: true });
          });
    // A backend that tells of no changes is asked again and again, unless its values never change.
    const poll = every(settings.interval, () => {
      for (const one of inventory.tracked()) {
        if (one.client.watches() === false && !one.client.isConstant()) scheduler.mark(one);
      }
    });
    await aborted(stop);
    resync?.();
    poll();
  };
  const pause = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal: stop }).catch(() => {});

  const close = async (): Promise<void> => {
    sources.close();
    const timer = setTimeout(() => force.abort(), settings.shutdownTimeout);
    await Promise.all([...inventory.clients()].map((client) => client.stopFollowing()));
    await scheduler.stop();
    clearTimeout(timer);
    await Promise.all([...inventory.clients()].map((client) => client.close()));
    force.abort();
  };

  return {
    once: async () => {
      load();
      recover();
      const refused = inventory.loaded().errors.length > 0;
      const all = [...inventory.tracked()];
      const failFast = settings.failureMode === "fail-fast";
      const errors = failFast && refused ? [] : await runOnce(all, deps, failFast);
      await close();
      return !refused && errors.length === 0;
    },
    run: async () => {
      // What changes while conf.d is loaded is told then, and loaded again.
      sources.follow();
      load();
      recover();
      sources.follow();
      await (settings.watch ? watchLoop() : intervalLoop());
      await close();
    },
    preflight: async () => {
      load();
      const problems = inventory.loaded().errors.map(({ message }) => message);
      for (const client of inventory.clients()) {
        await client.health().catch((error: unknown) => problems.push(String((error as Error).message)));
      }
      for (const { resource, client } of inventory.tracked()) {
        try {
          const { values } = await client.read(resource.ranges);
          if (values.size === 0 && resource.ranges.length > 0)
            log.log("warn", `${resource.file}: no keys found`);
        } catch (error) {
          problems.push(`${resource.file}: ${(error as Error).message}`);
        }
      }
      await close();
      return problems;
    },
    reload: () => {
      inventory.forgetTold();
      reload();
      markAll({ always: true });
    },
    resync: () => markAll({ resync: true }),
    abandon: async () => {
      force.abort();
      cleanUp(false);
    },
    resources: () => [...inventory.tracked()],
    refused: () => inventory.loaded().errors,
  };
}

/** The file that a path means, or the path itself where that cannot be told. */
function realPathOf(path: string): string {
  try {
    return targetOf(path);
  } catch {
    return path;
  }
}

/** Calls back again and again until the result is called. */
function every(milliseconds: number, call: () => void): () => void {
  const timer = setInterval(call, milliseconds);
  return () => clearInterval(timer);
}
