/** Keeps secrets, and whole objects, out of log lines. */

/** Stands in for everything that must not be read. */
export const REDACTED: string = "[redacted]";

/** Deepest level of nesting that a log line shows. */
const MAX_DEPTH = 8;

/** Names of fields whose text is a secret. */
const SECRET_NAME =
  /authorization|cookie|passw(or)?d|token|secret|api[-_]?key|private[-_]?key|access[-_]?key|credential/i;
/** Endings that make it the name or place of a secret instead. */
const PLACE_NAME = /(name|namespace|file|path|dir|ref|kind|id|count|seconds|ms)$/i;

const BEARER = /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const JWT = /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/@]+@/gi;

/** Text without tokens, private keys and passwords of URLs. */
export function redactText(text: string): string {
  return text
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(JWT, REDACTED)
    .replace(PRIVATE_KEY, REDACTED)
    .replace(URL_PASSWORD, `$1:${REDACTED}@`);
}

/**
 * Copy of a log line's fields that is safe to write. Secrets are recognised by the field's name, by the form of a
 * text, and by type: the data of Secret objects, and bytes. Kubernetes objects become references unless
 * `wholeObjects` is set.
 */
export function redactFields(
  fields: Readonly<Record<string, unknown>>,
  wholeObjects: boolean,
): Record<string, unknown> {
  return redactMap(fields, { wholeObjects, depth: 0 });
}

interface Scope {
  readonly wholeObjects: boolean;
  readonly depth: number;
}

function redactMap(map: Readonly<Record<string, unknown>>, scope: Scope): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(map)) {
    result[name] = isSecretName(name) && holdsText(value) ? REDACTED : redactValue(value, scope);
  }
  return result;
}

/** Maps below a secret's name are looked into instead: `Secret: {namespace, name}` is a reference. */
const holdsText = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || Array.isArray(value) || ArrayBuffer.isView(value);

/** True for names of fields and variables whose value is a secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name) && !PLACE_NAME.test(name);

function redactValue(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Error) return redactText(value.message);
  if (scope.depth >= MAX_DEPTH) return "[too deep]";
  const below = { ...scope, depth: scope.depth + 1 };
  if (Array.isArray(value) || value instanceof Set)
    return [...value].map((entry) => redactValue(entry, below));
  if (value instanceof Map) return redactMap(Object.fromEntries(value), below);
  const map = ownJson(value);
  if (typeof map !== "object" || map === null) return redactValue(map, below);
  if (isKubeObject(map)) return scope.wholeObjects ? redactMap(withoutData(map), below) : referenceOf(map);
  return redactMap(withoutData(map as Record<string, unknown>), below);
}

/** What `JSON.stringify` would see: dates and URLs have a text form of their own. */
function ownJson(value: object): unknown {
  const { toJSON } = value as { toJSON?: () => unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
}

interface KubeLike extends Record<string, unknown> {
  apiVersion: string;
  kind: string;
  metadata: { name?: string; namespace?: string };
}

function isKubeObject(value: object): value is KubeLike {
  const { apiVersion, kind, metadata } = value as Partial<KubeLike>;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata === "object";
}

function referenceOf(object: KubeLike): Record<string, unknown> {
  const { namespace, name } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, ...(namespace && { namespace }), name };
}

/** A Secret without its values; its keys stay visible. */
function withoutData(map: Record<string, unknown>): Record<string, unknown> {
  if (map.kind !== "Secret") return map;
  const hidden = (data: unknown): unknown =>
    typeof data === "object" && data !== null
      ? Object.fromEntries(Object.keys(data).map((key) => [key, REDACTED]))
      : data;
  const clean: Record<string, unknown> = { ...map };
  for (const field of ["data", "stringData"]) if (field in map) clean[field] = hidden(map[field]);
  // kubectl keeps a copy of the whole object there.
  const { annotations, ...metadata } = (map.metadata ?? {}) as Record<string, unknown>;
  if (annotations !== undefined) clean.metadata = { ...metadata, annotations: hidden(annotations) };
  return clean;
}
