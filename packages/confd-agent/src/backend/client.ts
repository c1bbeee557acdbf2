/** A backend with its connection's state: reads with a limit, and one watch for all resources. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BackendSettings } from "../config/settings.ts";
import { BackendError, messageOf } from "../errors.ts";
import type { Level } from "../observe/log.ts";
import type { AgentMetrics } from "../observe/metrics.ts";
import { backoffDelay } from "../run/backoff.ts";
import { type Backend, outermost, type Snapshot, type WatchEvents } from "./backend.ts";

export interface ClientOptions {
  readonly settings: BackendSettings;
  readonly connect: (settings: BackendSettings) => Promise<Backend>;
  readonly log: (level: Level, message: string) => void;
  readonly metrics: AgentMetrics;
  /** Aborts everything. */
  readonly signal: AbortSignal;
}

export interface FollowOptions {
  /** A change of these keys, or of anything. */
  readonly onChange: WatchEvents["onChange"];
  /** The watch stands, or cannot be had for now: everything has to be read unless nothing was missed. */
  readonly onState: (state: { readonly missed: boolean }) => void;
}

export interface Client {
  readonly settings: BackendSettings;
  /** Reads the ranges; rejects after the limit. After a change that was told, as they were at its position or later. */
  read(ranges: readonly string[], atLeast?: number): Promise<Snapshot>;
  /** Asks the server whether it is there. */
  health(): Promise<void>;
  /** Follows the ranges from now on, in place of those before. */
  follow(ranges: readonly string[], options: FollowOptions): void;
  stopFollowing(): Promise<void>;
  /** Whether it tells of changes; known after the first connection, undefined before. */
  watches(): boolean | undefined;
  isConstant(): boolean;
  isSecret(range: string): boolean;
  keepsPrivate(): boolean;
  /** Since when it cannot be reached (monotonic milliseconds), if so. */
  outageSince(): number | undefined;
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const { settings, log, metrics, signal } = options;
  let backend: Backend | undefined;
  let connecting: Promise<Backend> | undefined;
  let outage: number | undefined;
  let following: { ranges: string; stop: AbortController; done: Promise<void> } | undefined;

  const connected = (): Promise<Backend> => {
    connecting ??= options.connect(settings).then(
      (made) => {
        backend = made;
        return made;
      },
      (error: unknown) => {
        connecting = undefined;
        throw error;
      },
    );
    return connecting;
  };
  const reached = (): void => {
    if (outage !== undefined) log("info", `backend ${backend?.label ?? settings.backend} answers again`);
    outage = undefined;
    metrics.healthy(settings.backend, true);
  };
  const failed = (): void => {
    outage ??= performance.now();
    metrics.healthy(settings.backend, false);
    // Records may name other nodes by now: the next connection asks for them.
    if (settings.srvDomain === "" && settings.srvRecord === "") return;
    const old = backend;
    backend = undefined;
    connecting = undefined;
    void old?.close().catch(() => {});
  };

  /** One request with the limit; an error names the nodes. */
  const request = async <T>(
    what: string,
    ask: (backend: Backend, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), settings.backendTimeout);
    const either = AbortSignal.any([limit.signal, signal]);
    const started = performance.now();
    try {
      const asked = connected().then((made) => ask(made, either));
      const result = await Promise.race([asked, rejectOn(limit.signal)]);
      metrics.request(settings.backend, performance.now() - started, true);
      reached();
      return result;
    } catch (error) {
      metrics.request(settings.backend, performance.now() - started, false);
      const narrow = error instanceof BackendError && error.onlyThisRange;
      if (!narrow) failed();
      const reason = limit.signal.aborted
        ? `no answer within ${settings.backendTimeout / 1000}s`
        : messageOf(error);
      const nodes = settings.nodes.length === 0 ? "" : ` ${settings.nodes.join(", ")}`;
      throw new BackendError(`${what} ${settings.backend}${nodes}: ${reason}`, {
        onlyThisRange: narrow,
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };

  const watchLoop = async (
    ranges: readonly string[],
    follow: FollowOptions,
    stop: AbortSignal,
  ): Promise<void> => {
    let failures = 0;
    let told = "";
    while (!stop.aborted) {
      try {
        const made = await connected();
        if (made.watch === undefined) return follow.onState({ missed: true });
        await made.watch(
          ranges,
          {
            onReady: ({ resumed }) => {
              failures = 0;
              told = "";
              reached();
              follow.onState({ missed: !resumed });
            },
            onChange: follow.onChange,
            onNotice: log,
          },
          stop,
        );
      } catch (error) {
        if (stop.aborted) return;
        failed();
        failures += 1;
        const message = `watch of ${settings.backend} ${settings.nodes.join(", ")} ended: ${messageOf(error)}`;
        log(message === told ? "debug" : "error", message);
        told = message;
        if (failures === 1) follow.onState({ missed: true });
        const delay = backoffDelay(failures, settings.watchErrorBackoff, settings.watchErrorBackoffMax);
        await sleep(delay, undefined, { signal: stop }).catch(() => {});
      }
    }
  };

  const stopFollowing = async (): Promise<void> => {
    const old = following;
    following = undefined;
    old?.stop.abort();
    await old?.done;
  };

  return {
    settings,
    read: (ranges, atLeast) =>
      request("cannot read from", (made, limit) =>
        made.read(outermost(ranges), { signal: limit, ...(atLeast === undefined ? {} : { atLeast }) }),
      ),
    health: () => request("no health of", (made, limit) => made.health(limit)),
    follow: (ranges, follow) => {
      const wanted = outermost(ranges);
      if (following?.ranges === JSON.stringify(wanted)) return;
      const before = stopFollowing();
      const stop = new AbortController();
      const either = AbortSignal.any([stop.signal, signal]);
      const done = before.then(() => watchLoop(wanted, follow, either));
      following = { ranges: JSON.stringify(wanted), stop, done };
    },
    stopFollowing,
    watches: () => (backend === undefined ? undefined : backend.watch !== undefined),
    isConstant: () => backend?.constant === true,
    isSecret: (range) => backend?.isSecret?.(range) === true,
    keepsPrivate: () => backend?.keepsPrivate === true,
    outageSince: () => outage,
    close: async () => {
      await stopFollowing();
      await backend?.close();
    },
  };
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
