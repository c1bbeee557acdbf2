/** The client of ZooKeeper before servers that are old, wrong or hostile. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { loadSettings } from "../../config/settings.ts";
import type { Backend } from "../backend.ts";
import { checkBackend } from "../connect.ts";
import { type JuteWriter, juteFrames, juteReader, juteWriter } from "./jute.ts";
import { ADD_WATCH, GET_CHILDREN, GET_DATA, NO_AUTH, UNIMPLEMENTED } from "./session.ts";
import { createZooKeeperBackend } from "./zookeeper.ts";

let server: Server | undefined;
let backend: Backend | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  await backend?.close();
  for (const socket of sockets) socket.destroy();
  server?.close();
});

const { settings } = loadSettings(new Map(), {});

/** A server that gives its own answers: an error, or what follows the head; or none. */
async function answering(
  answer: (operation: number, path: string) => number | undefined | ((body: JuteWriter) => JuteWriter),
  own: Partial<typeof settings> = {},
): Promise<Backend> {
  server = createServer((socket) => {
    sockets.add(socket);
    const frames = juteFrames(1_000_000);
    let isGreeted = false;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const message of frames(chunk)) {
        if (!isGreeted) {
          isGreeted = true;
          socket.write(juteWriter().int(0).int(3000).long(1n).bytes("").frame());
          continue;
        }
        const request = juteReader(message);
        const xid = request.int();
        const operation = request.int();
        const given = xid > 0 && operation > 0 ? answer(operation, request.bytes()) : 0;
        if (given === undefined) continue;
        const head = juteWriter().int(xid).long(1n);
        const error = typeof given === "number" ? given : 0;
        const body = typeof given === "number" ? head.int(error) : given(head.int(0));
        socket.write(body.frame());
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  backend = createZooKeeperBackend({ ...settings, nodes: [`127.0.0.1:${port}`], interval: 100, ...own });
  return backend;
}

const node =
  (data: string, children: number) =>
  (body: JuteWriter): JuteWriter => {
    const stat = body.bytes(data);
    for (let at = 0; at < 14; at++) stat.int(0);
    return stat.int(children).long(0n);
  };
const children =
  (names: readonly string[]) =>
  (body: JuteWriter): JuteWriter => {
    const list = body.int(names.length);
    for (const name of names) list.bytes(name);
    return list;
  };
const read = (made: Backend, signal = new AbortController().signal) => made.read(["/a"], { signal });

it("CONFD-ZK-6 answers that are cut off, or say what cannot be, are errors", () => {
  const list = juteWriter().int(0x7fffffff).frame().subarray(4);
  expect(() => juteReader(list).list()).toThrow("cut off");
  expect(() => juteReader(juteWriter().int(5).frame().subarray(4)).bytes()).toThrow("cut off");
  expect(() => juteReader(Buffer.alloc(3)).int()).toThrow("cut off");
  expect(() => juteFrames(10)(juteWriter().bytes("too long").frame())).toThrow("an answer of 12 bytes");
  expect(() => juteFrames(10)(Buffer.from([255, 255, 255, 255]))).toThrow("an answer of -1 bytes");
});

it("CONFD-ZK-6 messages are found however the network cuts them", () => {
  const message = Buffer.concat([juteWriter().bytes("one").frame(), juteWriter().bytes("").frame()]);
  for (let size = 1; size <= message.length; size++) {
    const frames = juteFrames(100);
    const found: string[] = [];
    for (let at = 0; at < message.length; at += size)
      found.push(...frames(message.subarray(at, at + size)).map((frame) => juteReader(frame).bytes()));
    expect(found).toEqual(["one", ""]);
  }
});

it("CONFD-ZK-6 a tree without end is left when the time is over", async () => {
  const made = await answering((operation) =>
    operation === GET_DATA ? node("", 1) : operation === GET_CHILDREN ? children(["x"]) : 0,
  );
  await expect(read(made, AbortSignal.timeout(200))).rejects.toThrow();
});

it.each(["", "..", "b/c"])("CONFD-ZK-6 a child with the name %j is none", async (name) => {
  const made = await answering((operation) =>
    operation === GET_DATA ? node("", 1) : operation === GET_CHILDREN ? children([name]) : 0,
  );
  await expect(read(made)).rejects.toThrow("a child has no name");
});

it("CONFD-ZK-2 a node may have more children than a call takes arguments", async () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `${index}`);
  const made = await answering((operation, path) => {
    if (operation === GET_CHILDREN) return children(names);
    return path === "/a" ? node("", names.length) : operation === GET_DATA ? NO_AUTH : 0;
  });
  await expect(read(made)).rejects.toThrow(/^zookeeper: \/a\/[0-9]+: not authorized$/);
});

it("CONFD-ZK-2 a read that failed asks for nothing more", async () => {
  const names = Array.from({ length: 2000 }, (_, index) => `${index}`);
  let asked = 0;
  const made = await answering((operation, path) => {
    if (operation === GET_CHILDREN) return children(names);
    if (operation !== GET_DATA) return 0;
    asked += 1;
    return path === "/a/0" ? NO_AUTH : node("", path === "/a" ? names.length : 0);
  });
  await expect(read(made)).rejects.toThrow("/a/0: not authorized");
  // Each is answered behind what was on its way, of which there are 256 at most.
  for (let times = 0; times < 20; times++) await made.health(new AbortController().signal);
  expect(asked).toBeLessThan(names.length);
});

it("CONFD-ZK-4 a session that leaves a request without an answer is given up with it", async () => {
  let silent = false;
  const made = await answering(
    (operation) => (operation === GET_DATA ? (silent ? undefined : node("v", 0)) : 0),
    { backendTimeout: 100 },
  );
  const stop = new AbortController();
  const watch = () => {
    const ready = Promise.withResolvers<unknown>();
    const ended = made.watch!(
      ["/a"],
      { onReady: ready.resolve, onChange: () => {}, onNotice: () => {} },
      stop.signal,
    );
    return { ready: ready.promise, ended };
  };
  const first = watch();
  await first.ready;
  silent = true;
  const given = expect(first.ended).rejects.toThrow("does not answer");
  await expect(read(made)).rejects.toThrow("does not answer");
  await given;
  silent = false;
  await watch().ready;
  expect((await read(made)).values).toEqual(new Map([["/a", "v"]]));
  stop.abort();
});

it("CONFD-ZK-3 a server before 3.6 is read again and again, and named", async () => {
  const made = await answering((operation) =>
    operation === ADD_WATCH ? UNIMPLEMENTED : operation === GET_DATA ? node("v", 0) : 0,
  );
  const stop = new AbortController();
  const notices: string[] = [];
  const change = Promise.withResolvers<object>();
  const watching = made.watch!(
    ["/a"],
    {
      onReady: () => {},
      onChange: change.resolve,
      onNotice: (_level, message) => notices.push(message),
    },
    stop.signal,
  );
  expect(await change.promise).toEqual({});
  expect(notices).toEqual([expect.stringContaining("older than 3.6")]);
  expect(await read(made)).toEqual({ values: new Map([["/a", "v"]]) });
  stop.abort();
  await watching;
});

it("CONFD-ZK-4 nodes that are no addresses, and TLS, are refused at the start", () => {
  const own = { ...settings, backend: "zookeeper" };
  expect(() => createZooKeeperBackend({ ...own, nodes: ["a:b"] })).toThrow("not an address: use host:port");
  expect(() => checkBackend({ ...own, clientCaKeys: "/ca" }, {})).toThrow("TLS are not included");
});
