/** The outside world of the Echo controller: takes notice of cleanups. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CleanupEndpoint {
  readonly url: string;
  /** Each call as `namespace/name` with its arrival in milliseconds since the Unix epoch. */
  readonly calls: readonly { readonly key: string; readonly at: number }[];
  /** Answers the next calls with 500. */
  failNext(times: number): void;
  close(): Promise<void>;
}

export async function startCleanupEndpoint(): Promise<CleanupEndpoint> {
  const calls: { key: string; at: number }[] = [];
  let failures = 0;
  const server = createServer((request, response) => {
    calls.push({ key: (request.url ?? "").slice(1), at: Date.now() });
    response.statusCode = failures > 0 ? 500 : 200;
    failures = Math.max(0, failures - 1);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    failNext(times) {
      failures = times;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
