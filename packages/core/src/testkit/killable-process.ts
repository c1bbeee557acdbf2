/** A process that dies at a chosen call: its client, and its calls to other services. */
import type { Client } from "../client/types.ts";
import { type Kind, keyOf, keyToString, type ObjectKey } from "../object.ts";

/** The process was killed. Nothing that is called after it gets through. */
export class CrashError extends Error {
  override readonly name = "CrashError";

  constructor(call: string) {
    super(`killed at ${call}`);
  }
}

/** Where a process dies: before the `call`-th call (from 1) is sent, or after it has taken effect, its answer unseen. */
export interface CrashPoint {
  readonly call: number;
  readonly side: "before" | "after";
}

/** A process under test. Every call that leaves it is a place where it may be killed. */
export interface TestProcess {
  readonly client: Client;
  /** Sends a call to anything that is no API server, such as an external API. */
  call<T>(name: string, send: () => Promise<T>): Promise<T>;
  /** It was killed: whoever waits for its work waits in vain. */
  readonly crashed: boolean;
}

export interface KillableProcess extends TestProcess {
  /** Calls so far, such as `patch echoes t/a`. */
  readonly calls: readonly string[];
  /** Writes to the API server so far. */
  readonly writes: number;
}

/** Starts a process that lives for ever without a crash point. */
export function killableProcess(client: Client, crash?: CrashPoint): KillableProcess {
  const calls: string[] = [];
  let writes = 0;
  let dead: CrashError | undefined;

  const call = async <T>(name: string, send: () => Promise<T>): Promise<T> => {
    if (dead !== undefined) throw dead;
    calls.push(name);
    const last = calls.length === crash?.call;
    if (last && crash.side === "before") {
      dead = new CrashError(name);
      throw dead;
    }
    try {
      return await send();
    } finally {
      if (last) dead = new CrashError(name);
      // Whatever the answer was, a dead process does not see it.
      if (dead !== undefined) throwDead(dead);
    }
  };
  const door: Door = {
    call,
    onWrite: () => {
      writes += 1;
    },
  };
  return {
    client: killableClient(client, door),
    call,
    get calls() {
      return calls;
    },
    get writes() {
      return writes;
    },
    get crashed() {
      return dead !== undefined;
    },
  };
}

function throwDead(dead: CrashError): never {
  throw dead;
}

interface Door {
  call: TestProcess["call"];
  onWrite: () => void;
}

const READS = ["get", "list", "getSubresource"] as const;
const WRITES = [
  "create",
  "update",
  "updateStatus",
  "patch",
  "patchStatus",
  "apply",
  "applyOwned",
  "delete",
  "deleteIfExists",
  "deleteCollection",
] as const;

type Verb = (...args: never[]) => Promise<unknown>;

function killableClient(client: Client, door: Door): Client {
  const verbs: Record<string, Verb> = {};
  for (const verb of READS) {
    const send = client[verb] as Verb;
    verbs[verb] = (...args) => door.call(describe(verb, args), () => send(...args));
  }
  for (const verb of WRITES) {
    const send = client[verb] as Verb;
    verbs[verb] = async (...args) => {
      const answer = await door.call(describe(verb, args), () => send(...args));
      const nothingSent = verb === "patchStatus" && answer === undefined;
      if (!nothingSent && !isDryRun(args)) door.onWrite();
      return answer;
    };
  }
  return {
    ...client,
    ...(verbs as unknown as Pick<Client, (typeof READS)[number] | (typeof WRITES)[number]>),
    pages: (kind, options) => pages(client.pages(kind, options), `pages ${kind.plural}`, door),
    async evict(pod, options) {
      await door.call(`evict pods ${keyToString(pod)}`, () => client.evict(pod, options));
      door.onWrite();
    },
    async raw(method, path, body, options) {
      const answer = await door.call(`${method} ${path}`, () => client.raw(method, path, body, options));
      if (method !== "GET") door.onWrite();
      return answer;
    },
    forController: (name, hooks) => killableClient(client.forController(name, hooks), door),
  };
}

async function* pages<T>(all: AsyncIterable<T>, name: string, door: Door): AsyncGenerator<T> {
  const iterator = all[Symbol.asyncIterator]();
  for (;;) {
    const next = await door.call(name, () => iterator.next());
    if (next.done) return;
    yield next.value;
  }
}

function describe(verb: string, [kind, target]: readonly unknown[]): string {
  const { plural } = kind as Kind;
  if (typeof target !== "object" || target === null) return `${verb} ${plural}`;
  if ("metadata" in target) return `${verb} ${plural} ${keyToString(keyOf(target as never))}`;
  return "name" in target ? `${verb} ${plural} ${keyToString(target as ObjectKey)}` : `${verb} ${plural}`;
}

function isDryRun(args: readonly unknown[]): boolean {
  const options = args.at(-1);
  return typeof options === "object" && options !== null && "dryRun" in options && options.dryRun === true;
}
