/** Reference page of a custom resource, from the schema of its CRD. */
import type { JSONSchema } from "json-schema-to-typescript";
import type { Crd } from "./crd-types.ts";
import { code, table } from "./reference.ts";

/** Depth below which fields are Kubernetes' own (pod templates, affinities) and described there. */
const MAX_DEPTH = 4;

/** Page with a table of fields per version. */
export function crdPage(crd: Crd): string {
  const { group, names, versions } = crd.spec;
  const parts = versions.map(({ name, schema }) => {
    const rows: string[][] = [];
    for (const part of ["spec", "status"]) {
      const child = schema.openAPIV3Schema.properties?.[part];
      if (child !== undefined) visit(part, child, 1, rows);
    }
    return `## ${group}/${name}\n\n${table(["Field", "Type", "Default", "Meaning"], rows)}`;
  });
  return `<!-- Generated from crds/ by \`npm run generate\`. -->
# ${names.kind}

Fields to a depth of ${MAX_DEPTH}; \`kubectl explain ${names.kind.toLowerCase()} --recursive\` shows all.

${parts.join("\n")}`;
}

function visit(path: string, schema: JSONSchema, depth: number, rows: string[][]): void {
  const fallback = schema.default === undefined ? "" : code(JSON.stringify(schema.default));
  rows.push([code(path), typeOf(schema), fallback, schema.description ?? ""]);
  if (depth >= MAX_DEPTH) return;
  const items = schema.type === "array" ? (schema.items as JSONSchema | undefined) : undefined;
  const below = items === undefined ? path : `${path}[]`;
  for (const [name, child] of Object.entries((items ?? schema).properties ?? {})) {
    visit(`${below}.${name}`, child, depth + 1, rows);
  }
}

function typeOf(schema: JSONSchema): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(JSON.stringify(value))).join(", ");
  return String(schema.type ?? "any");
}
