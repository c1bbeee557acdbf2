/** CustomResourceDefinition: defaults and the checks of its own shape. */
import { childOf, defaultKey, isRecord, items, type JsonObject, record, records, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, forbiddenField, invalidValue, required } from "../status.ts";
import { strategy } from "../strategies/base.ts";
import { defaultText } from "../strategies/pod-defaults.ts";
import { isDnsLabel, isSubdomain } from "../strategies/validation.ts";
import { checkRules } from "./rules.ts";
import { type JsonSchema, preserves, walkSchema } from "./structural.ts";
import { checkDefault } from "./validate.ts";

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

function checkNode(schema: JsonSchema, path: string, found: Cause[]): void {
  const type = text(schema.type);
  const free = schema["x-kubernetes-int-or-string"] === true || preserves(schema);
  if (type === "" && !free) {
    const what = path.endsWith("openAPIV3Schema")
      ? "must not be empty at the root"
      : "must not be empty for specified object fields";
    found.push(required(`${path}.type`, what));
  }
  if (type === "array" && !isRecord(schema.items)) found.push(required(`${path}.items`, "must be specified"));
  if (isRecord(schema.additionalProperties) && Object.keys(record(schema.properties)).length > 0) {
    found.push(
      forbiddenField(
        `${path}.additionalProperties`,
        "additionalProperties and properties are mutual exclusive",
      ),
    );
  }
  if (
    schema["x-kubernetes-list-type"] === "map" &&
    items(schema["x-kubernetes-list-map-keys"]).length === 0
  ) {
    found.push(
      required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
    );
  }
  found.push(...checkDefault(schema, path));
}

function checkVersions(spec: JsonObject): Cause[] {
  const versions = records(spec.versions);
  const found: Cause[] = [];
  if (versions.length === 0) found.push(required("spec.versions", "must have at least one version"));
  const storage = versions.filter((version) => version.storage === true);
  if (versions.length > 0 && storage.length !== 1) {
    found.push(
      invalidValue(
        "spec.versions",
        versions.map((version) => version.name),
        "must have exactly one version marked as storage version",
      ),
    );
  }
  versions.forEach((version, index) => {
    const at = `spec.versions[${index}]`;
    // a single version's schema is the schema of the CRD as a whole
    const place = versions.length === 1 ? "spec.validation" : `${at}.schema`;
    if (!isDnsLabel(text(version.name))) {
      found.push(
        invalidValue(
          `${at}.name`,
          version.name,
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
        ),
      );
    }
    const schema = record(version.schema).openAPIV3Schema;
    if (!isRecord(schema)) {
      found.push(required(`${at}.schema.openAPIV3Schema`, "schemas are required"));
      return;
    }
    walkSchema(schema, `${place}.openAPIV3Schema`, (node, path) => checkNode(node, path, found));
    if (found.length === 0) found.push(...checkRules(schema, `${place}.openAPIV3Schema`));
  });
  return found;
}

function checkNames(object: KubeObject): Cause[] {
  const spec = record(object.spec);
  const names = record(spec.names);
  const found: Cause[] = [];
  if (text(spec.group) === "") found.push(required("spec.group"));
  else if (!isSubdomain(text(spec.group)) || !text(spec.group).includes(".")) {
    found.push(invalidValue("spec.group", spec.group, "should be a domain with at least one dot"));
  }
  const wanted = `${text(names.plural)}.${text(spec.group)}`;
  if (object.metadata.name !== wanted) {
    found.push(
      invalidValue("metadata.name", object.metadata.name, 'must be spec.names.plural+"."+spec.group'),
    );
  }
  for (const key of ["plural", "kind"])
    if (text(names[key]) === "") found.push(required(`spec.names.${key}`));
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") {
    const message = `Unsupported value: ${JSON.stringify(spec.scope ?? "")}: supported values: "Cluster", "Namespaced"`;
    found.push({ reason: "FieldValueNotSupported", message, field: "spec.scope" });
  }
  return found;
}

export const crdStrategy: Strategy = strategy({
  status: true,
  generation: "spec",
  returnsDeleted: false,
  defaults(object) {
    const spec = childOf(object, "spec");
    const names = childOf(spec, "names");
    defaultText(names, "singular", text(names.kind).toLowerCase());
    defaultText(names, "listKind", `${text(names.kind)}List`);
    defaultText(childOf(spec, "conversion"), "strategy", "None");
    const service = record(record(record(spec.conversion).webhook).clientConfig).service;
    if (isRecord(service)) defaultKey(service, "port", 443);
  },
  prepareCreate(object) {
    const storage = records(record(object.spec).versions).find((version) => version.storage === true);
    object.metadata.finalizers = [...(object.metadata.finalizers ?? []), CLEANUP_FINALIZER];
    object.status = {
      conditions: [],
      acceptedNames: { plural: "", kind: "" },
      storedVersions: storage === undefined ? [] : [text(storage.name)],
    };
  },
  validate: (object) => [...checkNames(object), ...checkVersions(record(object.spec))],
  validateUpdate(object, old) {
    const fixed = (crd: KubeObject): string[] => {
      const spec = record(crd.spec);
      return [
        text(spec.group),
        text(spec.scope),
        text(record(spec.names).plural),
        text(record(spec.names).kind),
      ];
    };
    const before = fixed(old);
    const labels = ["spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"];
    return fixed(object).flatMap((value, index) =>
      value === before[index] ? [] : [invalidValue(labels[index]!, value, "field is immutable")],
    );
  },
});
