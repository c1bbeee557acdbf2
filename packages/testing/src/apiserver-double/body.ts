/** Request bodies: content types, JSON or YAML, and what strict field validation finds in them. */
import { parse as parseYaml } from "yaml";
import type { Call } from "./call.ts";
import { isRecord, type JsonObject, parseJson } from "./json.ts";
import { duplicateKeys } from "./schemas/duplicates.ts";
import { badRequest, Failure } from "./status.ts";

/** Largest request body, in bytes. */
export const MAX_BODY: number = 3 * 1024 * 1024;

export function contentType(call: Pick<Call, "headers">): string {
  return (call.headers["content-type"] ?? "application/json").split(";")[0]!.trim().toLowerCase();
}

export function unsupportedMedia(accepted: readonly string[]): Failure {
  return new Failure(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    {},
  );
}

export type FieldValidation = "Strict" | "Warn" | "Ignore";

export function fieldValidation(call: Pick<Call, "query">): FieldValidation {
  const wanted = call.query.get("fieldValidation") ?? "";
  if (wanted === "") return "Warn";
  if (wanted === "Strict" || wanted === "Warn" || wanted === "Ignore") return wanted;
  const message = `fieldValidation: Unsupported value: ${JSON.stringify(wanted)}: supported values: "Ignore", "Strict", "Warn"`;
  throw new Failure(422, "Invalid", `CreateOptions.meta.k8s.io "" is invalid: ${message}`, {
    group: "meta.k8s.io",
    kind: "CreateOptions",
    causes: [{ reason: "FieldValueNotSupported", message, field: "fieldValidation" }],
  });
}

export interface ParsedBody {
  value: JsonObject;
  duplicates: string[];
}

const YAML = "application/yaml";

/** The body as an object; throws 400 or 415. */
export function parseObject(call: Call): ParsedBody {
  const type = contentType(call);
  if (type !== "application/json" && type !== YAML) {
    throw unsupportedMedia(["application/json", YAML, "application/vnd.kubernetes.protobuf"]);
  }
  if (call.body === "") throw badRequest("unexpected end of JSON input");
  const value = parseText(call.body, type === YAML);
  if (!isRecord(value)) {
    throw badRequest(
      "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct",
    );
  }
  const look = type !== YAML && fieldValidation(call) !== "Ignore";
  return { value, duplicates: look ? duplicateKeys(call.body) : [] };
}

export function parseText(body: string, yaml: boolean): unknown {
  try {
    // JSON is YAML, and read as JSON it loses no integers
    return yaml && !body.trimStart().startsWith("{") ? parseYaml(body) : parseJson(body);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (yaml) throw badRequest(`error decoding YAML: ${message}`);
    throw badRequest(`couldn't get version/kind; json parse error: ${message}`);
  }
}

/** Refuses or reports unknown and duplicate fields, as the request asks for. */
export function reportFields(call: Call, unknown: readonly string[], duplicates: readonly string[]): void {
  const findings = [
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  if (findings.length === 0) return;
  const mode = fieldValidation(call);
  if (mode === "Warn") call.warnings.push(...findings);
  if (mode !== "Strict") return;
  const { kind, version } = call.type;
  const text = `strict decoding error: ${findings.join(", ")}`;
  throw badRequest(
    call.type.custom === undefined
      ? `${kind} in version "${version}" cannot be handled as a ${kind}: ${text}`
      : text,
  );
}
