/** TypeScript types of custom resources, generated from their CRDs. */
import { compile, type JSONSchema } from "json-schema-to-typescript";

/** The parts of a CustomResourceDefinition that the types depend on. */
export interface Crd {
  /** `plural.group`. */
  metadata: { name: string };
  spec: {
    group: string;
    names: { kind: string };
    versions: {
      name: string;
      storage: boolean;
      schema: { openAPIV3Schema: JSONSchema };
      subresources?: { scale?: object };
    }[];
  };
}

/**
 * Types of a CRD: `Nacos` for the version that is stored, and `TServerV1Beta3` and so on for those whose schema differs.
 * `metadata` is core's `ObjectMeta`; apiVersion and kind are required, as in every object that a server returns.
 */
export async function crdTypes(crd: Crd): Promise<string> {
  const { versions, names } = crd.spec;
  const typeOf = (name: string, version: (typeof versions)[number]): Promise<string> =>
    compile(typed(version.schema.openAPIV3Schema), name, options);
  const stored = versions.find(({ storage }) => storage)!;
  const type = await typeOf(names.kind, stored);
  const parts = [type];
  for (const version of versions) {
    if ((await typeOf(names.kind, version)) === type) continue;
    const suffix = version.name.replace(/[a-z]+/g, (letters) => letters[0]!.toUpperCase() + letters.slice(1));
    parts.push(await typeOf(names.kind + suffix, version));
  }
  return parts.join("\n");
}

const options = {
  bannerComment: "",
  additionalProperties: false,
  format: false,
  strictIndexSignatures: false,
  // A list of one to a hundred items would be a union of a hundred tuples.
  ignoreMinAndMaxItems: true,
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
  // Which members exclude each other is nothing that a type says well.
  const { default: _default, format: _format, pattern: _pattern, oneOf: _oneOf, ...rest } = schema;
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
