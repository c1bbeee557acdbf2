/** TypeScript types of custom resources, generated from their CRDs. */
import { compile, type JSONSchema } from "json-schema-to-typescript";

/** The parts of a CustomResourceDefinition that the types depend on. */
export interface Crd {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: JSONSchema } }[];
  };
}

/**
 * Types of all versions of a CRD: `Nacos` when it has one version, `NacosV1alpha1` and so on when it has several.
 * `metadata` is core's `ObjectMeta`; apiVersion and kind are required, as in every object that a server returns.
 */
export async function crdTypes(crd: Crd): Promise<string> {
  const { versions, names } = crd.spec;
  const parts: string[] = [];
  for (const version of versions) {
    const suffix = versions.length === 1 ? "" : version.name[0]!.toUpperCase() + version.name.slice(1);
    parts.push(await compile(typed(version.schema.openAPIV3Schema), names.kind + suffix, options));
  }
  return parts.join("\n");
}

const options = {
  bannerComment: "",
  additionalProperties: false,
  format: false,
  strictIndexSignatures: false,
} as const;

/** The schema with the object's own head, and with Kubernetes' schema extensions put into standard terms. */
function typed(schema: JSONSchema): JSONSchema {
  const root = standardTerms(schema);
  return {
    ...root,
    properties: {
      ...root.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { tsType: "ObjectMeta" },
    },
    required: [
      ...new Set(["apiVersion", "kind", "metadata", ...(Array.isArray(root.required) ? root.required : [])]),
    ],
  };
}

function standardTerms(schema: JSONSchema): JSONSchema {
  const { default: _default, format: _format, pattern: _pattern, ...rest } = schema;
  const result: JSONSchema = { ...rest };
  if (schema["x-kubernetes-int-or-string"] === true)
    return { description: schema.description, type: ["integer", "string"] };
  if (schema.properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, standardTerms(property)]),
    );
  }
  if (schema.items !== undefined && !Array.isArray(schema.items))
    result.items = standardTerms(schema.items as JSONSchema);
  if (typeof schema.additionalProperties === "object") {
    result.additionalProperties = standardTerms(schema.additionalProperties);
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) result.additionalProperties = true;
  if (schema.nullable === true && typeof schema.type === "string") result.type = [schema.type, "null"];
  return result;
}
