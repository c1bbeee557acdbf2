/** What a fleet of resources that refer to others costs the API server (CORE-245): requests and watches, not time. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createCache,
  createClient,
  createLogging,
  createManager,
  createMetrics,
  loadConnection,
  parseLogLevels,
  systemClock,
} from "@quartet/core";
import { createReferrerModule } from "@quartet/e2e/core/support/referrer.ts";
import { type TestClient, testClient, testNamespace } from "@quartet/testing";

/** Resources, each with two references, and the namespaces that they are spread over. */
const RESOURCES = 200;
const NAMESPACES = 10;
/** Pause between two looks at the counts, and looks without a change that mean rest. */
const LOOK_MS = 500;
const QUIET_LOOKS = 6;

/** Requests of a fleet of {@link RESOURCES}. */
export interface FleetCost {
  readonly resources: number;
  readonly namespaces: number;
  /** Watches that stay open. */
  readonly watches: number;
  /** From the start until rest, by verb; `watch` counts those that were opened. */
  readonly start: Readonly<Record<string, number>>;
  /** By one change of an object that two resources refer to. */
  readonly change: Readonly<Record<string, number>>;
}

/** Creates a fleet in namespaces of its own and counts what a manager asks for. `kubeconfig` is a path. */
export async function measureFleet(kubeconfig: string, text: string): Promise<FleetCost> {
  const client = testClient(text);
  const places = await Promise.all(Array.from({ length: NAMESPACES }, () => testNamespace(client)));
  const names = places.map(({ name }) => name);
  for (let i = 0; i < RESOURCES; i++) await createMember(client, names, i);
  const fleet = await startFleet(kubeconfig, names);
  try {
    const start = await fleet.rest();
    const watches = fleet.watches();
    await client.ok(
      "PATCH",
      `${pathOf(names[0]!)}/map-0`,
      { data: { text: "changed" } },
      { contentType: "application/merge-patch+json" },
    );
    return { resources: RESOURCES, namespaces: NAMESPACES, watches, start, change: await fleet.rest() };
  } finally {
    await fleet.stop();
    client.close();
  }
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

/** An Echo that refers to a ConfigMap of its own and to that of its neighbour in the namespace. */
async function createMember(client: TestClient, namespaces: readonly string[], i: number): Promise<void> {
  const namespace = namespaces[i % NAMESPACES]!;
  const neighbour = (i + NAMESPACES) % RESOURCES;
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `map-${i}` }, data: { text: `${i}` } };
  await client.ok("POST", pathOf(namespace), map);
  await client.ok("POST", `/apis/test.quartet.io/v1/namespaces/${namespace}/echoes`, {
    apiVersion: "test.quartet.io/v1",
    kind: "Echo",
    metadata: { name: `echo-${i}` },
    spec: { text: "x", refs: [`map-${i}`, `map-${neighbour}`] },
  });
}

interface Fleet {
  /** Requests since the last call, by verb, once there are no more. */
  rest(): Promise<Record<string, number>>;
  watches(): number;
  stop(): Promise<void>;
}

async function startFleet(kubeconfig: string, namespaces: readonly string[]): Promise<Fleet> {
  const counts = new Map<string, number>();
  const { log } = createLogging({ levels: parseLogLevels("error") });
  const client = createClient({
    connection: await loadConnection({ kubeconfig }),
    version: "bench",
    log,
    observer: { onRequest: ({ verb }) => void counts.set(verb, (counts.get(verb) ?? 0) + 1) },
  });
  let informers = 0;
  const observer = {
    informer: () => {
      informers++;
      return () => void informers--;
    },
  };
  const cache = createCache({ client, clock: systemClock, log, observer });
  const manager = createManager({
    client,
    cache,
    clock: systemClock,
    log,
    metrics: createMetrics({ processMetrics: false }),
    controllerOptions: (_, declared) => ({
      maxConcurrentReconciles: 4,
      reconcileTimeoutMs: 300_000,
      needLeaderElection: true,
      ...declared,
    }),
    recoverPanic: true,
    features: {},
    namespaces,
    identity: "bench",
    instance: "bench",
    servers: [],
    warmup: false,
    cacheSyncTimeoutMs: 120_000,
    gracefulShutdownTimeoutMs: 10_000,
    shutdownDelayMs: 0,
  });
  const module = createReferrerModule();
  module.build(manager.forModule(module), {});
  await manager.start();
  const sum = (): number => [...counts.values()].reduce((total, count) => total + count, 0);
  return {
    async rest() {
      for (let before = -1, quiet = 0; quiet < QUIET_LOOKS; await sleep(LOOK_MS)) {
        quiet = sum() === before && before > 0 ? quiet + 1 : 0;
        before = sum();
      }
      const found = Object.fromEntries([...counts].sort());
      counts.clear();
      return found;
    },
    watches: () => informers,
    async stop() {
      await manager.stop();
      client.close();
    },
  };
}
