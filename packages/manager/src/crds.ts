/** The CRDs of the controllers: built into the program, or read from the repository when it runs from source. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { type Client, type Clock, type ControllerModule, type Logger, sleep } from "@quartet/core";
import { CUSTOM_RESOURCE_DEFINITION, type CustomResourceDefinition } from "@quartet/core/kinds";
import { parse } from "yaml";

/** File name → YAML, as JSON, compressed by Brotli, in base64; the bundler fills it in. */
declare const QUARTET_CRDS: string | undefined;

/** Where the CRDs stand, seen from this file. */
const SOURCE_FOLDER = "../../../crds";

/** Limit for a new CRD to be served, and the pause between two looks. */
const ESTABLISHED_MS = 30_000;
const POLL_MS = 100;

/** CRDs that these modules need. */
export async function crdsOf(modules: readonly ControllerModule[]): Promise<CustomResourceDefinition[]> {
  const files = [...new Set(modules.flatMap((module) => module.crds))];
  const built = typeof QUARTET_CRDS === "string" ? unpack(QUARTET_CRDS) : {};
  const textOf = (file: string): string | Promise<string> =>
    built[file] ?? readFile(join(import.meta.dirname, SOURCE_FOLDER, file), "utf8");
  return Promise.all(files.map(async (file) => parse(await textOf(file)) as CustomResourceDefinition));
}

function unpack(packed: string): Readonly<Record<string, string>> {
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString("utf8"));
}

/** Applies CRDs and waits until all are served. */
export async function applyCrds(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  clock: Clock,
  log: Logger,
): Promise<void> {
  const limit = AbortSignal.timeout(ESTABLISHED_MS);
  for (const crd of crds) {
    await client.applyOwned(CUSTOM_RESOURCE_DEFINITION, crd, { fieldManager: "quartet-dev" });
    log.info("CRD applied", { crd: crd.metadata.name });
  }
  for (const crd of crds) {
    const key = { namespace: "", name: crd.metadata.name ?? "" };
    while (!isEstablished(await client.get(CUSTOM_RESOURCE_DEFINITION, key))) {
      await sleep(clock, POLL_MS, limit).catch(() => {
        throw new Error(
          `CRD ${key.name} is not served within ${ESTABLISHED_MS / 1_000} s; see its conditions`,
        );
      });
    }
  }
  client.discovery.invalidate();
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some((condition) => condition.type === "Established" && condition.status === "True") ??
  false;
