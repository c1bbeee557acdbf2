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

/** Longest text that is looked through, in characters: the most that any place for texts takes (a condition's message). */
const MAX_TEXT = 32_768;
/** Entries of a list or map that a log line shows. */
const MAX_ENTRIES = 1_000;

// Each of them is linear: an attempt to match ends before the place where the next one may begin.
const BEARER = /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const JWT = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g;
const URL_PASSWORD = /(:\/\/[^\s:/@]*):[^\s/]+@/g;
const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g;
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/g;

/**
 * Text without tokens, private keys and passwords of URLs. It is cut at 32 768 characters, between two words: half a
 * secret would not be recognised.
 */
export function redactText(text: string): string {
  return withoutPrivateKeys(cutAtWord(text))
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(JWT, REDACTED)
    .replace(URL_PASSWORD, `$1:${REDACTED}@`);
}

function cutAtWord(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  let end = MAX_TEXT;
  while (end > 0 && !/\s/.test(text[end]!)) end--;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

/** A key without its end, of a text that was cut, goes as a whole. */
function withoutPrivateKeys(text: string): string {
  let clean = "";
  let from = 0;
  for (;;) {
    KEY_BEGIN.lastIndex = from;
    const begin = KEY_BEGIN.exec(text);
    if (begin === null) return clean + text.slice(from);
    clean += text.slice(from, begin.index) + REDACTED;
    KEY_END.lastIndex = KEY_BEGIN.lastIndex;
    if (KEY_END.exec(text) === null) return clean;
    from = KEY_END.lastIndex;
  }
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
  const entries = Object.entries(map);
  const shown = entries
    .slice(0, MAX_ENTRIES)
    .map(([name, value]): [string, unknown] => [
      name,
      isSecretName(name) && holdsText(value) ? REDACTED : redactValue(value, scope),
    ]);
  if (entries.length > MAX_ENTRIES) shown.push(["…", `${entries.length - MAX_ENTRIES} more`]);
  // fromEntries defines own properties, so a name such as `__proto__` stays data.
  return Object.fromEntries(shown);
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
  if (Array.isArray(value) || value instanceof Set) return redactList([...value], below);
  if (value instanceof Map) return redactMap(Object.fromEntries(value), below);
  const map = ownJson(value);
  if (typeof map !== "object" || map === null) return redactValue(map, below);
  if (isKubeObject(map)) return scope.wholeObjects ? redactMap(withoutData(map), below) : referenceOf(map);
  return redactMap(withoutData(map as Record<string, unknown>), below);
}

function redactList(list: readonly unknown[], scope: Scope): unknown[] {
  const shown = list.slice(0, MAX_ENTRIES).map((entry) => redactValue(entry, scope));
  return list.length <= MAX_ENTRIES ? shown : [...shown, `… ${list.length - MAX_ENTRIES} more`];
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
