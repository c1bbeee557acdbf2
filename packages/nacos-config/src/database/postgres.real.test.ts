/** The connection against a real PostgreSQL server. */
import { getEventListeners } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { withDatabase } from "./connection.ts";
import type { PostgresTarget, SslMode } from "./target.ts";

const ODD_USER = `o'p"s %41@/\\:? ü`;
const ODD_PASSWORD = ` p%41%ss@w/o:r'd"\\ ü#&= `;
const ODD_DATABASE = `d'b" %2F@/=?ü`;
const NEVER = new AbortController().signal;

let plain: PostgresServer;
let secure: PostgresServer;
let foreign: PostgresServer;
beforeAll(async () => {
  [plain, secure, foreign] = await Promise.all([
    startPostgres(),
    startPostgres({ tls: true }),
    startPostgres({ tls: true }),
  ]);
  for (const server of [plain, secure]) {
    await server.createUser(ODD_USER, ODD_PASSWORD);
    await server.createDatabase(ODD_DATABASE);
  }
});
afterAll(() => Promise.all([plain, secure, foreign].map((server) => server?.close())));

const silent: { server: Server; sockets: Socket[] }[] = [];
afterEach(() => {
  for (const { server, sockets } of silent.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

function target(server: PostgresServer, more: Partial<PostgresTarget> = {}): PostgresTarget {
  const { host, port, user, password } = server;
  return { host, port, user, password, database: "postgres", sslMode: "prefer", timeoutMs: 20_000, ...more };
}

const TLS = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
/** Whether the connection is encrypted, or the reason why there is none. */
async function encrypted(to: PostgresTarget): Promise<boolean | string> {
  try {
    const rows = await withDatabase(to, NEVER, (db) => db.query<{ ssl: boolean }>(TLS));
    return rows[0]!.ssl;
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

/** A server that accepts connections and reads, and answers with what it is given, or never. */
async function stage(answer?: string): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => answer !== undefined && socket.end(answer));
  });
  silent.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as { port: number }).port, sockets };
}

describe("credentials", () => {
  it("NACOS-712 takes any text as user, password and database, with and without TLS", async () => {
    for (const server of [plain, secure]) {
      const odd = { user: ODD_USER, password: ODD_PASSWORD, database: ODD_DATABASE };
      const sql = "select current_user as who, current_database() as what, $1::text as parameter";
      const rows = await withDatabase(target(server, odd), NEVER, (db) => db.query(sql, [`'; "`]));
      expect(rows).toEqual([{ who: ODD_USER, what: ODD_DATABASE, parameter: `'; "` }]);
    }
  });

  it("NACOS-721 NACOS-813: errors carry SQLSTATE and words of the operator, never a credential", async () => {
    const cases: [Partial<PostgresTarget>, object][] = [
      [{ password: "marker-7d1f" }, { reason: "LoginRefused", sqlState: "28P01" }],
      [{ password: "" }, { reason: "LoginRefused" }],
      [{ user: "marker-7d1f" }, { reason: "LoginRefused" }],
      [{ database: "marker-7d1f" }, { reason: "DatabaseNotFound", sqlState: "3D000" }],
      [{ port: 1, password: "marker-7d1f" }, { reason: "DatabaseUnreachable" }],
      [{ sslMode: "require", password: "marker-7d1f" }, { reason: "TlsUnavailable" }],
      [
        { port: secure.port, sslMode: "verify-full", caPem: foreign.caPem, password: "marker-7d1f" },
        { reason: "TlsFailed" },
      ],
    ];
    for (const [more, expected] of cases) {
      const error: unknown = await withDatabase(target(plain, more), NEVER, async () => {}).catch((e) => e);
      expect(error).toMatchObject(expected);
      const text = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`;
      expect(text).not.toContain("marker-7d1f");
      expect((error as Error).cause).toBeUndefined();
    }
  });

  it("takes nothing from the environment", async () => {
    const names = {
      PGPASSWORD: plain.password,
      PGSSLMODE: "verify-full",
      PGHOST: "nowhere",
      PGUSER: "nobody",
    };
    Object.assign(process.env, names);
    try {
      await expect(
        withDatabase(target(plain, { password: "" }), NEVER, async () => {}),
      ).rejects.toMatchObject({ reason: "LoginRefused" });
      expect(await encrypted(target(plain))).toBe(false);
    } finally {
      for (const name of Object.keys(names)) delete process.env[name];
    }
  });
});

describe("TLS", () => {
  it("NACOS-724 encrypts as the mode says, and falls back for prefer alone", async () => {
    const modes: SslMode[] = ["disable", "prefer", "require", "verify-ca", "verify-full"];
    const over = async (server: PostgresServer, more: Partial<PostgresTarget>): Promise<unknown[]> =>
      Promise.all(modes.map((sslMode) => encrypted(target(server, { ...more, sslMode }))));
    const { caPem } = secure;
    expect(await over(secure, { caPem })).toEqual([false, true, true, true, true]);
    expect(await over(plain, { caPem })).toEqual([
      false,
      false,
      "TlsUnavailable",
      "TlsUnavailable",
      "TlsUnavailable",
    ]);
    // Another CA, and a name that the certificate does not carry; without a CA, `require` takes what there is.
    expect(await over(foreign, { caPem })).toEqual([false, true, "TlsFailed", "TlsFailed", "TlsFailed"]);
    expect(await encrypted(target(foreign, { sslMode: "require" }))).toBe(true);
    const elsewhere = { caPem, host: "127.0.0.2" };
    expect(await over(await listeningEverywhere(), elsewhere)).toEqual([
      false,
      true,
      true,
      true,
      "TlsFailed",
    ]);
  });

  it("NACOS-724 does not fall back when the handshake fails after the server has agreed to TLS", async () => {
    const { port, sockets } = await stage("S");
    expect(await encrypted(target(plain, { port }))).toBe("DatabaseUnreachable");
    expect(sockets).toHaveLength(1);
  });

  /** A way to the secure server over another address. */
  async function listeningEverywhere(): Promise<PostgresServer> {
    const { connect } = await import("node:net");
    const sockets: Socket[] = [];
    const server = createServer((inbound) => {
      const outbound = connect(secure.port, secure.host);
      sockets.push(inbound, outbound);
      for (const socket of [inbound, outbound]) socket.on("error", () => {});
      inbound.pipe(outbound).pipe(inbound);
    });
    silent.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    return { ...secure, port: (server.address() as { port: number }).port };
  }
});

describe("limits", () => {
  it("NACOS-722 ends a connection that a server accepts and never answers", async () => {
    const { port, sockets } = await stage();
    const error = withDatabase(target(plain, { port, timeoutMs: 300 }), NEVER, async () => {});
    await expect(error).rejects.toMatchObject({
      reason: "Timeout",
      message: expect.stringMatching(/^timeout: /),
    });
    await expect.poll(() => sockets.map((socket) => socket.closed)).toEqual([true]);
  });

  it("NACOS-722 ends a statement that takes too long, on the server as well", async () => {
    const running = (): Promise<string> =>
      plain.query(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(61)%' and pid <> pg_backend_pid()",
      );
    const slow = withDatabase(target(plain, { timeoutMs: 1_000 }), NEVER, (db) =>
      db.transaction(() => db.query("select pg_sleep(61)")),
    );
    await expect(slow).rejects.toMatchObject({ reason: "Timeout" });
    await expect.poll(running, { timeout: 20_000 }).toBe("0");
  });

  it("ends at once with the signal, and rejects with its reason", async () => {
    const { port, sockets } = await stage();
    const controller = new AbortController();
    const work = withDatabase(target(plain, { port }), controller.signal, async () => {});
    await expect.poll(() => sockets.length).toBe(1);
    controller.abort(new Error("the resource has gone"));
    await expect(work).rejects.toThrow("the resource has gone");
    await expect.poll(() => sockets.map((socket) => socket.closed)).toEqual([true]);
  });

  it("leaves no timer and no listener, however the connection ends", async () => {
    const { signal } = new AbortController();
    const { port } = await stage();
    const ends: [Partial<PostgresTarget>, string][] = [
      [{}, "done"],
      [{ port: 1 }, "DatabaseUnreachable"],
      [{ password: "" }, "LoginRefused"],
      [{ port }, "Timeout"],
    ];
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    try {
      for (const [more, end] of ends) {
        const timeoutMs = end === "Timeout" ? 321 : 20_123;
        const to = target(plain, { timeoutMs, ...more });
        const work = withDatabase(to, signal, async () => "done");
        expect(await work.catch(({ reason }) => reason)).toBe(end);
        const timers = set.mock.results.filter((_, index) => set.mock.calls[index]![1] === timeoutMs);
        const cleared = clear.mock.calls.map(([timer]) => timer);
        expect(timers.length).toBeGreaterThanOrEqual(1);
        expect(timers.filter(({ value }) => !cleared.includes(value))).toEqual([]);
        expect(getEventListeners(signal, "abort")).toEqual([]);
        set.mockClear();
      }
    } finally {
      set.mockRestore();
      clear.mockRestore();
    }
  });

  it("NACOS-718 leaves nothing behind of a transaction that fails, and goes on after it", async () => {
    await withDatabase(target(plain), NEVER, async (db) => {
      const failing = db.transaction(async () => {
        await db.query("create table half_done (a int)");
        await db.query("select no_such_column");
      });
      await expect(failing).rejects.toMatchObject({ reason: "StatementFailed", sqlState: "42703" });
      expect(await db.query("select to_regclass('half_done') as found")).toEqual([{ found: null }]);
    });
  });
});
