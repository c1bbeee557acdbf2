/** Nodes of ZooKeeper with what lies below them. */
import { BackendError } from "../../errors.ts";
import type { OwnValues } from "../mirror.ts";
import type { JuteReader, JuteWriter } from "./jute.ts";
import { GET_CHILDREN, GET_DATA, NO_AUTH, NO_NODE, type Session, ZooKeeperError } from "./session.ts";

/** Requests on their way at the same time. */
const IN_FLIGHT = 256;
/** Bytes of a node's description (org.apache.zookeeper.data.Stat) before the number of its children. */
const BEFORE_CHILDREN = 56;

interface Node {
  readonly data: string;
  readonly children: number;
}

/** Reads the nodes of the paths and all below them. */
export async function readTrees(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<OwnValues> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  let level: readonly string[] = paths;
  // By levels, so that no depth of a tree is one of the program.
  while (level.length > 0) {
    const next: (readonly string[])[] = [];
    await each(level, signal, async (path) => {
      const node = await readNode(session, path);
      if (node === undefined) return;
      put(found, path, node);
      if (node.children > 0) next.push(await readChildren(session, path));
    });
    level = next.flat();
  }
  return found;
}

/** Reads these nodes alone. */
export async function readNodes(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<OwnValues> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  await each(paths, signal, async (path) => {
    const node = await readNode(session, path);
    if (node !== undefined) put(found, path, node);
  });
  return found;
}

/** A node that others lie below is a key only with data of its own. */
function put(found: Map<string, ReadonlyMap<string, string>>, path: string, { data, children }: Node): void {
  if (children === 0 || data !== "") found.set(path, new Map([[path, data]]));
}

async function each(
  paths: readonly string[],
  signal: AbortSignal,
  work: (path: string) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < paths.length && !hasFailed) {
      signal.throwIfAborted();
      const path = paths[next]!;
      next += 1;
      try {
        await work(path);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, paths.length) }, worker));
}

async function readNode(session: Session, path: string): Promise<Node | undefined> {
  const body = await ask(session, path, GET_DATA);
  if (body === undefined) return undefined;
  const data = body.bytes();
  body.skip(BEFORE_CHILDREN);
  return { data, children: body.int() };
}

async function readChildren(session: Session, path: string): Promise<string[]> {
  const names = (await ask(session, path, GET_CHILDREN))?.list() ?? [];
  const isName = (name: string): boolean => !["", ".", ".."].includes(name) && !name.includes("/");
  if (!names.every(isName)) throw new BackendError("zookeeper: a child has no name");
  return names.map((name) => (path === "/" ? `/${name}` : `${path}/${name}`));
}

/** Asks without setting a watch; nothing when there is no such node (any more). */
async function ask(session: Session, path: string, operation: number): Promise<JuteReader | undefined> {
  try {
    return await session.call(operation, (body: JuteWriter) => body.bytes(path).flag(false));
  } catch (error) {
    if (!(error instanceof ZooKeeperError)) throw error;
    if (error.code === NO_NODE) return undefined;
    throw new BackendError(`zookeeper: ${path}: ${error.message}`, {
      onlyThisRange: error.code === NO_AUTH,
      cause: error,
    });
  }
}
