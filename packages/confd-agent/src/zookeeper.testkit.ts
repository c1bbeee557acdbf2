/** A real ZooKeeper server of Debian's package on loopback. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portAllocator } from "@quartet/testing";
import type { JuteWriter } from "./backend/zookeeper/jute.ts";
import { NO_NODE, openSession, type Session, ZooKeeperError } from "./backend/zookeeper/session.ts";
import { startServer, type TestServer } from "./servers.testkit.ts";

const JAR = "/usr/share/java/zookeeper.jar";
/** Operations that only tests use. */
const CREATE = 1;
const DELETE = 2;
const SET_DATA = 5;
const MULTI = 14;
const ALL_RIGHTS = 31;

export interface ZooKeeperServer extends TestServer {
  /** Makes or writes nodes, with those above; byte strings. */
  put(entries: Readonly<Record<string, string>>, owner?: string): Promise<void>;
  /** Writes nodes that are there in one transaction. */
  putTogether(entries: Readonly<Record<string, string>>): Promise<void>;
  remove(...paths: readonly string[]): Promise<void>;
  /** Sessions that are connected. */
  sessions(): Promise<number>;
}

export async function startZooKeeper(): Promise<ZooKeeperServer> {
  if (!existsSync(JAR)) throw new Error(`${JAR} is missing: install Debian's package libzookeeper-java`);
  const ports = portAllocator();
  const port = await ports.allocate();
  const folder = mkdtempSync(join(tmpdir(), "confd-zookeeper-"));
  const data = join(folder, "data");
  writeFileSync(
    join(folder, "zoo.cfg"),
    [
      `clientPort=${port}`,
      "clientPortAddress=127.0.0.1",
      `dataDir=${data}`,
      // So that a server that hangs is noticed after 2 s.
      "tickTime=500",
      "maxSessionTimeout=3000",
      "4lw.commands.whitelist=cons",
      "admin.enableServer=false",
      "forceSync=no",
    ].join("\n"),
  );
  const open = (dialTimeout = 5000): Promise<Session> =>
    openSession({
      server: { host: "127.0.0.1", port },
      dialTimeout,
      answerTimeout: 60_000,
      login: "",
      onEvent: () => {},
    });
  const within = async (work: (session: Session) => Promise<void>): Promise<void> => {
    const session = await open();
    await work(session).finally(session.end);
  };
  const server = await startServer({
    command: "java",
    args: [
      ...["-Xmx128m", "-XX:TieredStopAtLevel=1", "-Xshare:auto"],
      ...["-cp", JAR, "org.apache.zookeeper.server.ZooKeeperServerMain", join(folder, "zoo.cfg")],
    ],
    folder,
    data,
    address: `127.0.0.1:${port}`,
    // While it starts it takes connections and does not answer.
    isReady: () =>
      open(500).then(
        (session) => {
          session.end();
          return true;
        },
        () => false,
      ),
    release: () => ports.releaseAll(),
  });
  return {
    ...server,
    put: (entries, owner) =>
      within(async (session) => {
        for (const [path, value] of Object.entries(entries)) {
          for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1))
            await write(session, path.slice(0, at), undefined, undefined);
          await write(session, path, value, owner);
        }
      }),
    putTogether: (entries) =>
      within(async (session) => {
        await session.call(MULTI, (body) => {
          for (const [path, value] of Object.entries(entries))
            body.int(SET_DATA).flag(false).int(-1).bytes(path).bytes(value).int(-1);
          return body.int(-1).flag(true).int(-1);
        });
      }),
    sessions: () =>
      new Promise((resolve, reject) => {
        let answer = "";
        const socket = createConnection({ host: "127.0.0.1", port }, () => socket.end("cons"));
        socket.on("data", (chunk) => {
          answer += chunk.toString();
        });
        socket.on("end", () => resolve(answer.split("sid=").length - 1));
        socket.on("error", reject);
      }),
    remove: (...paths) =>
      within(async (session) => {
        for (const path of paths) await session.call(DELETE, (body) => body.bytes(path).int(-1));
      }),
  };
}

async function write(
  session: Session,
  path: string,
  value: string | undefined,
  owner: string | undefined,
): Promise<void> {
  try {
    if (value !== undefined) {
      await session.call(SET_DATA, (body) => body.bytes(path).bytes(value).int(-1));
      return;
    }
  } catch (error) {
    if (!(error instanceof ZooKeeperError && error.code === NO_NODE)) throw error;
  }
  await session
    .call(CREATE, (body) => rights(body.bytes(path).bytes(value ?? ""), owner).int(0))
    .catch((error: unknown) => {
      if (value !== undefined) throw error;
    });
}

/** Everything for the owner (`USER:PASSWORD`), or for all. */
function rights(body: JuteWriter, owner: string | undefined): JuteWriter {
  if (owner === undefined) return body.int(1).int(ALL_RIGHTS).bytes("world").bytes("anyone");
  const digest = createHash("sha1").update(owner).digest("base64");
  return body
    .int(1)
    .int(ALL_RIGHTS)
    .bytes("digest")
    .bytes(`${owner.split(":")[0]}:${digest}`);
}
