/** Makes the resource types of an installed CRD. */
import { at, cloneJson, isRecord, items, type JsonObject, record, records, sameJson, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Column, CustomVersion, ResourceType } from "../registry.ts";
import type { Schema } from "../schemas/schema.ts";
import { strategy } from "../strategies/base.ts";
import { crdColumns } from "../table/crd-columns.ts";
import { compileRules } from "./rules.ts";
import { applyDefaults, type JsonSchema, prune } from "./structural.ts";
import { toSchema } from "./to-schema.ts";
import { checkSchema } from "./validate.ts";

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** `.spec.replicas` as the keys on the way. */
function dotPath(path: unknown): string[] {
  return text(path)
    .split(".")
    .filter((key) => key !== "");
}

function compileVersion(crd: JsonObject, version: JsonObject): CustomVersion {
  const schema: JsonSchema = record(record(version.schema).openAPIV3Schema);
  const rules = compileRules(schema);
  const scale = record(version.subresources).scale;
  const { group, names } = record(crd.spec);
  return {
    prune: (object, unknown) => prune(object, schema, "", unknown, true),
    defaults: (object) => applyDefaults(object, schema),
    validate: (object, old) => checkSchema(schema, object, old, rules),
    ...(isRecord(scale)
      ? {
          scale: {
            specPath: dotPath(scale.specReplicasPath),
            statusPath: dotPath(scale.statusReplicasPath),
            ...(text(scale.labelSelectorPath) === ""
              ? {}
              : { selectorPath: dotPath(scale.labelSelectorPath) }),
          },
        }
      : {}),
    ...(version.deprecated === true
      ? {
          deprecation:
            text(version.deprecationWarning) ||
            `${text(group)}/${text(version.name)} ${text(record(names).kind)} is deprecated`,
        }
      : {}),
  };
}

function selectableOf(version: JsonObject): ResourceType["selectable"] {
  const fields: Record<string, (object: KubeObject) => string> = {};
  for (const field of records(version.selectableFields)) {
    const path = dotPath(field.jsonPath);
    fields[path.join(".")] = (object) => {
      const value = at(object, ...path);
      return value === undefined || value === null ? "" : String(value);
    };
  }
  return fields;
}

/** Converts objects between two versions of a CRD. */
export type Converter = (
  objects: readonly KubeObject[],
  apiVersion: string,
) => Promise<KubeObject[]> | KubeObject[];

/** The stored objects of a version, defaulted on the way out and converted when the version is another. */
function reader(
  custom: CustomVersion,
  apiVersion: string,
  convert: Converter,
): (objects: readonly KubeObject[]) => Promise<KubeObject[]> | KubeObject[] {
  const shown = new WeakMap<KubeObject, KubeObject>();
  const defaulted = (stored: KubeObject): KubeObject => {
    const known = shown.get(stored);
    if (known !== undefined) return known;
    const filled = cloneJson(stored);
    custom.defaults(filled);
    const result = sameJson(filled, stored) ? stored : filled;
    shown.set(stored, result);
    return result;
  };
  return (objects) => {
    if (objects.every((object) => object.apiVersion === apiVersion)) return objects.map(defaulted);
    const converted = convert(objects, apiVersion);
    return Array.isArray(converted)
      ? converted.map(defaulted)
      : converted.then((list) => list.map(defaulted));
  };
}

export interface CrdParts {
  metadataSchema: Schema;
  convert: Converter;
}

/** One type for each served version. */
export function crdTypes(crd: KubeObject, parts: CrdParts): ResourceType[] {
  const spec = record(crd.spec);
  const names = record(spec.names);
  const versions = records(spec.versions);
  const storage = versions.find((version) => version.storage === true);
  const group = text(spec.group);
  const stored = `${group}/${text(storage?.name)}`;
  return versions
    .filter((version) => version.served === true)
    .map((version): ResourceType => {
      const name = text(version.name);
      const custom = compileVersion(crd, version);
      const hasStatus = record(version.subresources).status !== undefined;
      const columns: readonly Column[] = crdColumns(records(version.additionalPrinterColumns));
      return {
        group,
        version: name,
        plural: text(names.plural),
        singular: text(names.singular),
        kind: text(names.kind),
        listKind: text(names.listKind),
        namespaced: spec.scope === "Namespaced",
        shortNames: items(names.shortNames).map(text),
        categories: items(names.categories).map(text),
        verbs: VERBS,
        subresources: [...(hasStatus ? ["status"] : []), ...(custom.scale === undefined ? [] : ["scale"])],
        collection: crd.metadata.name,
        schema: toSchema(record(record(version.schema).openAPIV3Schema), parts.metadataSchema),
        strategy: strategy({
          status: hasStatus,
          generation: "body",
          unconditionalUpdate: false,
        }),
        columns,
        selectable: selectableOf(version),
        fromStorage: reader(custom, `${group}/${name}`, parts.convert),
        toStorage: (object) => {
          if (object.apiVersion === stored) return object;
          const converted = parts.convert([object], stored);
          return Array.isArray(converted) ? converted[0]! : converted.then((list) => list[0]!);
        },
        custom,
      };
    });
}
