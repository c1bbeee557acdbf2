/** Keeps connections that say nothing from holding out those of the API server. */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { Clock } from "../clock.ts";

/** Connections at a time. An API server opens one for each call that runs, and keeps few. */
const MAX_CONNECTIONS = 512;
/** Time for the handshake and the head of the first request. */
const FIRST_REQUEST_MS = 10_000;

interface Connection {
  /** A call has been answered on it with 200: it is an API server's. */
  known: boolean;
  calls: number;
  cancel(): void;
}

/** Tells of a call; the function that it returns tells of its end, and whether it was answered with 200. */
export type CallBegan = (socket: Socket) => (answered: boolean) => void;

/**
 * Ends connections without a request after 10 s. At the limit the oldest without a running call makes room for a new one,
 * those that never had a good answer first, so nobody can hold the API server out by sitting on connections.
 */
export function limitConnections(server: Server, clock: Clock, max: number = MAX_CONNECTIONS): CallBegan {
  const open = new Map<string, Connection & { socket: Socket }>();
  const makeRoom = (): void => {
    const idle = [...open].filter(([, { calls }]) => calls === 0);
    const [id, connection] = idle.find(([, { known }]) => !known) ?? idle[0] ?? [];
    if (id === undefined) return;
    connection?.socket.destroy();
    open.delete(id);
  };
  // These are the sockets below TLS: one whose handshake never ends counts as well.
  server.on("connection", (socket: Socket) => {
    if (open.size >= max) makeRoom();
    if (open.size >= max) {
      socket.destroy();
      return;
    }
    const id = idOf(socket);
    const cancel = clock.setTimer(FIRST_REQUEST_MS, () => socket.destroy(), { unref: true });
    const connection = { socket, known: false, calls: 0, cancel };
    open.set(id, connection);
    socket.once("close", () => {
      cancel();
      if (open.get(id) === connection) open.delete(id);
    });
  });
  return (socket) => {
    const connection = open.get(idOf(socket));
    if (connection === undefined) return () => {};
    connection.cancel();
    connection.calls++;
    return (answered) => {
      connection.calls--;
      if (answered) connection.known = true;
    };
  };
}

/** The same for a socket and for the one below it. */
function idOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
