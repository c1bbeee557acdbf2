/** Values as JSON, as Go's encoding/json writes them: keys sorted, and `<`, `>` and `&` escaped. */
import { bytesOf, CallError, elementsOf, textOf, unboxed, type Value } from "@quartet/go-template";

/** How deep values may lie in each other. */
const MAX_DEPTH = 500;
const ESCAPED: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };

/** Encodes a value; `indent` spaces per level, none on one line. Byte string. */
export function encodeJson(value: Value | undefined, indent = 0): string {
  const text = JSON.stringify(plain(value, 0), undefined, indent);
  return bytesOf(
    text.replace(/[<>&\u2028\u2029]/g, (char) => ESCAPED[char] ?? `\\u${char.charCodeAt(0).toString(16)}`),
  );
}

function plain(boxed: Value | undefined, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new CallError("json: nested too deep");
  const value = unboxed(boxed);
  switch (value?.kind) {
    case undefined:
      return null;
    case "bool":
      return value.data;
    case "string":
      return textOf(value.data);
    case "int":
    case "uint8":
    case "uint16":
      return rawNumber(value.data);
    case "float64":
      return value.data;
    case "slice":
      return value.data === undefined ? null : elementsOf(value.data).map((item) => plain(item, depth + 1));
    case "map":
      return value.data === undefined ? null : sortedObject([...value.data], depth);
    case "struct":
      return Object.fromEntries(
        (value.type.fields ?? []).map((name, index) => [name, plain(value.data[index], depth + 1)]),
      );
    default:
      throw new CallError(`json: unsupported type: ${value!.type.name}`);
  }
}

/** A whole number with all its digits. */
const rawNumber = (data: bigint): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(data));

const sortedObject = (entries: [string, Value][], depth: number): object =>
  Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [textOf(key), plain(item, depth + 1)]),
  );
