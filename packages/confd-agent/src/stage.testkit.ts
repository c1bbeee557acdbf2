/** Tests that run side by side, each with folders and a server of its own: they wait more than they work. */
import { it } from "vitest";
import { createScene, type RunningAgent, type Scene } from "./agent.testkit.ts";
import type { TestServer } from "./servers.testkit.ts";

export interface Stage<S> {
  readonly scene: Scene;
  readonly server: S;
  /** Flags of an agent on the server. */
  args(...more: readonly string[]): string[];
  /** Starts an agent that follows the server. */
  watch(...more: readonly string[]): RunningAgent;
  /** Lines of a file of the scene. */
  lines(name: string): number;
}

type Body<S> = (stage: Stage<S>) => Promise<void>;

/** Declares tests with a stage each. */
export const stagedTests =
  <S extends TestServer>(backend: string, start: () => Promise<S>) =>
  (title: string, body: Body<S>): void =>
    it.concurrent(title, async () => {
      const server = await start();
      const scene = createScene();
      try {
        await body(stageOf(backend, scene, server));
      } finally {
        await scene.close();
        await server.close();
      }
    });

function stageOf<S extends TestServer>(backend: string, scene: Scene, server: S): Stage<S> {
  const args: Stage<S>["args"] = (...more) => [
    ...["--backend", backend, "--node", server.address, "--watch-error-backoff", "100ms"],
    ...more,
  ];
  return {
    scene,
    server,
    args,
    watch: (...more) => scene.start(args("--watch", ...more)),
    lines: (name) => (scene.exists(name) ? scene.read(name).split("\n").length - 1 : 0),
  };
}
