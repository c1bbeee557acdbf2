/** The wait until nothing changes any more. */
import { setTimeout as sleep } from "node:timers/promises";

/** Pause between two looks at the objects, in milliseconds. The looks count as rest, for on a busy machine they take their time. */
const POLL_MS = 400;
/** Rest when all is as recorded, longer than the debounce of configuration edits. */
const REST_MS = 2_000;
/** Rest when it is not: a slow machine gets the time to bring it about. */
const PATIENT_REST_MS = 15_000;
/** The same when it is known to come out otherwise. */
const DECIDED_REST_MS = 8_000;
/** Rest of pods that cannot go on: longer than the 10 s for which a new pod must have been ready. */
const STUCK_REST_MS = 25_000;
/** By then everything must have come to rest. */
const LIMIT_MS = 150_000;

export interface RestOptions<Snapshot> {
  read(): Promise<Snapshot>;
  /** What must not change any more, as text that is equal when nothing has. */
  stateOf(snapshot: Snapshot): string;
  /** Something that the objects stand for, such as pods, is being replaced. */
  isMoving(snapshot: Snapshot): boolean;
  /** The snapshot is as recorded: a shorter rest is enough. */
  asRecorded(snapshot: Snapshot): boolean;
  /** The product decides otherwise: it need not come out as recorded. */
  decided: boolean;
  /** Even what is as recorded must not change while pods are replaced. */
  thorough: boolean;
}

/** The state in which nothing changes any more. Rejects when there is none. */
export async function untilRest<Snapshot>(options: RestOptions<Snapshot>): Promise<Snapshot> {
  const { read, stateOf, isMoving, asRecorded, decided, thorough } = options;
  const start = performance.now();
  let before = "";
  for (let restMs = 0; ; restMs += POLL_MS) {
    const snapshot = await read();
    const now = performance.now();
    const state = stateOf(snapshot);
    if (state !== before) restMs = 0;
    before = state;
    const done = asRecorded(snapshot);
    const rolling = isMoving(snapshot) && (thorough || !done);
    const wanted = rolling ? STUCK_REST_MS : done ? REST_MS : decided ? DECIDED_REST_MS : PATIENT_REST_MS;
    if (restMs >= wanted) return snapshot;
    if (now - start > LIMIT_MS) throw new Error(`no rest within ${LIMIT_MS / 1000} s: objects keep changing`);
    await sleep(POLL_MS);
  }
}
