/** JSON as Go's encoding/json reads it into untyped values, with its error texts. Byte strings. */
import {
  ANY_MAP,
  ANYS,
  bool,
  boxed,
  CallError,
  decodeRune,
  encodeRune,
  float64,
  map,
  quote,
  slice,
  string,
  type Value,
} from "@quartet/go-template";

/** How deep values may lie in each other. Go allows 10,000; configuration does not come near this. */
const MAX_DEPTH = 500;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const END = "unexpected end of JSON input";
/** Places where no space may stand. */
const NO_SPACE = /^(in (?!string literal)|after decimal point)/;
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= "0" && char <= "9";

/** Decodes one JSON value; null is `undefined`. Throws a {@link CallError} with Go's text. */
export function decodeJson(json: string): Value | undefined {
  let at = 0;
  let depth = 0;

  /** Fails at the current character, in the words of the place where it stands. */
  const unexpected = (context: string): never => {
    const char = json[at];
    // At the end Go tells the state machine of a space, and only what takes one has ended too early.
    if (char === undefined && !NO_SPACE.test(context)) throw new CallError(END, END);
    throw new CallError(
      `invalid character ${shownChar(char ?? " ")} ${context}`,
      `invalid character ${context}`,
    );
  };
  const skipSpace = (): void => {
    while (json[at] === " " || json[at] === "\t" || json[at] === "\r" || json[at] === "\n") at += 1;
  };
  const enter = (): void => {
    at += 1;
    depth += 1;
    if (depth > MAX_DEPTH) throw new CallError("exceeded max depth");
  };
  const value = (): Value | undefined => {
    skipSpace();
    const char = json[at];
    if (char === "{") return object();
    if (char === "[") return array();
    if (char === '"') return string(text());
    if (char === "t") return word("true", bool(true));
    if (char === "f") return word("false", bool(false));
    if (char === "n") return word("null", undefined);
    if (char === "-" || isDigit(char)) return number();
    return unexpected("looking for beginning of value");
  };
  const word = (literal: string, meaning: Value | undefined): Value | undefined => {
    for (const [index, expected] of [...literal].entries()) {
      if (json[at] !== expected && index > 0) unexpected(`in literal ${literal} (expecting '${expected}')`);
      at += 1;
    }
    return meaning;
  };
  const object = (): Value => {
    enter();
    const entries = new Map<string, Value>();
    skipSpace();
    if (json[at] === "}") {
      at += 1;
      depth -= 1;
      return map(ANY_MAP, entries);
    }
    for (;;) {
      skipSpace();
      if (json[at] !== '"') unexpected("looking for beginning of object key string");
      const key = text();
      skipSpace();
      if (json[at] !== ":") unexpected("after object key");
      at += 1;
      entries.set(key, boxed(value()));
      skipSpace();
      if (json[at] !== "," && json[at] !== "}") unexpected("after object key:value pair");
      at += 1;
      if (json[at - 1] === "}") break;
    }
    depth -= 1;
    return map(ANY_MAP, entries);
  };
  const array = (): Value => {
    enter();
    const items: Value[] = [];
    skipSpace();
    if (json[at] === "]") {
      at += 1;
      depth -= 1;
      return slice(ANYS, items);
    }
    for (;;) {
      items.push(boxed(value()));
      skipSpace();
      if (json[at] !== "," && json[at] !== "]") unexpected("after array element");
      at += 1;
      if (json[at - 1] === "]") break;
    }
    depth -= 1;
    return slice(ANYS, items, "appended");
  };
  const number = (): Value => {
    const from = at;
    if (json[at] === "-") at += 1;
    if (json[at] === "0") at += 1;
    else digits("in numeric literal");
    if (json[at] === ".") {
      at += 1;
      digits("after decimal point in numeric literal");
    }
    if (json[at] === "e" || json[at] === "E") {
      at += 1;
      if (json[at] === "+" || json[at] === "-") at += 1;
      digits("in exponent of numeric literal");
    }
    numbers.push(json.slice(from, at));
    return float64(Number(json.slice(from, at)));
  };
  const digits = (context: string): void => {
    if (!isDigit(json[at])) unexpected(context);
    while (isDigit(json[at])) at += 1;
  };
  const text = (): string => {
    at += 1;
    const parts: string[] = [];
    for (;;) {
      const char = json[at];
      if (char === undefined || char < " ") return unexpected("in string literal");
      if (char === '"') break;
      if (char === "\\") parts.push(escaped());
      else {
        const { rune, size } = decodeRune(json, at);
        parts.push(size === 1 ? encodeRune(rune) : json.slice(at, at + size));
        at += size;
      }
    }
    at += 1;
    return parts.join("");
  };
  const escaped = (): string => {
    at += 1;
    const char = json[at] ?? "";
    const simple = ESCAPES[char];
    if (simple !== undefined) {
      at += 1;
      return simple;
    }
    if (char !== "u") return unexpected("in string escape code");
    at += 1;
    const first = hex();
    if (first < 0xd800 || first > 0xdbff || json[at] !== "\\" || json[at + 1] !== "u")
      return encodeRune(first);
    const before = at;
    at += 2;
    const second = hex();
    if (second >= 0xdc00 && second <= 0xdfff) {
      return encodeRune(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
    }
    at = before;
    return encodeRune(first);
  };
  const hex = (): number => {
    for (let i = 0; i < 4; i++, at++) {
      if (!/^[0-9a-fA-F]$/.test(json[at] ?? "")) unexpected("in \\u hexadecimal character escape");
    }
    return Number.parseInt(json.slice(at - 4, at), 16);
  };

  const numbers: string[] = [];
  const result = value();
  skipSpace();
  if (at < json.length) unexpected("after top-level value");
  // What is too large is told only when the whole text is JSON.
  const tooLarge = numbers.find((written) => !Number.isFinite(Number(written)));
  if (tooLarge !== undefined) {
    const problem = (number: string) => `json: cannot unmarshal ${number} into Go value of type float64`;
    throw new CallError(problem(`number ${tooLarge}`), problem("number"));
  }
  return result;
}

const JSON_NAMES: Readonly<Partial<Record<Value["kind"], string>>> = {
  bool: "bool",
  string: "string",
  float64: "number",
  slice: "array",
  map: "object",
};

/** Decodes an object; null gives one without keys. */
export function decodeJsonObject(json: string): Value {
  const value = decodeJson(json);
  if (value === undefined) return map(ANY_MAP, undefined);
  return value.kind === "map" ? value : mismatch(value, ANY_MAP.name);
}

/** Decodes an array; null gives one without elements. */
export function decodeJsonArray(json: string): Value {
  const value = decodeJson(json);
  if (value === undefined) return slice(ANYS, undefined);
  return value.kind === "slice" ? value : mismatch(value, ANYS.name);
}

function mismatch(value: Value, type: string): never {
  const problem = `json: cannot unmarshal ${JSON_NAMES[value.kind]} into Go value of type ${type}`;
  throw new CallError(problem, problem);
}

function shownChar(byte: string): string {
  if (byte === "'") return "'\\''";
  if (byte === '"') return "'\"'";
  return `'${quote(encodeRune(byte.charCodeAt(0))).slice(1, -1)}'`;
}
