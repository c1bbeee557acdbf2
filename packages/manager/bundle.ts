/** Bundles the program, with all CRDs for `quartet dev`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { bundleProgram, commit, versionOf } from "../../tools/bundle.ts";

const HERE = import.meta.dirname;
const CRDS = resolve(HERE, "../../crds");
/** Largest bundle (CORE-515). */
const MAX_BYTES = 3 * 1024 * 1024;

export interface BundleOptions {
  /** Where the file goes, for example `dist/manager.mjs`; its map and `….LICENSES.txt` stand beside it. */
  outfile: string;
  /** Default: the program's entry. */
  entry?: string;
}

/** Bundles, and rejects when the outcome holds what it must not. Returns its size in bytes. */
export async function bundle({ outfile, entry = join(HERE, "src/main.ts") }: BundleOptions): Promise<number> {
  return await bundleProgram({
    entry,
    outfile,
    maxBytes: MAX_BYTES,
    define: {
      QUARTET_VERSION: JSON.stringify(versionOf(HERE)),
      QUARTET_COMMIT: JSON.stringify(commit()),
      QUARTET_CRDS: JSON.stringify(crds()),
    },
  });
}

/** File name → YAML, as JSON, compressed, in base64: a program that never applies them carries a tenth of their size. */
function crds(): string {
  const files = readdirSync(CRDS).filter((name) => name.endsWith(".yaml"));
  const texts = Object.fromEntries(files.map((name) => [name, readFileSync(join(CRDS, name), "utf8")]));
  return brotliCompressSync(JSON.stringify(texts)).toString("base64");
}
