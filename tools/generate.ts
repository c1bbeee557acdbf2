/** `npm run generate`: everything in the repository that is derived from something else in it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { type Crd, crdTypes } from "./generate/crd-types.ts";
import { repository } from "./paths.ts";

/** Which package owns the kinds of a group. */
const PACKAGE_OF_GROUP: Readonly<Record<string, string>> = { "nacos.io": "nacos-config" };

const typesOf = new Map<string, string[]>();
for (const file of readdirSync(`${repository}/crds`).sort()) {
  const crd = parse(readFileSync(`${repository}/crds/${file}`, "utf8")) as Crd;
  const owner = PACKAGE_OF_GROUP[crd.spec.group];
  if (owner === undefined) throw new Error(`crds/${file}: no package is known for group ${crd.spec.group}`);
  typesOf.set(owner, [...(typesOf.get(owner) ?? []), await crdTypes(crd)]);
}
for (const [owner, types] of typesOf) {
  const head =
    "// Generated from crds/ by `npm run generate`: edit the CRD instead.\n" +
    'import type { ObjectMeta } from "@quartet/core";\n\n';
  write(`packages/${owner}/src/api.gen.ts`, head + types.join("\n"));
}

function write(path: string, content: string): void {
  writeFileSync(`${repository}/${path}`, content);
  console.log(path);
}
