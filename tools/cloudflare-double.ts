/**
 * `npm run -s cloudflare-double -- --port N`: starts a Cloudflare v4 API in this process, and prints its address and a
 * token; Ctrl-C stops it. stdout carries what a shell can `eval`.
 */
import { parseArgs } from "node:util";
import { createCloudflareDouble, DEFAULT_TOKEN } from "@quartet/testing";

const USAGE = `usage: cloudflare-double [--port N]

Starts a Cloudflare v4 API for tests on this machine: account test-account-id, zones example.com and test.com.
  --port N  port to listen on; default 8787, 0 = a free one

Beside the API it serves GET /health, GET /admin/requests?prefix=&method=, POST /admin/errors, POST /admin/latency,
POST /admin/tunnels/{id}/status, POST /admin/configurations/{id} and POST /admin/reset: docs/guides/tunnel-testing.md`;

/** Port of the peer's mock. */
const DEFAULT_PORT = "8787";

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const port = portOf(args);
  if (port === undefined) return 2;
  if (port === "help") return 0;
  let double: Awaited<ReturnType<typeof createCloudflareDouble>>;
  try {
    double = await createCloudflareDouble({ port });
  } catch (error) {
    console.error(`cannot listen on port ${port}: ${(error as Error).message}; give another one with --port`);
    return 1;
  }
  console.log(`export CLOUDFLARE_API_BASE_URL=${double.url}`);
  console.log(`export CLOUDFLARE_API_TOKEN=${DEFAULT_TOKEN}`);
  console.error(`requests: ${double.origin}/admin/requests; Ctrl-C stops it`);
  await stopSignal();
  await double.close();
  return 0;
}

/** The port asked for; after help or a complaint something else. */
function portOf(args: string[]): number | "help" | undefined {
  try {
    const options = {
      port: { type: "string", default: DEFAULT_PORT },
      help: { type: "boolean", short: "h" },
    } as const;
    const { values } = parseArgs({ args, options });
    if (values.help) {
      console.log(USAGE);
      return "help";
    }
    const port = Number(values.port);
    if (/^\d+$/.test(values.port) && port <= 65535) return port;
    console.error(`--port ${values.port}: a number from 0 to 65535 is needed`);
  } catch (error) {
    console.error((error as Error).message);
  }
  console.error(USAGE);
  return undefined;
}

function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
}
