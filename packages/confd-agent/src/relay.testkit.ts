/** A relay before a server on loopback: it counts what passes, cuts what is connected, and turns connections away. */
import { createConnection, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { portAllocator } from "@quartet/testing";

export interface Relay {
  readonly address: string;
  /** Pieces and bytes that came from the server so far. */
  readonly received: { readonly pieces: number; readonly bytes: number };
  /** Calls back with each piece that a client sends; the server gets it, and what follows, when the call has ended. */
  onRequest(call: (piece: Buffer) => void | Promise<void>): void;
  /** Ends all connections. */
  cut(): void;
  /** What is connected stays so, and nothing passes any more: as behind a wall that forgot the connections. */
  freeze(): void;
  /** Whether connections are turned away from now on. */
  refuse(refused: boolean): void;
  close(): Promise<void>;
}

/** Relays to `HOST:PORT`; on a free port, or on a socket in the file system. */
export async function startRelay(target: string, socket?: string): Promise<Relay> {
  const [host = "", port = ""] = target.split(":");
  const ports = portAllocator();
  const open = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  const received = { pieces: 0, bytes: 0 };
  let refused = false;
  let told = (_piece: Buffer): void | Promise<void> => {};
  const server = createServer((client) => {
    const upstream = createConnection(Number(port), host);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.on("error", () => {});
    }
    let sent = Promise.resolve();
    const isFrozen = (): boolean => frozen.has(client);
    client.on("data", (piece) => {
      if (isFrozen()) return;
      sent = sent.then(() => told(piece)).then(() => void upstream.write(piece));
    });
    upstream.on("data", (piece) => {
      if (isFrozen()) return;
      received.pieces += 1;
      received.bytes += piece.length;
      client.write(piece);
    });
    if (refused) client.destroy();
  });
  const own = socket ?? (await ports.allocate());
  await listen(server, typeof own === "string" ? { path: own } : { port: own, host: "127.0.0.1" });
  const cut = (): void => {
    for (const one of open) one.destroy();
  };
  return {
    address: typeof own === "string" ? own : `127.0.0.1:${own}`,
    received,
    onRequest: (call) => {
      told = call;
    },
    cut,
    freeze: () => {
      for (const one of open) frozen.add(one);
    },
    refuse: (isRefused) => {
      refused = isRefused;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
      ports.releaseAll();
    },
  };
}

const listen = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, resolve);
  });
