/** Real servers of etcd and Redis on loopback, which end with the test. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, ensureAssets, portAllocator } from "@quartet/testing";
import { eventually } from "./agent.testkit.ts";

/** A server process that can be stopped and started again on the same data. */
export interface TestServer {
  readonly address: string;
  start(): Promise<void>;
  /** Ends it by force. */
  kill(): Promise<void>;
  /** Removes what it has stored; it must not run. */
  wipe(): void;
  close(): Promise<void>;
}

interface ServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly data: string;
  readonly address: string;
  readonly isReady: () => Promise<boolean>;
  readonly release: () => void;
}

/** Starts a server and waits until it answers. */
export async function startServer(options: ServerOptions): Promise<TestServer> {
  const { command, args, folder, data, address, isReady, release } = options;
  let child: ChildProcess | undefined;
  let output = "";
  const kill = async (): Promise<void> => {
    const old = child;
    child = undefined;
    if (old === undefined || old.exitCode !== null) return;
    const gone = new Promise((resolve) => old.once("exit", resolve));
    old.kill("SIGKILL");
    await gone;
  };
  const start = async (): Promise<void> => {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const made = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    child = made;
    for (const stream of [made.stdout, made.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
      });
    }
    await eventually(isReady, Boolean).catch((error: unknown) => {
      throw new Error(`${command} does not answer: ${String(error)}\n${output}`);
    });
  };
  await start();
  return {
    address,
    start,
    kill,
    wipe: () => rmSync(data, { recursive: true, force: true }),
    close: async () => {
      await kill();
      release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An etcd server with calls to its JSON gateway. */
export interface EtcdServer extends TestServer {
  readonly version: string;
  /** Where it listens, with its scheme. */
  readonly url: string;
  /** Certificate of the CA, PEM; empty without TLS. */
  readonly caFile: string;
  put(entries: Readonly<Record<string, string>>): Promise<void>;
  remove(key: string): Promise<void>;
  /** Compacts the history at its end. */
  compact(): Promise<void>;
  call(path: string, body: object, token?: string): Promise<Record<string, unknown>>;
}

export interface EtcdOptions {
  readonly tls?: boolean;
  readonly args?: readonly string[];
}

export async function startEtcd({ tls = false, args = [] }: EtcdOptions = {}): Promise<EtcdServer> {
  const { programs } = await ensureAssets({ need: ["etcd"] });
  const ports = portAllocator();
  const [port, peer] = [await ports.allocate(), await ports.allocate()];
  const folder = mkdtempSync(join(tmpdir(), "confd-etcd-"));
  const data = join(folder, "data");
  const scheme = tls ? "https" : "http";
  const url = `${scheme}://127.0.0.1:${port}`;
  const caFile = tls ? await writeCertificates(folder) : "";
  const certificate = tls ? [`--cert-file=${folder}/server.crt`, `--key-file=${folder}/server.key`] : [];
  const call: EtcdServer["call"] = (path, body, token) => gateway(tls, port, folder, path, body, token);
  const server = await startServer({
    command: programs.etcd!,
    args: [
      `--data-dir=${data}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      "--log-level=error",
      "--unsafe-no-fsync",
      ...certificate,
      ...args,
    ],
    folder,
    data,
    address: `127.0.0.1:${port}`,
    isReady: () =>
      call("/v3/maintenance/status", {}).then(
        () => true,
        (error: unknown) =>
          String(error).includes("Unauthenticated") || String(error).includes("user name is empty"),
      ),
    release: () => ports.releaseAll(),
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    ...server,
    version: execFileSync(programs.etcd!, ["--version"], { encoding: "utf8" }).split("\n")[0]!,
    url,
    caFile,
    call,
    put: async (entries) => {
      const success = Object.entries(entries).map(([key, value]) => ({
        requestPut: { key: base64(key), value: base64(value) },
      }));
      await call("/v3/kv/txn", { success });
    },
    remove: async (key) => void (await call("/v3/kv/deleterange", { key: base64(key) })),
    compact: async () => {
      const { header } = (await call("/v3/maintenance/status", {})) as { header: { revision: string } };
      await call("/v3/kv/compaction", { revision: header.revision, physical: true });
    },
  };
}

async function writeCertificates(folder: string): Promise<string> {
  const authority = await createAuthority("confd-test-ca");
  const { cert, key } = await authority.serving("etcd", ["127.0.0.1", "localhost"]);
  writeFileSync(join(folder, "server.crt"), cert);
  writeFileSync(join(folder, "server.key"), key, { mode: 0o600 });
  writeFileSync(join(folder, "ca.crt"), authority.cert);
  return join(folder, "ca.crt");
}

async function gateway(
  tls: boolean,
  port: number,
  folder: string,
  path: string,
  body: object,
  token: string | undefined,
): Promise<Record<string, unknown>> {
  const { request } = await import(tls ? "node:https" : "node:http");
  const { readFileSync } = await import("node:fs");
  const text = JSON.stringify(body);
  return await new Promise((resolve, reject) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: token }),
        },
        ...(tls ? { ca: readFileSync(join(folder, "ca.crt")) } : {}),
      },
      (response: import("node:http").IncomingMessage) => {
        let answer = "";
        response.on("data", (chunk: Buffer) => {
          answer += chunk.toString();
        });
        response.on("end", () => {
          if (response.statusCode === 200) resolve(JSON.parse(answer));
          else reject(new Error(`etcd ${path}: ${response.statusCode} ${answer}`));
        });
      },
    );
    asked.on("error", reject);
    asked.end(text);
  });
}

/** A Redis server. */
export interface RedisServer extends TestServer {
  readonly version: string;
  /** Certificate of the CA; empty without TLS. */
  readonly caFile: string;
  /** Runs a command with the server's own client; its output. */
  command(...args: readonly string[]): string;
}

/** Programs of Debian's package redis-server. */
export const findRedis = (): string =>
  execFileSync("redis-server", ["--version"], { encoding: "utf8" }).trim();

export interface RedisOptions {
  /** Listens with TLS alone. */
  readonly tls?: boolean;
}

export async function startRedis(
  args: readonly string[] = [],
  { tls = false }: RedisOptions = {},
): Promise<RedisServer> {
  const version = findRedis();
  const ports = portAllocator();
  const port = await ports.allocate();
  const folder = mkdtempSync(join(tmpdir(), "confd-redis-"));
  const data = join(folder, "data");
  const caFile = tls ? await writeCertificates(folder) : "";
  const password = args.includes("--requirepass") ? args[args.indexOf("--requirepass") + 1]! : "";
  const command: RedisServer["command"] = (...words) =>
    execFileSync(
      "redis-cli",
      [
        "-p",
        String(port),
        ...(tls ? ["--tls", "--cacert", caFile] : []),
        ...(password === "" ? [] : ["--no-auth-warning", "-a", password]),
        ...words,
      ],
      {
        encoding: "utf8",
      },
    ).trim();
  const server = await startServer({
    command: "redis-server",
    args: [
      ...(tls ? tlsArguments(port, folder) : ["--port", String(port)]),
      "--bind",
      "127.0.0.1",
      "--dir",
      data,
      "--appendonly",
      "yes",
      "--save",
      "",
      ...args,
    ],
    folder,
    data,
    address: `127.0.0.1:${port}`,
    isReady: async () => {
      try {
        return command("ping") === "PONG";
      } catch {
        return false;
      }
    },
    release: () => ports.releaseAll(),
  });
  return { ...server, version, caFile, command };
}

const tlsArguments = (port: number, folder: string): string[] => [
  ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
  ...["--tls-cert-file", `${folder}/server.crt`, "--tls-key-file", `${folder}/server.key`],
  ...["--tls-ca-cert-file", `${folder}/ca.crt`],
];
