/** Serving certificates from a folder that somebody else keeps current, such as cert-manager (CORE-351). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, sleep } from "../clock.ts";
import type { Logger } from "../observe/types.ts";
import { servingProblem } from "./certificates.ts";
import type { ServingPair } from "./server.ts";

/** The files are compared by content this often; a mounted Secret changes about once a minute at best. */
const READ_EVERY_MS = 10_000;

export interface FileCertificatesOptions {
  /** Folder with `tls.crt` and `tls.key`. */
  folder: string;
  clock: Clock;
  log: Logger;
  onChange: (pair: ServingPair) => void;
  /** Counts reads and failed reads (`certwatcher_read_certificate_total`, `…_errors_total`). */
  onRead?: (ok: boolean) => void;
}

/** Reads the pair once; rejects when it cannot be used. */
export async function readServingPair(folder: string, now: number): Promise<ServingPair> {
  const [cert, key] = await Promise.all([
    readFile(join(folder, "tls.crt"), "utf8"),
    readFile(join(folder, "tls.key"), "utf8"),
  ]);
  // The chain is for the API server to judge: here the leaf vouches for itself.
  const problem = servingProblem({ cert, key }, undefined, [], now);
  if (problem !== undefined) throw new Error(`${folder}: ${problem}`);
  return { cert, key };
}

/** Follows the folder until the signal aborts. A bad new pair is logged and counted, and the old one stays. */
export async function followServingPair(
  options: FileCertificatesOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, folder } = options;
  let current = "";
  while (!signal.aborted) {
    try {
      const pair = await readServingPair(folder, clock.now());
      options.onRead?.(true);
      if (pair.cert + pair.key !== current) {
        current = pair.cert + pair.key;
        options.onChange(pair);
      }
    } catch (error) {
      options.onRead?.(false);
      log.error("serving certificate could not be read, the old one stays", { error });
    }
    await sleep(clock, READ_EVERY_MS, signal).catch(() => {});
  }
}
