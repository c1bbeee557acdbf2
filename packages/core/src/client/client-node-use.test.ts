import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { authority } from "./certificates.testkit.ts";
import { kubeconfig, temporaryFolder } from "./testkit.testkit.ts";

const PACKAGES = join(import.meta.dirname, "../../..");

/** Source files of all packages, without their tests. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === "node_modules" || entry.name === "dist" ? [] : sources(path);
    return /(?<!\.test|\.testkit)\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** Imports that are evaluated: everything but `import type` and `export type`. */
const EVALUATED = new RegExp(
  [
    String.raw`\b(?:import|export)\b(?!\s+type\b)[^;'"]*\bfrom\s*["']@kubernetes/client-node[^"']*["']`,
    String.raw`\bimport\s*["']@kubernetes/client-node[^"']*["']`,
    String.raw`\b(?:await\s+import|require)\(\s*["']@kubernetes/client-node[^"']*["']\s*\)`,
  ].join("|"),
  "g",
);

it("CORE-420 evaluates client-node in one file only, by a lazy import of its loader", () => {
  const uses = sources(PACKAGES).flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(EVALUATED)].map(([text]) => [
      path.slice(PACKAGES.length + 1),
      text,
    ]),
  );
  expect(uses).toEqual([
    ["core/src/client/kubeconfig.ts", 'await import("@kubernetes/client-node/dist/config.js")'],
  ]);
});

it("CORE-420 a pod evaluates nothing of it, a kubeconfig does", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "ca.crt"), (await authority()).ca);
  writeFileSync(join(folder, "token"), "t");
  const path = join(folder, "config");
  writeFileSync(path, kubeconfig({ cluster: { server: "https://api.test" } }));
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { createClient, loadConnection } = await import(${JSON.stringify(join(PACKAGES, "core/src/index.ts"))});
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    const count = () => loaded.filter((url) => url.includes("client-node")).length;
    const inPod = await loadConnection({ env, serviceAccountMount: ${JSON.stringify(folder)} });
    createClient({ connection: inPod, version: "1" }).close();
    const before = count();
    await loadConnection({ kubeconfig: ${JSON.stringify(path)}, env: {} });
    console.log(JSON.stringify({ before, after: count() > 0, config: loaded.some((url) => url.endsWith("dist/index.js") && url.includes("@kubernetes/client-node/")) }));
  `;
  const file = join(folder, "pod.mjs");
  writeFileSync(file, script);
  const output = execFileSync(process.execPath, ["--conditions=quartet-source", file], { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual({ before: 0, after: true, config: false });
});
