/** Controllers and runnables that start and end together: those of the leader, and those of every replica. */
import type { Controller } from "../controller/types.ts";
import type { Logger } from "../observe/types.ts";
import type { Runnable } from "./types.ts";

/** Anything that a manager runs. */
export type Work = Runnable | Controller;

export interface WorkGroup {
  /** Adds work; it starts at once if the group was started. */
  add(work: Work): void;
  /** Starts all work. A failure is reported to `onFailure`, with the work's name in its message. */
  start(): void;
  controllers(): readonly Controller[];
  /**
   * Takes no new work, waits up to `drainMs` milliseconds for running reconciles, then aborts their signals. Resolves
   * when everything has ended, with the keys of reconciles that had to be aborted and have not ended since.
   */
  stop(drainMs: number): Promise<readonly string[]>;
  /** Aborts everything at once, without waiting. */
  abort(reason: unknown): void;
}

export interface WorkGroupOptions {
  log: Logger;
  onFailure(error: Error): void;
}

/** An empty group. */
export function createWorkGroup(options: WorkGroupOptions): WorkGroup {
  const all = new Set<Work>();
  const running = new Map<Work, Promise<void>>();
  const runnables = new AbortController();
  const controllers = new AbortController();
  let started = false;

  const run = (work: Work): void => {
    const { signal } = isController(work) ? controllers : runnables;
    const end = work
      .run(signal)
      .catch((error: unknown) => {
        // An aborted run may reject with the reason of its abort.
        if (signal.aborted) return;
        options.onFailure(new Error(`${describe(work)} failed: ${textOf(error)}`, { cause: error }));
      })
      .finally(() => running.delete(work));
    running.set(work, end);
  };

  const stopController = async (controller: Controller, drainMs: number): Promise<string[]> => {
    try {
      const { stuck } = await controller.stop(drainMs);
      return stuck.map((key) => `${controller.name}: ${key}`);
    } catch (error) {
      options.log.error("Controller did not stop", { controller: controller.name, error });
      return [];
    }
  };

  return {
    add(work) {
      all.add(work);
      if (started) run(work);
    },
    start() {
      started = true;
      for (const work of all) run(work);
    },
    controllers: () => [...all].filter(isController),
    async stop(drainMs) {
      started = false;
      runnables.abort(new Error("the manager is stopping"));
      const stuck = await Promise.all(
        [...all].filter(isController).map((one) => stopController(one, drainMs)),
      );
      controllers.abort(new Error("the manager is stopping"));
      const names = stuck.flat();
      // A reconcile that ignores its signal would be waited for without end.
      if (names.length === 0) await Promise.all(running.values());
      return names;
    },
    abort(reason) {
      started = false;
      runnables.abort(reason);
      controllers.abort(reason);
    },
  };
}

/** Tells a controller from a runnable. */
export function isController(work: Work): work is Controller {
  return "sources" in work;
}

/** `controller tars` or `runnable pruner`, for messages. */
export function describe(work: Work): string {
  return `${isController(work) ? "controller" : "runnable"} ${work.name}`;
}

/** True for work that runs on the leader only, which is the default. */
export function needsLeader(work: Work): boolean {
  return isController(work) ? work.options.needLeaderElection : (work.needLeaderElection ?? true);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
