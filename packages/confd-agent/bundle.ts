/** Bundles the agent: one ESM file with its source map. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, "../..");

/** CommonJS packages in an ESM file need a `require` for Node's own modules. */
const BANNER = `import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

/**
 * Node's modules are loaded where the code that imports them first runs: imports of an ESM file are all loaded at its start,
 * those of backends that are not used too, and `http` alone brings WebSocket, undici and HTTP/2.
 */
const lazyNode: Plugin = {
  name: "lazy-node",
  setup(setup) {
    setup.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "import-statement" && process.getBuiltinModule(path) !== undefined
        ? { path, namespace: "builtin" }
        : undefined,
    );
    setup.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};

export interface BundleOptions {
  /** Where the file goes; its map stands beside it. */
  readonly outfile: string;
}

/** Bundles, and returns the size in bytes. */
export async function bundle({ outfile }: BundleOptions): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8")) as { version: string };
  const { metafile } = await build({
    entryPoints: [join(HERE, "src/main.ts")],
    outfile,
    absWorkingDir: ROOT,
    bundle: true,
    platform: "node",
    target: "node22",
    format: "esm",
    conditions: ["quartet-source"],
    sourcemap: "external",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    metafile: true,
    plugins: [lazyNode],
    banner: { js: BANNER },
    define: { CONFD_VERSION: JSON.stringify(version), CONFD_COMMIT: JSON.stringify(commit()) },
    logLevel: "warning",
  });
  return Object.entries(metafile.outputs).find(([file]) => file.endsWith(".mjs"))?.[1].bytes ?? 0;
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}
