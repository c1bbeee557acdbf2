/** Speed of the API server double (CORE-498): what tests on it can expect. */
import { createPki, startDouble } from "@quartet/testing";
import { authenticated } from "../packages/testing/src/apiserver-double/auth.ts";
import { createEngine, type Engine } from "../packages/testing/src/apiserver-double/engine.ts";

export interface DoubleSpeed {
  /** Objects created per second. */
  readonly creates: number;
  /** Events per second to each of {@link WATCHERS} watchers. */
  readonly events: number;
  /** Start of a double that has its certificates, in milliseconds. */
  readonly startMs: number;
}

const USER = authenticated("bench", ["system:masters"]);
const OBJECTS = 2_000;
const WATCHERS = 10;
/** The best round counts: others were disturbed. */
const ROUNDS = 3;

/** Measures the double in this process, without HTTP; only its start opens a port. */
export async function measureDouble(): Promise<DoubleSpeed> {
  return {
    creates: await createsPerSecond(0),
    events: await createsPerSecond(WATCHERS),
    startMs: await startTime(),
  };
}

async function createsPerSecond(watchers: number): Promise<number> {
  const target = createEngine({
    version: "v1.37.2",
    bookmarkMs: 60_000,
    rbac: true,
    garbageCollection: true,
    watchList: true,
    address: () => "",
  });
  for (let i = 0; i < watchers; i++) await watch(target);
  const seconds = await best(async (round) => {
    for (let i = 0; i < OBJECTS; i++) await create(target, `c-${round}-${i}`);
  });
  target.stop();
  return OBJECTS / seconds;
}

async function startTime(): Promise<number> {
  const pki = await createPki();
  let started: { stop(): Promise<void> } | undefined;
  const seconds = await best(async () => {
    await started?.stop();
    started = await startDouble({ pki });
  });
  await started?.stop();
  return seconds * 1000;
}

async function best(run: (round: number) => Promise<void>): Promise<number> {
  let seconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    await run(round);
    seconds = Math.min(seconds, (performance.now() - begun) / 1000);
  }
  return seconds;
}

async function create(target: Engine, name: string): Promise<void> {
  const data = { text: "value", more: "x".repeat(200) };
  const body = JSON.stringify({ metadata: { name, labels: { app: "bench" } }, data });
  const { answer } = await request(target, "POST", "", body);
  if (answer.code !== 201) throw new Error(`the double answered ${answer.code} to a create`);
}

async function watch(target: Engine): Promise<void> {
  const { answer } = await request(target, "GET", "?watch=true", "");
  const nothing = (): void => {};
  answer.stream!({ write: nothing, end: nothing, destroy: nothing });
}

function request(
  target: Engine,
  method: string,
  query: string,
  body: string,
): ReturnType<Engine["handler"]["handle"]> {
  return target.handler.handle({
    method,
    url: `/api/v1/namespaces/default/configmaps${query}`,
    headers: {},
    body,
    certificate: USER,
    signal: new AbortController().signal,
  });
}
