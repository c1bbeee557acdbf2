/** Bundles a program: one ESM file with its source map and the licences of what is in it. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { repository } from "./paths.ts";

/**
 * Node's flags for a bundle in production. V8 would let its young generation grow to three times 16 MiB under load and
 * keep it; with 4 MiB the manager is a third smaller with 10 000 pods in memory, and no slower (docs/performance.md).
 * Source maps are not read: they cost 27 MiB from the start, and the bundle's stacks name functions as the source does.
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];

/**
 * Environment of a bundle in production. glibc gives each thread that allocates an arena of its own, up to eight a
 * core, and they keep what was freed; with two the manager is a fifth smaller with 10 000 pods in memory
 * (docs/performance.md). It must be set before the process starts.
 */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "2" };

/** Method of client-node's generated API classes: they must not be in a bundle (CORE-516). */
const GENERATED_API = "readNamespacedPod";

/** CommonJS packages in an ESM file need a `require` for Node's own modules. */
const BANNER = `import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

/**
 * What bundles leave out: module → its importers → the module in its place. client-node's KubeConfig imports a
 * second HTTP stack, proxies and all API models for parts that are never called here: its agents are thrown away and
 * its API classes not used. `debug` works without colours, and `pg` without its native twin.
 */
const LEFT_OUT: readonly { module: RegExp; importer: RegExp; stub: string }[] = [
  {
    module: /^undici$/,
    importer: /client-node.dist.config\.js$/,
    stub: "export class Agent {} export class ProxyAgent {}",
  },
  {
    module: /^\.\/gen\/index\.js$/,
    importer: /client-node.dist.config\.js$/,
    stub: "export class ServerConfiguration {} export function createConfiguration() {}",
  },
  {
    module: /^\.\/middleware\.js$/,
    importer: /client-node.dist.config\.js$/,
    stub: "export function setHeaderMiddleware() {}",
  },
  {
    module: /^(socks|socks-proxy-agent|hpagent)$/,
    importer: /client-node.dist.config\.js$/,
    stub: "export class SocksClient {} export class SocksProxyAgent {} export class HttpProxyAgent {} export class HttpsProxyAgent {}",
  },
  { module: /^pg-native$/, importer: /pg.lib.native/, stub: "export default {};" },
  { module: /^supports-color$/, importer: /debug/, stub: "export default {};" },
];

const stubs: Plugin = {
  name: "stubs",
  setup(setup) {
    for (const [index, { module, importer }] of LEFT_OUT.entries()) {
      setup.onResolve({ filter: module }, (args) =>
        importer.test(args.importer) ? { path: String(index), namespace: "stub" } : undefined,
      );
    }
    setup.onLoad({ filter: /.*/, namespace: "stub" }, ({ path }) => ({
      contents: LEFT_OUT[Number(path)]!.stub,
      loader: "js",
    }));
  },
};

/**
 * Node's modules as CommonJS sees them, loaded where the code that imports them first runs. An ESM file loads all that it
 * imports at its start, with every export of theirs: those of `http` include WebSocket, which brings undici and HTTP/2.
 */
const lazyNode: Plugin = {
  name: "lazy-node",
  setup(setup) {
    setup.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "import-statement" && isNodeModule(path) ? { path, namespace: "builtin" } : undefined,
    );
    setup.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};

export interface ProgramOptions {
  /** The program's first file. */
  readonly entry: string;
  /** Where the bundle goes, for example `dist/manager.mjs`; its map and `….LICENSES.txt` stand beside it. */
  readonly outfile: string;
  /** Largest size, in bytes. */
  readonly maxBytes: number;
  /** Constants that the program expects: name → JavaScript expression. */
  readonly define: Readonly<Record<string, string>>;
}

/** Bundles, and rejects when the outcome holds what it must not. Returns its size in bytes. */
export async function bundleProgram({ entry, outfile, maxBytes, define }: ProgramOptions): Promise<number> {
  const { metafile } = await build({
    entryPoints: [entry],
    outfile,
    absWorkingDir: repository,
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
    plugins: [stubs, lazyNode],
    banner: { js: BANNER },
    define,
    logLevel: "warning",
  });
  // esbuild's external map is not named in the file, but Node's --enable-source-maps goes by the name.
  const text = `${readFileSync(outfile, "utf8")}//# sourceMappingURL=${basename(outfile)}.map\n`;
  check(metafile, text, maxBytes);
  writeFileSync(outfile, text);
  writeFileSync(outfile.replace(/\.mjs$/, ".LICENSES.txt"), licences(metafile));
  return Buffer.byteLength(text);
}

/** Commit of the sources, `unknown` outside of a repository. */
export function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}

/** Version of a package, by its folder. */
export function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

/** Throws when the bundle holds what it must not. */
function check(meta: Metafile, text: string, maxBytes: number): void {
  if (text.includes(GENERATED_API)) {
    throw new Error(`the bundle holds ${GENERATED_API}: something imports client-node's generated API`);
  }
  const [output] = Object.values(meta.outputs).filter((one) => one.entryPoint !== undefined);
  const outside = (output?.imports ?? []).filter(({ external }) => external).map(({ path }) => path);
  const foreign = outside.filter((path) => !isNodeModule(path));
  if (foreign.length > 0) throw new Error(`the bundle would look for ${foreign.join(", ")} in node_modules`);
  const wide = /.{0,30}[\u0100-\uffff]/.exec(text);
  if (wide !== null) {
    throw new Error(
      `V8 keeps a text with one such character with two bytes for each; write it as an escape: ${wide[0]}`,
    );
  }
  const size = Buffer.byteLength(text);
  if (size > maxBytes)
    throw new Error(`the bundle has ${size} bytes, more than ${maxBytes}: see what came in`);
}

/** With or without `node:`, as CommonJS packages name them. */
function isNodeModule(name: string): boolean {
  return process.getBuiltinModule(name) !== undefined;
}

/** Name, version and licence text of every package in the bundle. */
function licences(meta: Metafile): string {
  const folders = new Set<string>();
  for (const [output, { inputs }] of Object.entries(meta.outputs)) {
    if (output.endsWith(".map")) continue;
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      if (bytesInOutput > 0 && file.includes("node_modules"))
        folders.add(packageFolder(resolve(repository, file)));
    }
  }
  const texts = [...folders].map((folder) => {
    const {
      name,
      version: own,
      license,
    } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text =
      file === undefined ? "(no licence file in the package)" : readFileSync(join(folder, file), "utf8");
    return `${name} ${own} (${license})\n\n${text.trim()}\n`;
  });
  return texts.sort().join(`\n${"-".repeat(80)}\n\n`);
}

/** Folder of the package that a file in `node_modules` belongs to. */
function packageFolder(file: string): string {
  const marker = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(marker) + marker.length;
  const [first = "", second = ""] = file.slice(at).split(sep);
  return join(file.slice(0, at), first.startsWith("@") ? join(first, second) : first);
}
