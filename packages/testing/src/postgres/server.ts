/** A real PostgreSQL server on loopback, for tests. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createAuthority } from "../control-plane/pki.ts";
import { portAllocator } from "../control-plane/ports.ts";
import { startSupervisor } from "../control-plane/supervisor-client.ts";
import { findPostgres } from "./programs.ts";
import { psqlOf, quoteIdentifier } from "./psql.ts";

const HOST = "127.0.0.1";
const SUPERUSER = "postgres";
const SUPERUSER_DATABASE = "postgres";
const PASSWORD_BYTES = 18;
/** File in the data folder that makes a server start as a standby. */
const STANDBY_FILE = "standby.signal";
/** Name of the component, and of its data folder, which the supervisor removes by this name. */
const COMPONENT = "postgres";
/** Limit for the server to answer after a start, in milliseconds. */
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;
/** For speed: a test server's data need not outlive the machine. */
const FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "jit=off"];

export interface PostgresOptions {
  /** The server offers TLS, with a certificate of an own CA for 127.0.0.1 and localhost. Default false. */
  tls?: boolean;
  /** Further settings of the server, by name. */
  settings?: Readonly<Record<string, string>>;
}

/** A running server. It ends with this process, however that ends, at the latest. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  /** Superuser. */
  readonly user: string;
  readonly password: string;
  /** Certificate of the CA, PEM; empty without TLS. */
  readonly caPem: string;
  /**
   * Runs SQL as superuser and resolves with its output: a line per row, columns separated by `|`. Rejects with the
   * server's message. Works on a read-only server as well.
   */
  query(sql: string, database?: string): Promise<string>;
  /** Makes a UTF-8 database; any name is allowed. */
  createDatabase(name: string): Promise<void>;
  /** Makes a user that logs in by password (SCRAM) and owns nothing; any name is allowed. */
  createUser(name: string, password: string): Promise<void>;
  /** Sets whether transactions of new connections are read-only by default. */
  setReadOnly(on: boolean): Promise<void>;
  /** Restarts the server as a standby, one that waits for a primary, or as a primary again. */
  setStandby(on: boolean): Promise<void>;
  /** Everything that the server has logged, logins included; those of `query` carry `application_name=harness`. */
  log(): string;
  /** Stops the server and breaks its connections; its data and port stay. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Ends it for good and removes its data. */
  close(): Promise<void>;
}

/** Starts a server with an empty data folder. Throws when its programs are not installed. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  const { user } = programs;
  const work = mkdtempSync(join(tmpdir(), "qtpg-"));
  // The server's user has to pass through; the files in it are protected one by one.
  chmodSync(work, 0o711);
  const data = join(work, COMPONENT);
  const log = join(work, "postgres.log");
  const ports = portAllocator();
  const supervisor = await startSupervisor(work);
  const close = async (): Promise<void> => {
    await supervisor.shutdown();
    ports.releaseAll();
    rmSync(work, { recursive: true, force: true });
  };
  try {
    const port = await ports.allocate();
    const password = randomBytes(PASSWORD_BYTES).toString("base64url");
    const give = (path: string): void => user && chownSync(path, user.uid, user.gid);
    await initialize(programs.initdb, data, password, user, give);
    const caPem = options.tls === true ? await writeCertificate(data, give) : "";
    const settings = [
      ...FAST,
      `port=${port}`,
      `listen_addresses=${HOST}`,
      "unix_socket_directories=",
      "log_connections=on",
      ...(caPem === "" ? [] : ["ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key"]),
      ...Object.entries(options.settings ?? {}).map(([name, value]) => `${name}=${value}`),
    ];
    const query = psqlOf(programs.psql, { host: HOST, port, user: SUPERUSER, password });
    const ready = (): Promise<void> => untilAnswering(() => query("select 1", SUPERUSER_DATABASE), log);
    await supervisor.start({
      name: COMPONENT,
      command: programs.postgres,
      args: ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      log,
      cwd: data,
      // Fast shutdown: the default signal would wait for clients to leave.
      stopSignal: "SIGINT",
      ...(user && { user }),
    });
    await ready();
    const start = async (): Promise<void> => {
      await supervisor.restart(COMPONENT);
      await ready();
    };
    return {
      host: HOST,
      port,
      user: SUPERUSER,
      password,
      caPem,
      query: (sql, database = SUPERUSER_DATABASE) => query(sql, database),
      createDatabase: async (name) =>
        void (await query(
          `create database ${quoteIdentifier(name)} template template0 encoding 'UTF8'`,
          SUPERUSER_DATABASE,
        )),
      createUser: async (name, secret) => {
        const literal = `'${secret.replaceAll("'", "''")}'`;
        await query(`create role ${quoteIdentifier(name)} login password ${literal}`, SUPERUSER_DATABASE);
      },
      setReadOnly: (on) => setReadOnly(query, on),
      log: () => readFileSync(log, "utf8"),
      stop: () => supervisor.stop(COMPONENT),
      setStandby: async (on) => {
        await supervisor.stop(COMPONENT);
        const file = join(data, STANDBY_FILE);
        if (on) writeFileSync(file, "");
        else rmSync(file);
        await start();
      },
      start,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes the data folder; logins over TCP need the password, by SCRAM. */
async function initialize(
  initdb: string,
  data: string,
  password: string,
  user: { uid: number; gid: number } | undefined,
  give: (path: string) => void,
): Promise<void> {
  mkdirSync(data, { mode: 0o700 });
  give(data);
  const passwordFile = `${data}.pw`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  give(passwordFile);
  const args = ["-D", data, "-U", SUPERUSER, `--pwfile=${passwordFile}`, "-A", "scram-sha-256"];
  const locale = ["-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"];
  await promisify(execFile)(initdb, [...args, ...locale], { cwd: data, ...user });
  rmSync(passwordFile);
}

/** Writes the server's certificate into the data folder and returns the CA's. */
async function writeCertificate(data: string, give: (path: string) => void): Promise<string> {
  const authority = await createAuthority("quartet-test-postgres-ca");
  const { cert, key } = await authority.serving("postgres", [HOST, "localhost"]);
  for (const [name, text] of [
    ["server.crt", cert],
    ["server.key", key],
  ] as const) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    give(join(data, name));
  }
  return authority.cert;
}

async function untilAnswering(ask: () => Promise<string>, log: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > deadline) {
        throw new Error(`PostgreSQL does not answer: ${String(error)}\n${readFileSync(log, "utf8")}`);
      }
      await sleep(POLL_MS);
    }
  }
}

/** Changes the default and waits until new connections have it: the server takes settings over in the background. */
async function setReadOnly(
  query: (sql: string, database: string) => Promise<string>,
  on: boolean,
): Promise<void> {
  const name = "default_transaction_read_only";
  const wanted = on ? "on" : "off";
  await query(`alter system set ${name} = ${wanted}`, SUPERUSER_DATABASE);
  await query("select pg_reload_conf()", SUPERUSER_DATABASE);
  const deadline = performance.now() + START_LIMIT_MS;
  const sql = `reset ${name}; show ${name}`;
  while ((await query(sql, SUPERUSER_DATABASE)) !== wanted) {
    if (performance.now() > deadline) throw new Error(`PostgreSQL did not take over ${name}=${wanted}`);
    await sleep(POLL_MS);
  }
}
