/** Failures as the API server words them. */
import type { JsonObject } from "./json.ts";

/** One finding about a field. */
export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

interface Details {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

/** Thrown anywhere below the router; becomes a `Status` answer. */
export class Failure extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;
  readonly headers: Record<string, string>;
  /** Further fields of the Status metadata, for example a fresh continue token. */
  readonly metadata: JsonObject;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: Details,
    extra: { headers?: Record<string, string>; metadata?: JsonObject } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.headers = extra.headers ?? {};
    this.metadata = extra.metadata ?? {};
  }
}

export function statusOf(failure: Failure): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: failure.metadata,
    status: "Failure",
    message: failure.message,
    ...(failure.reason === "" ? {} : { reason: failure.reason }),
    ...(failure.details === undefined ? {} : { details: failure.details }),
    code: failure.code,
  };
}

/** Plural resource and group, as messages name them. */
export interface ResourceName {
  group: string;
  plural: string;
}

export function qualified(type: ResourceName): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

function detailsOf(type: ResourceName, name: string): Details {
  return {
    ...(name === "" ? {} : { name }),
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.plural,
  };
}

export function notFound(type: ResourceName, name: string): Failure {
  return new Failure(404, "NotFound", `${qualified(type)} "${name}" not found`, detailsOf(type, name));
}

export function alreadyExists(type: ResourceName, name: string): Failure {
  const message = `${qualified(type)} "${name}" already exists`;
  return new Failure(409, "AlreadyExists", message, detailsOf(type, name));
}

export const MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(type: ResourceName, name: string, why: string): Failure {
  const message = `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`;
  return new Failure(409, "Conflict", message, detailsOf(type, name));
}

export function forbidden(type: ResourceName, name: string, why: string, causes?: Cause[]): Failure {
  const message = `${qualified(type)}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`;
  const details = { ...detailsOf(type, name), ...(causes === undefined ? {} : { causes }) };
  return new Failure(403, "Forbidden", message, details);
}

export function badRequest(message: string): Failure {
  return new Failure(400, "BadRequest", message);
}

export function methodNotAllowed(): Failure {
  return new Failure(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

/** The Kind itself, as `StatefulSet.apps "a" is invalid: …` names it. */
export function invalid(kind: { group: string; kind: string }, name: string, causes: Cause[]): Failure {
  const lines = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const label = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const list = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  return new Failure(422, "Invalid", `${label} "${name}" is invalid: ${list}`, {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.kind,
    causes,
  });
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return value === undefined ? "null" : JSON.stringify(value);
}

export function required(field: string, detail = ""): Cause {
  const message = detail === "" ? "Required value" : `Required value: ${detail}`;
  return { reason: "FieldValueRequired", message, field };
}

export function invalidValue(field: string, value: unknown, detail: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${show(value)}: ${detail}`, field };
}

export function unsupported(field: string, value: unknown, allowed: readonly unknown[]): Cause {
  const list = allowed.map((entry) => show(entry)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${show(value)}: supported values: ${list}`,
    field,
  };
}

export function forbiddenField(field: string, detail: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${detail}`, field };
}

export function duplicate(field: string, value: unknown): Cause {
  return { reason: "FieldValueDuplicate", message: `Duplicate value: ${show(value)}`, field };
}

export function typeInvalid(field: string, value: unknown, detail: string): Cause {
  return { reason: "FieldValueTypeInvalid", message: `Invalid value: ${show(value)}: ${detail}`, field };
}

export function tooLong(field: string, detail: string): Cause {
  return { reason: "FieldValueTooLong", message: `Too long: ${detail}`, field };
}
