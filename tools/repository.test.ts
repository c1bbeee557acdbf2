/** Rules about the repository itself: its layout, its tool chain, its image. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { AGENT_NODE_FLAGS } from "../packages/confd-agent/bundle.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "./bundle.ts";
import { type Crd, crdTypes } from "./generate/crd-types.ts";
import { repository } from "./paths.ts";

const read = (path: string): string => readFileSync(`${repository}/${path}`, "utf8");
const json = <T>(path: string): T => JSON.parse(read(path)) as T;

interface Package {
  name: string;
  packageManager?: string;
  engines?: { node: string };
  exports?: Record<string, Record<string, string>>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

interface Workspace {
  catalog: Record<string, string>;
  allowBuilds: Record<string, boolean>;
}

const root = json<Package>("package.json");
const workspace = parse(read("pnpm-workspace.yaml")) as Workspace;
const names = readdirSync(`${repository}/packages`);
const packages = new Map(names.map((name) => [name, json<Package>(`packages/${name}/package.json`)]));
/** Packages of the repository that one needs at run time. */
const inner = ({ dependencies = {} }: Package): string[] =>
  Object.keys(dependencies)
    .filter((name) => name.startsWith("@quartet/"))
    .map((name) => name.slice("@quartet/".length));

/** Libraries without I/O that anything may stand on; each stands on those before it at most. */
const ENGINES = ["strategic-merge", "pod-template", "go-template", "tunnel-ingress"];
const PROGRAMS = ["manager", "confd-agent"];
const controllers = names.filter((name) => ![...ENGINES, ...PROGRAMS, "core", "testing"].includes(name));

describe("layout", () => {
  it("CORE-510 dependencies point down only: controllers stand on core and engines, the manager alone on controllers", () => {
    expect(names).toEqual(expect.arrayContaining(["core", "manager", "testing", "strategic-merge"]));
    const found = Object.fromEntries(names.map((name) => [name, inner(packages.get(name)!)]));
    const strays = (name: string, allowed: readonly string[]): string[] =>
      (found[name] ?? []).filter((other) => !allowed.includes(other)).map((other) => `${name} -> ${other}`);
    expect([
      ...ENGINES.flatMap((name, index) => strays(name, ENGINES.slice(0, index))),
      ...strays("core", []),
      ...strays("testing", ["core", ...ENGINES]),
      ...controllers.flatMap((name) => strays(name, ["core", ...ENGINES])),
      ...PROGRAMS.flatMap((name) => strays(name, ["core", ...ENGINES, ...controllers])),
    ]).toEqual([]);
    expect(found.manager).toEqual(expect.arrayContaining(controllers));
  });

  it("CORE-513 each package gives its source under a condition of its own, and compiles without its tests", () => {
    for (const [name, { exports }] of packages) {
      expect([name, exports?.["."]]).toEqual([
        name,
        { "quartet-source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
      ]);
      const { exclude } = json<{ exclude: string[] }>(`packages/${name}/tsconfig.json`);
      expect([name, exclude]).toEqual([name, expect.arrayContaining(["src/**/*.test.ts"])]);
    }
    expect(read("vitest.config.ts")).toContain("quartet-source");
  });
});

describe("tool chain", () => {
  it("CORE-511 one exact pnpm, one exact Node 24, exact versions in one catalog, and two packages that may run scripts", () => {
    expect(root.packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
    expect(root.engines?.node).toBe(">=22.19");
    expect(root.devDependencies?.node).toBe("catalog:");
    expect(workspace.catalog.node).toMatch(/^24\.\d+\.\d+$/);
    for (const [name, version] of Object.entries(workspace.catalog))
      expect(`${name} ${version}`).toMatch(/^\S+ \d+\.\d+\.\d+$/);
    // A package whose script must not run is named too, or the package manager asks.
    const allowed = Object.entries(workspace.allowBuilds).filter(([, allows]) => allows);
    expect(Object.fromEntries(allowed)).toEqual({ esbuild: true, node: true });
    for (const [name, { dependencies, devDependencies }] of packages) {
      const versions = Object.entries({ ...dependencies, ...devDependencies });
      const own = versions.filter(([, version]) => version !== "catalog:" && version !== "workspace:*");
      expect([name, own]).toEqual([name, []]);
    }
    expect(read("tools/run.mjs")).toContain(
      '["npx", "--yes", packageManager, "install", "--frozen-lockfile"]',
    );
  });

  it("CORE-512 TypeScript is strict, ESM only, and knows no syntax that has to be compiled", () => {
    const { compilerOptions } = json<{ compilerOptions: object }>("tsconfig.base.json");
    expect(compilerOptions).toMatchObject({
      target: "ES2023",
      module: "NodeNext",
      moduleResolution: "NodeNext",
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
      isolatedDeclarations: true,
      erasableSyntaxOnly: true,
      composite: true,
    });
    for (const name of names)
      expect(json<{ extends: string }>(`packages/${name}/tsconfig.json`).extends).toContain("tsconfig.base");
  });

  it("CORE-514 turbo builds packages in their order, keeps nothing elsewhere and reports nothing", () => {
    const { tasks, ...rest } = json<{ tasks: object }>("turbo.json");
    expect(tasks).toEqual({ build: { dependsOn: ["^build"], outputs: ["dist/**"] } });
    expect(Object.keys(rest)).not.toContain("remoteCache");
    expect(read("tools/run.mjs")).toContain('TURBO_TELEMETRY_DISABLED: "1"');
  });

  it("CORE-517 properties are tested where they are promised, and no test replaces the clock of the process", () => {
    const properties = {
      "JSON round trip": "client/json.test.ts",
      "patch round trip": "webhook/server.test.ts",
      "queue model": "queue/queue.model.test.ts",
      "version compare": "cache/resource-version.test.ts",
      "condition idempotence": "helpers/conditions.test.ts",
    };
    for (const file of Object.values(properties))
      expect([file, read(`packages/core/src/${file}`)]).toEqual([
        file,
        expect.stringMatching(/fc\.(property|asyncProperty)/),
      ]);
    const fakes = sources().filter((file) => read(file).includes(["vi", "useFakeTimers"].join(".")));
    expect(fakes).toEqual([]);
  });

  it("CORE-518 CORE-519 Biome and knip hold for the whole repository, with warnings and hints as errors", () => {
    interface Biome {
      linter: { rules: Record<string, Record<string, string>> };
      files: { includes: string[] };
    }
    const { linter, files } = json<Biome>("biome.json");
    expect(linter.rules).toMatchObject({
      style: { noDefaultExport: "error" },
      suspicious: { noExplicitAny: "error" },
      nursery: { noFloatingPromises: "error", noMisusedPromises: "error" },
    });
    expect(files.includes[0]).toBe("**");
    expect(read("tools/run.mjs")).toContain('"check", "--error-on-warnings", "."');
    const ci = read(".ci/run");
    for (const task of ["lint", "typecheck", "knip", "generate", "build"])
      expect(ci).toContain(`npm run -s ${task}`);
  });

  it("CORE-520 the types of custom resources are those of their CRDs", async () => {
    const generated = names
      .map((name) => `packages/${name}/src/api.gen.ts`)
      .filter((file) => sources().includes(file))
      .map(read)
      .join("\n");
    const crds = readdirSync(`${repository}/crds`);
    expect(crds.length).toBeGreaterThan(0);
    for (const file of crds) {
      const types = await crdTypes(parse(read(`crds/${file}`)) as Crd);
      expect(generated.includes(types), `types of crds/${file} are stale: run npm run generate`).toBe(true);
    }
  });

  it("CORE-521 the programs stand on thirteen libraries at most", () => {
    const libraries = [...packages]
      .filter(([name]) => name !== "testing")
      .flatMap(([, { dependencies = {} }]) => Object.keys(dependencies))
      .filter((name) => !name.startsWith("@quartet/"));
    expect([...new Set(libraries)].sort().length).toBeLessThanOrEqual(13);
  });
});

it("CORE-530 the image holds Node, the bundle, its map and its licences, and runs as a user without rights", () => {
  const [build = "", confd = "", run = ""] = read("Dockerfile").split("\nFROM ").slice(1);
  expect(confd).toMatch(/^\$\{CONFD_BASE\} AS confd$/m);
  expect(confd).toContain(
    `ENTRYPOINT ${JSON.stringify(["node", ...AGENT_NODE_FLAGS, "/app/quartet-confd.mjs"]).replaceAll(",", ", ")}`,
  );
  expect(read("Dockerfile")).toMatch(/^ARG RUN_BASE=\S*distroless\/nodejs24\S*$/m);
  expect(build).toContain("--platform=$BUILDPLATFORM");
  expect(build).toContain("--frozen-lockfile");
  expect(run).not.toMatch(/^RUN /m);
  const copied = [...run.replaceAll("\\\n", " ").matchAll(/^COPY --from=build (.*)$/gm)].flatMap((match) =>
    match[1]!.trim().split(/\s+/).slice(0, -1),
  );
  const files = ["manager.mjs", "manager.mjs.map", "manager.LICENSES.txt"];
  expect(copied).toEqual(files.map((file) => `/src/packages/manager/dist/${file}`));
  expect(run).toMatch(/^USER 65532:65532$/m);
  const [, entrypoint = ""] = /^ENTRYPOINT (.*)$/m.exec(run) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(["/nodejs/bin/node", ...NODE_FLAGS, "/app/manager.mjs"]);
  const [, environment = ""] = /^ENV (.*)$/m.exec(run) ?? [];
  for (const [name, value] of Object.entries(NODE_ENVIRONMENT)) {
    expect(environment.split(" ")).toContain(`${name}=${value}`);
  }
});

/** TypeScript files of the packages, relative to the repository. */
function sources(): string[] {
  return names.flatMap((name) =>
    readdirSync(`${repository}/packages/${name}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `packages/${name}/src/${file}`),
  );
}
