/** Trees of values (JSON, YAML) as keys: maps by their keys, lists by their indexes. */
import { bytesOf } from "@quartet/go-template";
import { LineCounter, parseDocument, type ScalarTag } from "yaml";
import { BackendError, messageOf } from "../errors.ts";

/** How often anchors may be used in one document, so that a small file cannot become a huge one. */
const MAX_ALIASES = 10_000;
/** How deep trees may be. */
const MAX_DEPTH = 200;

/** Numbers with a leading zero are octal, as in YAML 1.1 and Go's YAML. */
const OCTAL: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => {
    const value = BigInt(`0o${text.replace(/^[-+]/, "")}`);
    return text.startsWith("-") ? -value : value;
  },
};

/** Adds the leaves of a JSON or YAML text below a path (byte string; empty is the root). Throws with line and column. */
export function flattenText(name: string, text: string, path: string, into: Map<string, string>): void {
  try {
    flatten(name, parseTree(name, text), path, into, 0);
  } catch (error) {
    if (error instanceof RangeError) throw new BackendError(`${name}: nested too deep`);
    throw error;
  }
}

function parseTree(name: string, text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    customTags: (tags) => [OCTAL, ...tags],
    lineCounter: lines,
    intAsBigInt: true,
    merge: true,
    strict: true,
    uniqueKeys: !name.endsWith(".json"),
    prettyErrors: false,
    logLevel: "silent",
  });
  const [problem] = document.errors;
  // Of several documents the first counts.
  if (problem !== undefined && problem.code !== "MULTIPLE_DOCS") {
    const { line, col } = lines.linePos(problem.pos[0]);
    throw new BackendError(`${name}:${line}:${col}: ${problem.message.split("\n")[0]}`);
  }
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new BackendError(`${name}: ${messageOf(error)}`);
  }
}

function flatten(name: string, node: unknown, path: string, into: Map<string, string>, depth: number): void {
  if (depth > MAX_DEPTH) throw new BackendError(`${name}: more than ${MAX_DEPTH} levels deep`);
  if (node === null || node === undefined) return;
  if (node instanceof Map) {
    for (const [key, value] of node) {
      flatten(name, value, `${path}/${bytesOf(String(key))}`, into, depth + 1);
    }
  } else if (Array.isArray(node)) {
    for (const [index, value] of node.entries()) flatten(name, value, `${path}/${index}`, into, depth + 1);
  } else into.set(path === "" ? "/" : path, bytesOf(scalar(node)));
}

function scalar(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value);
  const text = String(value);
  return text.includes("e") ? withoutExponent(text) : text;
}

/** A number in plain digits. */
function withoutExponent(text: string): string {
  const [mantissa = "", power = "0"] = text.split("e");
  const negative = mantissa.startsWith("-");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  const plain =
    point <= 0
      ? `0.${"0".repeat(-point)}${digits}`
      : point >= digits.length
        ? digits.padEnd(point, "0")
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return negative ? `-${plain}` : plain;
}
