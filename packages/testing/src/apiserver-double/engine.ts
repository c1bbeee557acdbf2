/** The double without its network: everything that answers requests. */
import type { RequestRecord } from "../api-server.ts";
import { createWebhookClient, type WebhookClient } from "./admission/webhook-client.ts";
import { createAdmission } from "./admission/webhooks.ts";
import { createAllocator } from "./allocator.ts";
import { createUsers, type Users } from "./auth.ts";
import { builtinTypes } from "./builtins.ts";
import { createServerClock } from "./clock.ts";
import { startGarbageCollector } from "./controllers/garbage.ts";
import { startNamespaceController } from "./controllers/namespaces.ts";
import { startCrdController } from "./crd/controller.ts";
import { converterOf } from "./crd/conversion.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createHandler, type Handler } from "./http/handler.ts";
import { createJsonCache } from "./json-cache.ts";
import { createRegistry } from "./registry.ts";
import { loadBuiltinSchemas } from "./schemas/schema.ts";
import { seed } from "./seed.ts";
import type { Server, Settings } from "./server.ts";
import { createStore } from "./store.ts";

export interface EngineOptions extends Settings {
  watchWindow?: number | undefined;
  /** `host:port` of the listener, for discovery. */
  address(): string;
}

export interface Engine {
  readonly server: Server;
  readonly handler: Handler;
  readonly users: Users;
  readonly faults: Faults;
  /** Requests in order of arrival; those that are not answered yet have code 0. */
  readonly log: readonly RequestRecord[];
  stop(): void;
}

/** Requests kept in the log. */
const MAX_LOG = 200_000;

function buildServer(options: EngineOptions, webhooks: WebhookClient): Server {
  const schemas = loadBuiltinSchemas();
  const store = createStore(options.watchWindow);
  const clock = createServerClock();
  const allocator = createAllocator(store);
  const server: Server = {
    store,
    clock,
    schemas,
    registry: createRegistry(builtinTypes(schemas)),
    metadataSchema: schemas.type("meta.v1.ObjectMeta"),
    admission: createAdmission(() => server, webhooks),
    settings: options,
    context: (user) => ({ now: clock.now, user, ...allocator }),
    ...createJsonCache(),
    streams: new Set(),
  };
  return server;
}

export function createEngine(options: EngineOptions): Engine {
  const webhooks = createWebhookClient();
  const server = buildServer(options, webhooks);
  seed(server);
  startCrdController(server, (crd) => converterOf(webhooks, crd));
  startNamespaceController(server);
  if (options.garbageCollection) startGarbageCollector(server);
  const users = createUsers();
  const faults = createFaults();
  const log: RequestRecord[] = [];
  const note = (record: RequestRecord): void => {
    log.push(record);
    if (log.length > MAX_LOG) log.splice(0, MAX_LOG / 2);
  };
  return {
    server,
    users,
    faults,
    log,
    handler: createHandler({ server, users, faults, log: note, address: options.address }),
    stop() {
      server.clock.stop();
      for (const stream of [...server.streams]) stream.cut();
      webhooks.close();
    },
  };
}
