/** `npm run generate`: everything in the repository that is derived from something else in it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { convertedCrds } from "@quartet/core";
import { loadSettings, MODULES } from "@quartet/manager";
import { parse } from "yaml";
import { controllersFile, crdTemplate, rbacFile, valuesSchema, webhooksFile } from "./generate/chart.ts";
import { confdFlagsPage } from "./generate/confd-flags.ts";
import { crdPage } from "./generate/crd-reference.ts";
import { type Crd, crdTypes } from "./generate/crd-types.ts";
import { metricFamilies } from "./generate/metrics.ts";
import { flagsPage, metricsPage } from "./generate/reference.ts";
import { sqlModule } from "./generate/sql.ts";
import { repository } from "./paths.ts";

/** Which package owns the kinds of a group. */
const PACKAGE_OF_GROUP: Readonly<Record<string, string>> = {
  "apps.kruise.io": "ds-patches",
  "k8s.tars.io": "tars-tserver",
  "nacos.io": "nacos-config",
  "networking.cloudflare-operator.io": "tunnel-config",
};

const scaled = new Set<string>();
const typesOf = new Map<string, string[]>();
for (const file of readdirSync(`${repository}/crds`).sort()) {
  const text = readFileSync(`${repository}/crds/${file}`, "utf8");
  const crd = parse(text) as Crd;
  const owner = PACKAGE_OF_GROUP[crd.spec.group];
  if (owner === undefined) throw new Error(`crds/${file}: no package is known for group ${crd.spec.group}`);
  typesOf.set(owner, [...(typesOf.get(owner) ?? []), await crdTypes(crd)]);
  if (crd.spec.versions.some(({ subresources }) => subresources?.scale !== undefined)) {
    scaled.add(crd.metadata.name);
  }
  const users = MODULES.filter((module) => module.crds.includes(file));
  const converted = MODULES.flatMap((module) => convertedCrds(module)).includes(
    file.replace(/^([^_]+)_([^.]+)\.yaml$/, "$2.$1"),
  );
  write(`charts/quartet/templates/crds/${file}`, crdTemplate(text, users, converted));
  write(`docs/reference/crd-${crd.spec.names.kind.toLowerCase()}.md`, crdPage(crd));
}
for (const [owner, types] of typesOf) {
  const head =
    "// Generated from crds/ by `npm run generate`: edit the CRD instead.\n" +
    'import type { ObjectMeta } from "@quartet/core";\n\n';
  write(`packages/${owner}/src/api.gen.ts`, head + types.join("\n"));
}
const sqlFolder = "packages/nacos-config/sql";
const sqlFiles = readdirSync(`${repository}/${sqlFolder}`).sort();
const sqlTexts = sqlFiles.map((file) => [file, readFileSync(`${repository}/${sqlFolder}/${file}`, "utf8")]);
write("packages/nacos-config/src/database/sql.gen.ts", sqlModule(Object.fromEntries(sqlTexts)));
write("charts/quartet/files/rbac.yaml", rbacFile(MODULES));
write("charts/quartet/files/webhooks.yaml", webhooksFile(MODULES));
const schemaFile = "charts/quartet/values.schema.json";
write(schemaFile, valuesSchema(readFileSync(`${repository}/${schemaFile}`, "utf8"), MODULES));
write("charts/quartet/files/controllers.yaml", controllersFile(MODULES, scaled));
const { specs } = await loadSettings({ args: [], env: {}, modules: MODULES });
write("docs/reference/flags.md", flagsPage(specs));
write("docs/reference/confd-flags.md", confdFlagsPage());
write("docs/reference/metrics.md", metricsPage(await metricFamilies()));

function write(path: string, content: string): void {
  mkdirSync(dirname(`${repository}/${path}`), { recursive: true });
  writeFileSync(`${repository}/${path}`, content);
  console.log(path);
}
