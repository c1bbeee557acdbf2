/** Keeps a sink in step with one collection of the server: does what the state machine says. */
import type { Client } from "../../client/types.ts";
import type { Clock } from "../../clock.ts";
import type { KubeObject } from "../../object.ts";
import { createPerform, type PerformOptions } from "./effects.ts";
import { INITIAL_STATE, step } from "./machine.ts";
import type { Input, MachineState, Phase } from "./machine-types.ts";
import type { Permits } from "./permits.ts";
import { createRequests } from "./requests.ts";
import type { ServerFacts } from "./server-facts.ts";

/** Looking again for a missing kind or right, of a required source and of an optional one. CORE-236, 237. */
const ABSENT_RETRY_MS = 10_000;
const OPTIONAL_RETRY_MS = 5 * 60_000;

export interface ReflectorOptions<T extends KubeObject> extends PerformOptions<T> {
  client: Client;
  clock: Clock;
  pages: Permits;
  random: () => number;
  /** Asked at each wait for a missing kind or right. */
  isOptional: () => boolean;
}

export interface Reflector {
  /** Monotonic time of the last byte from the server. */
  readonly lastContact: number;
  /** Cuts the wait of a source that may have been optional so far. */
  retryNow(): void;
  /** Ends the running request; resolves when nothing more will reach the sink. */
  stop(): Promise<void>;
}

/** Starts listing and watching; goes on until it is stopped, whatever the server does. */
export function startReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { clock, random, isOptional } = options;
  const requests = createRequests(options);
  const { perform, close } = createPerform(options);
  const waits = interruptible(clock);
  let state: MachineState = INITIAL_STATE;
  let stopped = false;

  const nextInput = (phase: Phase): Promise<Input<T>> => {
    switch (phase.name) {
      case "start":
        return waits.orStop(askServer(options.server));
      case "waiting":
        return waits.sleep(phase.ms);
      default:
        return requests.next(phase, state.version);
    }
  };
  const advance = async (input: Input<T>): Promise<void> => {
    const absentRetryMs = isOptional() ? OPTIONAL_RETRY_MS : ABSENT_RETRY_MS;
    const next = step(state, input, { now: clock.monotonic(), random, absentRetryMs });
    state = next.state;
    for (const effect of next.effects) {
      const pending = perform(effect);
      if (pending !== undefined) await pending;
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const input = await nextInput(state.phase);
      if (stopped) break;
      try {
        await advance(input);
      } catch (error) {
        // Something that cannot be taken in must not end the source, nor be missing from it: list anew.
        requests.close();
        state = { ...state, phase: { name: "start", reason: "error" } };
        await advance({ type: "failed", error });
      }
    }
  };
  const done = run();

  return {
    get lastContact() {
      return requests.lastContact;
    },
    retryNow: () => waits.wake(),
    async stop() {
      stopped = true;
      requests.close();
      waits.stop();
      await done;
      close();
    },
  };
}

async function askServer<T extends KubeObject>(server: ServerFacts): Promise<Input<T>> {
  try {
    return { type: "server", ...(await server.get()) };
  } catch (error) {
    return { type: "failed", error };
  }
}

/** Waits that can be cut short. */
function interruptible(clock: Clock): {
  sleep(ms: number): Promise<{ type: "woke" }>;
  /** The promise's value, or nothing of interest after a stop. */
  orStop<V>(promise: Promise<V>): Promise<V | { type: "woke" }>;
  wake(): void;
  stop(): void;
} {
  let wake: (() => void) | undefined;
  let onStop: (() => void) | undefined;
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const cancel = clock.setTimer(ms, () => wake?.());
        wake = () => {
          cancel();
          wake = undefined;
          resolve({ type: "woke" });
        };
      }),
    orStop: (promise) =>
      Promise.race([
        promise,
        new Promise<{ type: "woke" }>((resolve) => {
          onStop = () => resolve({ type: "woke" });
        }),
      ]),
    wake: () => wake?.(),
    stop() {
      wake?.();
      onStop?.();
    },
  };
}
