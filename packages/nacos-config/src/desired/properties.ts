/**
 * Reads Java properties the way Nacos does, for checks and reports only: the configuration itself is never rewritten.
 *
 * The file's bytes are read as ISO-8859-1, as `java.util.Properties` and Spring do.
 */

/** A key and its value after unescaping. */
export interface Property {
  readonly key: string;
  readonly value: string;
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** The text holds bytes beyond ASCII, which arrive garbled. */
  readonly nonAscii: boolean;
}

/** A text that Nacos refuses to start on. Its message holds no content. */
export class PropertiesError extends Error {
  /** Line of the fault, from 1. */
  readonly line: number;

  constructor(line: number) {
    super(`malformed \\uxxxx escape in line ${line}`);
    this.name = "PropertiesError";
    this.line = line;
  }
}

/** Effective properties of a text: the last of several equal keys wins. Throws {@link PropertiesError}. */
export function parseProperties(text: string): Map<string, string> {
  return new Map(readProperties(text).map(({ key, value }) => [key, value]));
}

/** Properties that a text may have. Real configurations have some hundred; more would take the memory of the process. */
export const MAX_PROPERTIES = 20_000;

/** A text with more than {@link MAX_PROPERTIES} properties. */
export class TooManyPropertiesError extends Error {}

/**
 * All properties in the order of the text; those with an empty key are dropped, as Spring does. Takes time and memory in
 * proportion to the text. Throws {@link PropertiesError} and {@link TooManyPropertiesError}.
 */
export function readProperties(text: string): Property[] {
  const latin1 = Buffer.from(text, "utf8").toString("latin1");
  const properties: Property[] = [];
  for (const line of logicalLines(latin1)) {
    const property = toProperty(line);
    if (property.key === "") continue;
    if (properties.length === MAX_PROPERTIES) {
      throw new TooManyPropertiesError(`more than ${MAX_PROPERTIES} properties`);
    }
    properties.push(property);
  }
  return properties;
}

/** Continuation lines joined, comments and blank lines left out. */
interface LogicalLine {
  text: string;
  /** Number of its first natural line, from 1. */
  line: number;
  /** Offset of each natural line's part; the lines follow each other. */
  offsets: number[];
}

const isBlank = (char: string): boolean => char === " " || char === "\t" || char === "\f";

function* logicalLines(text: string): Generator<LogicalLine> {
  let current: LogicalLine | undefined;
  for (const [index, natural] of text.split(/\r\n|\r|\n/).entries()) {
    const body = natural.replace(/^[ \t\f]+/, "");
    if (current === undefined && (body === "" || body.startsWith("#") || body.startsWith("!"))) continue;
    const continued = endsInContinuation(body);
    const part = continued ? body.slice(0, -1) : body;
    // A continuation that has nothing so far counts as a fresh line, so a comment may follow it.
    if (current === undefined && part === "" && continued) continue;
    current ??= { text: "", line: index + 1, offsets: [] };
    current.offsets.push(current.text.length);
    current.text += part;
    if (continued) continue;
    yield current;
    current = undefined;
  }
  if (current !== undefined) yield current;
}

/** An odd number of backslashes at the end. */
function endsInContinuation(line: string): boolean {
  let at = line.length;
  while (at > 0 && line[at - 1] === "\\") at -= 1;
  return (line.length - at) % 2 === 1;
}

function toProperty(line: LogicalLine): Property {
  const { text } = line;
  const keyEnd = endOfKey(text);
  const valueStart = startOfValue(text, keyEnd);
  return {
    key: unescaped(line, 0, keyEnd),
    value: unescaped(line, valueStart, text.length),
    line: line.line,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the control characters
    nonAscii: /[^\x00-\x7f]/.test(text),
  };
}

/** Offset of the first unescaped separator. */
function endOfKey(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\\") at += 1;
    else if (char === "=" || char === ":" || isBlank(char)) return at;
  }
  return text.length;
}

/** Skips blanks and at most one `=` or `:`. */
function startOfValue(text: string, keyEnd: number): number {
  let at = keyEnd;
  let separated = false;
  while (at < text.length) {
    const char = text[at]!;
    if (!isBlank(char)) {
      if (separated || (char !== "=" && char !== ":")) return at;
      separated = true;
    }
    at += 1;
  }
  return at;
}

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

function unescaped(line: LogicalLine, start: number, end: number): string {
  let result = "";
  for (let at = start; at < end; at += 1) {
    const char = line.text[at]!;
    if (char !== "\\") {
      result += char;
      continue;
    }
    at += 1;
    const escaped = line.text[at] ?? "";
    if (escaped !== "u") {
      result += CONTROL_ESCAPES[escaped] ?? escaped;
      continue;
    }
    const digits = line.text.slice(at + 1, Math.min(at + 5, end));
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw new PropertiesError(lineAt(line, at));
    result += String.fromCharCode(Number.parseInt(digits, 16));
    at += 4;
  }
  return result;
}

function lineAt({ line, offsets }: LogicalLine, offset: number): number {
  return line + offsets.findLastIndex((start) => start <= offset);
}
