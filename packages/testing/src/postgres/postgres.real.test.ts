/** The PostgreSQL server of tests, with its real programs. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findPostgres } from "./programs.ts";
import { type PostgresServer, startPostgres } from "./server.ts";

let server: PostgresServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

it("keeps its data and its port over a restart, whatever the names in it", async () => {
  server = await startPostgres();
  const odd = `o'd"d %/@ ü`;
  await server.createDatabase(odd);
  await server.createUser(odd, `'"; drop`);
  await server.query("create table t(a int); insert into t values (1), (2)", odd);
  const { port } = server;
  await server.stop();
  await expect(server.query("select 1")).rejects.toThrow("Connection refused");
  await server.start();
  expect(server.port).toBe(port);
  expect(await server.query("select a, 'x' from t order by a", odd)).toBe("1|x\n2|x");
  await expect(server.query("select nonsense")).rejects.toThrow('column "nonsense" does not exist');
});

it("offers TLS with a certificate of its own CA, and becomes read-only and writable again", async () => {
  server = await startPostgres({ tls: true, settings: { timezone: "Asia/Tokyo" } });
  expect(server.caPem).toContain("BEGIN CERTIFICATE");
  expect(await server.query("show timezone")).toBe("Asia/Tokyo");
  expect(await server.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()")).toBe("t");
  const probe = "reset default_transaction_read_only; create table probe()";
  await server.setReadOnly(true);
  await expect(server.query(probe)).rejects.toThrow("read-only transaction");
  await server.query("create table written()");
  await server.setReadOnly(false);
  await server.query(probe);
});

it("ends with the process that started it, even when that is killed", async () => {
  const module = new URL("./server.ts", import.meta.url).href;
  const script = `const { startPostgres } = await import(${JSON.stringify(module)});
    const { port, query } = await startPostgres();
    console.log(JSON.stringify({ port, data: await query("show data_directory") }));
    setInterval(() => {}, 1000);`;
  const child = spawn(
    process.execPath,
    ["--conditions=quartet-source", "--input-type=module", "--eval", script],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } },
  );
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
  const { port, data } = JSON.parse(line) as { port: number; data: string };
  expect(await isListening(port)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => isListening(port), { timeout: 30_000 }).toBe(false);
  await expect.poll(() => existsSync(data), { timeout: 30_000 }).toBe(false);
  expect(spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout).not.toContain(data);
  // Its log is kept for whoever wants to know why the process ended.
  rmSync(dirname(data), { recursive: true });
});

it("says what to install when the programs are missing", () => {
  const env = { QUARTET_TEST_POSTGRES: "/nowhere" };
  expect(() => findPostgres(env)).toThrow(/QUARTET_TEST_POSTGRES=\/nowhere: install them \(Debian: package/);
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
