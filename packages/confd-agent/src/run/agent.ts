/** The agent at work: once, at intervals, or following its backends. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { belongs } from "../backend/backend.ts";
import { type Client, createClient } from "../backend/client.ts";
import { connectBackend } from "../backend/connect.ts";
import { connectionKey, type Environment, type Settings } from "../config/settings.ts";
import { targetOf } from "../files/compare.ts";
import { removeLeftovers } from "../files/stage.ts";
import type { Log } from "../observe/log.ts";
import type { AgentMetrics } from "../observe/metrics.ts";
import { type LoadedResources, loadResources } from "../resource/load.ts";
import type { Resource } from "../resource/resource.ts";
import { watchFolders } from "./folders.ts";
import { createPendingReloads } from "./pending.ts";
import { createRenderer } from "./render.ts";
import { createScheduler, runOnce } from "./scheduler.ts";
import { createSlots } from "./slots.ts";
import { type Tracked, track } from "./tracked.ts";
import type { WaveDeps } from "./wave.ts";

export interface AgentOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: AgentMetrics;
  /** Aborted when the agent shall end. */
  readonly stop: AbortSignal;
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

/** Signature of a file: another one means that it changed. */
function signatureOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
}

export function createAgent({
  settings,
  environment,
  log,
  metrics,
  stop,
  onDifference,
}: AgentOptions): Agent {
  const clients = new Map<string, Client>();
  const tracked = new Map<string, Tracked>();
  const signatures = new Map<string, string>();
  /** Ends running commands, some time after the stop. */
  const force = new AbortController();
  let loaded: LoadedResources = { resources: [], errors: [], warnings: [], folders: [] };
  const told = new Set<string>();
  const pending = createPendingReloads(settings.stateFile, (message) => log.log("warn", message));

  const deps: WaveDeps = {
    settings,
    environment,
    renderer: createRenderer(),
    slots: createSlots(settings.onetime ? 1 : settings.concurrency),
    pending,
    metrics,
    log: (level, message, about) =>
      log.log(
        level,
        message,
        about === undefined ? {} : { resource: about.resource.name, dest: about.resource.dest },
      ),
    signal: force.signal,
    ...(onDifference === undefined
      ? {}
      : {
          onDifference: (about: Tracked, before: Buffer, after: Buffer) =>
            onDifference(about.resource.dest, isSecret(about), before, after),
        }),
  };
  const scheduler = createScheduler(deps, () => tracked.values());
  const isSecret = ({ resource, client }: Tracked): boolean =>
    resource.ranges.some((range) => client.isSecret(range));

  const clientOf = (resource: Resource): Client => {
    const own = resource.backend ?? settings;
    const key = connectionKey(own);
    const known = clients.get(key);
    if (known !== undefined) return known;
    const client = createClient({
      settings: own,
      connect: (wanted) => connectBackend(wanted, environment, (level, message) => log.log(level, message)),
      log: (level, message) => log.log(level, message),
      metrics,
      signal: force.signal,
    });
    clients.set(key, client);
    return client;
  };
  const identity = (resource: Resource): string =>
    `${resource.name}\0${resource.template}\0${resource.source}`;

  /** Loads conf.d; resources that are the same keep what is known of them. The new ones. */
  const load = (): Tracked[] => {
    loaded = loadResources(settings);
    for (const warning of loaded.warnings) tell("warn", warning);
    for (const { message } of loaded.errors) tell("error", message);
    if (loaded.resources.length === 0)
      tell("warn", `Found no templates in ${join(settings.confdir, "conf.d")}`);
    const wanted = new Map(loaded.resources.map((resource) => [identity(resource), resource]));
    for (const [key, old] of tracked) {
      if (wanted.has(key)) continue;
      old.retired = true;
      tracked.delete(key);
    }
    const fresh: Tracked[] = [];
    for (const [key, resource] of wanted) {
      if (tracked.has(key)) continue;
      const added = track(resource, clientOf(resource));
      added.reloadPending = pending.has(resource.dest);
      tracked.set(key, added);
      fresh.push(added);
    }
    metrics.loaded(
      tracked.size,
      loaded.resources.reduce((sum, { ranges }) => sum + ranges.length, 0),
    );
    return fresh;
  };
  /** Says a thing once, and again after it was gone. */
  const tell = (level: "warn" | "error", message: string): void => {
    if (!told.has(message)) log.log(level, message);
    told.add(message);
  };
  const cleanUp = async (): Promise<void> => {
    for (const { resource } of tracked.values()) {
      await removeLeftovers(await targetOf(resource.dest).catch(() => resource.dest), {
        onlyOld: true,
      }).catch(() => {});
    }
  };

  const changedBelow = (client: Client, change: { keys?: readonly string[]; revision?: number }): void => {
    for (const one of tracked.values()) {
      if (one.client !== client) continue;
      const known =
        change.revision !== undefined &&
        one.processedRevision !== undefined &&
        change.revision <= one.processedRevision;
      const concerns =
        change.keys === undefined ||
        change.keys.some((key) => one.resource.ranges.some((range) => belongs(key, range)));
      if (concerns && !known)
        scheduler.mark(one, {
          settle: true,
          ...(change.revision === undefined ? {} : { revision: change.revision }),
        });
    }
  };
  /** (Re)starts the watches for what the resources ask now. */
  const follow = (): void => {
    for (const client of clients.values()) {
      const members = [...tracked.values()].filter((one) => one.client === client);
      const ranges = members.flatMap(({ resource }) => resource.ranges);
      if (ranges.length === 0) {
        void client.stopFollowing();
        continue;
      }
      client.follow(ranges, {
        onChange: (change) => changedBelow(client, change),
        onState: ({ missed }) => {
          if (!missed) return;
          for (const one of tracked.values()) if (one.client === client) scheduler.mark(one);
        },
      });
    }
  };
  const markAll = (options: Parameters<typeof scheduler.mark>[1]): void => {
    for (const one of tracked.values()) scheduler.mark(one, options);
  };

  /** Templates and conf.d changed on the disk, or may have. */
  const reload = (): void => {
    try {
      const fresh = load();
      for (const one of fresh) scheduler.mark(one, { always: true });
      for (const one of tracked.values()) if (templatesChanged(one)) scheduler.mark(one, { always: true });
    } catch (error) {
      log.log("error", `cannot read ${settings.confdir}: ${String(error)}`);
    }
    folders.update(foldersToWatch());
    if (settings.watch) follow();
  };
  const templatesChanged = ({ memory }: Tracked): boolean => {
    let changed = false;
    for (const file of memory.files) {
      const signature = signatureOf(file);
      const before = signatures.get(file);
      if (before !== undefined && before !== signature) changed = true;
    }
    return changed;
  };
  const rememberTemplates = (): void => {
    for (const { memory } of tracked.values())
      for (const file of memory.files) signatures.set(file, signatureOf(file));
  };
  const foldersToWatch = (): string[] => {
    const templates = [...tracked.values()].flatMap(({ memory }) => memory.files.map(dirname));
    const roots = [settings.confdir, join(settings.confdir, "conf.d"), join(settings.confdir, "templates")];
    return [...new Set([...roots, ...loaded.folders, ...templates])].filter((folder) => existsSync(folder));
  };
  const folders = watchFolders(() => {
    told.clear();
    reload();
    rememberTemplates();
  });

  const intervalLoop = async (): Promise<void> => {
    while (!stop.aborted) {
      markAll({ always: true });
      await scheduler.settled();
      rememberTemplates();
      folders.update(foldersToWatch());
      await pause(settings.interval);
    }
  };
  const watchLoop = async (): Promise<void> => {
    for (const one of tracked.values()) if (one.resource.ranges.length === 0) scheduler.mark(one);
    follow();
    const resync =
      settings.resyncInterval === 0
        ? undefined
        : every(settings.resyncInterval, () => markAll({ resync: true }));
    // A backend that tells of no changes is asked again and again, unless its values never change.
    const poll = every(settings.interval, () => {
      for (const one of tracked.values()) {
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
    folders.close();
    const timer = setTimeout(() => force.abort(), settings.shutdownTimeout);
    await Promise.all([...clients.values()].map((client) => client.stopFollowing()));
    await scheduler.stop();
    clearTimeout(timer);
    await Promise.all([...clients.values()].map((client) => client.close()));
    force.abort();
  };

  return {
    once: async () => {
      load();
      await cleanUp();
      const refused = loaded.errors.length > 0;
      const all = [...tracked.values()];
      const failFast = settings.failureMode === "fail-fast";
      const errors = failFast && refused ? [] : await runOnce(all, deps, failFast);
      await close();
      return !refused && errors.length === 0;
    },
    run: async () => {
      load();
      await cleanUp();
      rememberTemplates();
      folders.update(foldersToWatch());
      await (settings.watch ? watchLoop() : intervalLoop());
      await close();
    },
    preflight: async () => {
      load();
      const problems = loaded.errors.map(({ message }) => message);
      for (const client of clients.values()) {
        await client.health().catch((error: unknown) => problems.push(String((error as Error).message)));
      }
      for (const { resource, client } of tracked.values()) {
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
      told.clear();
      reload();
      markAll({ always: true });
    },
    resync: () => markAll({ resync: true }),
    abandon: async () => {
      force.abort();
      for (const { resource } of tracked.values()) {
        const target = await targetOf(resource.dest).catch(() => resource.dest);
        await removeLeftovers(target, { onlyOld: false }).catch(() => {});
      }
    },
    resources: () => [...tracked.values()],
    refused: () => loaded.errors,
  };
}

/** Calls back again and again until the result is called. */
function every(milliseconds: number, call: () => void): () => void {
  const timer = setInterval(call, milliseconds);
  return () => clearInterval(timer);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
