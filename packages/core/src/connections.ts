/** The connections of a server, so that it can end for certain. */
import type { Server, Socket } from "node:net";

/**
 * Follows the connections of a server that does not listen yet; the function destroys those that are open. Node's own
 * `closeAllConnections` knows nothing of a connection before its TLS handshake, and `close` waits for it.
 */
export function followConnections(server: Server): () => void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}
