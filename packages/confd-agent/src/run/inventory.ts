/** The resources of conf.d with what the agent knows of each, and the clients that they share. */
import { join } from "node:path";
import type { Client } from "../backend/client.ts";
import { type BackendSettings, connectionKey, type Settings } from "../config/settings.ts";
import type { Level } from "../observe/log.ts";
import { type LoadedResources, loadResources } from "../resource/load.ts";
import type { Resource } from "../resource/resource.ts";
import { type Tracked, track } from "./tracked.ts";

export interface InventoryOptions {
  readonly settings: Settings;
  readonly connect: (settings: BackendSettings) => Client;
  readonly log: (level: Level, message: string) => void;
}

export interface Inventory {
  /** Loads conf.d; resources whose text is the same keep what is known of them. The new ones. */
  load(): readonly Tracked[];
  tracked(): Iterable<Tracked>;
  clients(): Iterable<Client>;
  /** What the last load found. */
  loaded(): LoadedResources;
  /** What is wrong is told again with the next load. */
  forgetTold(): void;
}

export function createInventory({ settings, connect, log }: InventoryOptions): Inventory {
  const clients = new Map<string, Client>();
  const tracked = new Map<string, Tracked>();
  const told = new Set<string>();
  let loaded: LoadedResources = { resources: [], errors: [], warnings: [], folders: [] };

  const clientOf = ({ backend = settings }: Resource): Client => {
    const key = connectionKey(backend);
    const client = clients.get(key) ?? connect(backend);
    clients.set(key, client);
    return client;
  };
  const tell = (level: Level, message: string): void => {
    if (!told.has(message)) log(level, message);
    told.add(message);
  };
  return {
    load: () => {
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
        tracked.set(key, added);
        fresh.push(added);
      }
      const used = new Set([...tracked.values()].map(({ client }) => client));
      for (const [key, client] of clients) {
        if (used.has(client)) continue;
        clients.delete(key);
        void client.close().catch(() => {});
      }
      return fresh;
    },
    tracked: () => tracked.values(),
    clients: () => clients.values(),
    loaded: () => loaded,
    forgetTold: () => told.clear(),
  };
}

const identity = ({ name, template, source }: Resource): string => `${name}\0${template}\0${source}`;
