/** The connection against a real PostgreSQL server. */
import { getEventListeners } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type PostgresServer, startPostgres } from "@quartet/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { databaseLimits, withDatabase } from "./connection.ts";
import type { DatabaseError } from "./errors.ts";
import { hostRules } from "./hosts.ts";
import type { PostgresTarget, SslMode } from "./target.ts";

const ODD_USER = `o'p"s %41@/\\:? ü`;
const ODD_PASSWORD = ` p%41%ss@w/o:r'd"\\ ü#&= `;
const ODD_DATABASE = `d'b" %2F@/=?ü`;
const LIMITS = databaseLimits(hostRules("127.0.0.0/8"));
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
    const rows = await withDatabase(to, LIMITS, NEVER, (db) => db.query<{ ssl: boolean }>(TLS));
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
      const rows = await withDatabase(target(server, odd), LIMITS, NEVER, (db) => db.query(sql, [`'; "`]));
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
      const error: unknown = await withDatabase(target(plain, more), LIMITS, NEVER, async () => {}).catch(
        (e) => e,
      );
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
        withDatabase(target(plain, { password: "" }), LIMITS, NEVER, async () => {}),
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
    const error = withDatabase(target(plain, { port, timeoutMs: 300 }), LIMITS, NEVER, async () => {});
    await expect(error).rejects.toMatchObject({ reason: "DatabaseUnreachable" });
    await expect.poll(() => sockets.map((socket) => socket.closed)).toEqual([true]);
  });

  it("NACOS-722 ends a statement that takes too long, on the server as well", async () => {
    const running = (): Promise<string> =>
      plain.query(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(61)%' and pid <> pg_backend_pid()",
      );
    const slow = withDatabase(target(plain, { timeoutMs: 1_000 }), LIMITS, NEVER, (db) =>
      db.transaction(() => db.query("select pg_sleep(61)")),
    );
    await expect(slow).rejects.toMatchObject({ reason: "Timeout" });
    await expect.poll(running, { timeout: 20_000 }).toBe("0");
  });

  it("ends at once with the signal, and rejects with its reason", async () => {
    const { port, sockets } = await stage();
    const controller = new AbortController();
    const work = withDatabase(target(plain, { port }), LIMITS, controller.signal, async () => {});
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
      [{ port, timeoutMs: 321 }, "DatabaseUnreachable"],
    ];
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    try {
      for (const [more, end] of ends) {
        const to = target(plain, { timeoutMs: 20_123, ...more });
        const { timeoutMs } = to;
        const work = withDatabase(to, LIMITS, signal, async () => "done");
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
    await withDatabase(target(plain), LIMITS, NEVER, async (db) => {
      const failing = db.transaction(async () => {
        await db.query("create table half_done (a int)");
        await db.query("select no_such_column");
      });
      await expect(failing).rejects.toMatchObject({ reason: "StatementFailed", sqlState: "42703" });
      expect(await db.query("select to_regclass('half_done') as found")).toEqual([{ found: null }]);
    });
  });
});

/** A message of the protocol: type, length, content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
/** Authentication request of a kind: 0 none, 3 the password as it is. */
const authentication = (kind: number): Buffer => message("R", int32(kind));
const READY = message("Z", Buffer.from("I"));

describe("servers that lie", () => {
  /** A server that declines TLS, and then sends one thing after each that it gets. */
  async function liar(...answers: (Buffer | ((socket: Socket) => void))[]): Promise<{
    port: number;
    received: () => string;
    sockets: Socket[];
  }> {
    const sockets: Socket[] = [];
    let received = "";
    const server = createServer((socket) => {
      sockets.push(socket);
      const left = [...answers];
      socket.on("error", () => {});
      socket.on("data", (data) => {
        received += data.toString("latin1");
        // A request for TLS has eight bytes, and is declined.
        if (data.length === 8 && data.readUInt32BE(4) === 80877103) return void socket.write("N");
        const answer = left.shift();
        if (typeof answer === "function") answer(socket);
        else if (answer !== undefined) socket.write(answer);
      });
    });
    silent.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as { port: number }).port, received: () => received, sockets };
  }

  /** Sends the same for ever, as fast as it is taken; tells how much that was. */
  function endless(chunk: Buffer): { send: (socket: Socket) => void; sent: () => number } {
    let sent = 0;
    const send = (socket: Socket): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      sent += chunk.length;
      socket.once("drain", () => send(socket));
    };
    return { send, sent: () => sent };
  }

  const LOGIN = Buffer.concat([authentication(0), READY]);
  const failure = async (more: Partial<PostgresTarget>): Promise<unknown> =>
    withDatabase(target(plain, more), LIMITS, NEVER, (db) => db.query("select 1 as one")).catch(
      (error) => error,
    );

  it("NACOS-724 the password is not sent as it is to a server that nothing verifies", async () => {
    const password = "marker-7d1f";
    for (const [sslMode, sent] of [
      ["prefer", false],
      ["disable", true],
    ] as const) {
      const { port, received } = await liar(authentication(3), LOGIN);
      const error = await failure({ port, sslMode, password, timeoutMs: 2_000 });
      expect(received().includes(password)).toBe(sent);
      if (!sent) expect(error).toMatchObject({ reason: "PasswordNotSent" });
    }
  });

  it.each([
    [
      "a message of two gigabytes",
      Buffer.concat([Buffer.from("D"), int32(2_147_483_647)]),
      Buffer.alloc(65_536),
    ],
    ["rows without an end", message("T", Buffer.alloc(2)), message("D", Buffer.alloc(2))],
    ["notices without an end", message("N", Buffer.alloc(1)), message("N", Buffer.alloc(1))],
  ])("NACOS-1012 %s are cut off", async (_what, first, more) => {
    const stream = endless(
      Buffer.concat(Array.from({ length: Math.ceil(65_536 / more.length) }, () => more)),
    );
    for (const at of ["login", "answer"]) {
      const flood = (socket: Socket): void => {
        socket.write(first);
        stream.send(socket);
      };
      const { port, sockets } = await liar(...(at === "login" ? [flood] : [LOGIN, flood]));
      // Rows that nobody has asked for end the connection by themselves.
      const unasked = at === "login" && first.toString("latin1").startsWith("T");
      const reason = unasked ? "DatabaseUnreachable" : "AnswerTooLarge";
      expect(await failure({ port, timeoutMs: 60_000 })).toMatchObject({ reason });
      await expect.poll(() => sockets.every(({ closed }) => closed)).toBe(true);
    }
    // What the two sockets have on their way is more than what was read.
    expect(stream.sent()).toBeLessThan(64 * 1_048_576);
  });

  it("NACOS-1012 messages that nobody can read end the connection, and nothing else", async () => {
    // 65 535 fields, texts without an end, a length that is none, and each type with too little in it
    const types = [..."RKSZTDCEN1st2nAGHWcdI"];
    const garbage = [
      ...types.map((type) => message(type, Buffer.from([0xff, 0xff, 0xff]))),
      ...types.map((type) => message(type, Buffer.alloc(0))),
      Buffer.concat([Buffer.from("D"), int32(-2)]),
      Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
    ];
    for (const bytes of garbage) {
      for (const answers of [[bytes], [LOGIN, bytes]]) {
        const { port } = await liar(...answers, (socket) => socket.end());
        const ended = await failure({ port, timeoutMs: 400 });
        expect(ended).toSatisfy((end) => end instanceof Error || Array.isArray(end));
      }
    }
  });

  it("NACOS-1014 a server that the rules leave out is never connected to, by whatever name", async () => {
    const { port, sockets } = await liar(LOGIN);
    const limits = databaseLimits(hostRules(""));
    for (const host of ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0"]) {
      const error = await withDatabase(target(plain, { host, port }), limits, NEVER, async () => {}).catch(
        (e) => e,
      );
      expect(error).toMatchObject({ reason: "HostNotAllowed" });
    }
    expect(sockets).toEqual([]);
  });

  it("NACOS-1015 closed ports, silent ones and other services are told alike", async () => {
    const mute = await stage();
    const other = await stage("SSH-2.0-x\r\n");
    const texts = new Set<string>();
    for (const port of [1, mute.port, other.port]) {
      for (const sslMode of ["prefer", "disable"] as const) {
        const error = (await failure({ port, sslMode, timeoutMs: 500 })) as DatabaseError;
        expect(error.detail).toBeDefined();
        texts.add(`${error.reason} ${error.message.replace(`:${port};`, ":PORT;")}`);
      }
    }
    expect([...texts]).toEqual([
      "DatabaseUnreachable no PostgreSQL server answers at 127.0.0.1:PORT; the operator's log has the cause",
    ]);
  });
});
