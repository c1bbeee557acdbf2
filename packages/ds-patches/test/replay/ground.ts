/** Where recorded DaemonSet cases are played: an API server without nodes, with the controller and its webhooks at work. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "@quartet/testing";
import { type Arena, startArena } from "@quartet/testing/replay";
import { dsPatchesModule } from "../../src/module.ts";

/** Pause between two looks whether the API server asks the webhooks, ms. */
const POLL_MS = 100;
const INVALID = 422;

export interface Ground {
  readonly arena: Arena;
  /** A real control plane: its controllers make what namespaces need. */
  readonly real: boolean;
  close(): Promise<void>;
}

/** A manager with the module, whose webhooks the API server is told of. */
export interface GroundManager {
  /** Resolves when it is ready. */
  readonly ready: Promise<void>;
  stop(): Promise<unknown>;
}

export interface GroundOptions {
  readonly real: boolean;
  readonly onProgress: (line: string) => void;
  /** Starts the manager with the login of an administrator, given as a kubeconfig file. */
  startManager(kubeconfig: string): Promise<GroundManager>;
}

/** Starts a double or a real control plane, and on it the manager. */
export async function startGround({ real, onProgress, startManager }: GroundOptions): Promise<Ground> {
  const arena = await startArena({ modules: [dsPatchesModule] }, { real, onProgress, nodes: [] });
  const folder = await mkdtemp(join(tmpdir(), "quartet-daemonsets-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await arena.kubeconfig(), { mode: 0o600 });
  const manager = await startManager(kubeconfig);
  await manager.ready;
  await untilAsked(arena.client);
  return {
    arena,
    real,
    async close() {
      await manager.stop();
      await arena.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The API server learns of webhooks by a watch of its own: it asks them once it refuses what only they refuse. */
async function untilAsked(client: TestClient): Promise<void> {
  const path = "/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets?dryRun=All";
  const body = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: { name: "probe" },
    spec: { selector: {}, template: { spec: { containers: [{ name: "main", image: "probe" }] } } },
  };
  while ((await client.request("POST", path, body)).code !== INVALID) await sleep(POLL_MS);
}
