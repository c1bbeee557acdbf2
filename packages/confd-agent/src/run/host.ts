/** The host as templates see it. */
import { lookup, resolveSrv } from "node:dns/promises";
import { statSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import type { Environment } from "../config/settings.ts";
import { codeOf } from "../errors.ts";
import type { RenderHost } from "./render.ts";

/** Limit for a name server, in milliseconds. */
const LIMIT_MS = 5000;
const NANOS_PER_MILLI = 1_000_000n;

/** Answers with their failures as emptiness, and with a limit. */
function within<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<readonly T[]>((resolve) => {
    timer = setTimeout(() => resolve([]), LIMIT_MS);
  });
  return Promise.race([answer.catch(() => []), limit]).finally(() => clearTimeout(timer));
}

/** The host at this moment; answers of name servers are kept for as long as the object lives: one wave. */
export function currentHost(environment: Environment): RenderHost {
  const addresses = new Map<string, Promise<readonly string[]>>();
  return {
    environment,
    fileExists: (path) => {
      try {
        statSync(path);
        return true;
      } catch (error) {
        return codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR";
      }
    },
    now: BigInt(Date.now()) * NANOS_PER_MILLI,
    hostname: hostname(),
    interfaceAddress: (name, family) =>
      networkInterfaces()[name]?.find((one) => one.family === `IPv${family}`)?.address ?? "",
    resolveAddresses: (name) => {
      const known =
        addresses.get(name) ??
        within(
          lookup(name, { all: true }).then((found) => [...new Set(found.map(({ address }) => address))]),
        );
      addresses.set(name, known);
      return known;
    },
    resolveServices: (name) =>
      within(
        resolveSrv(name).then((records) =>
          records.map(({ name: target, port, priority, weight }) => ({
            target: `${target}.`,
            port,
            priority,
            weight,
          })),
        ),
      ),
  };
}
