/** Slash-separated paths as Go's package `path` treats them; byte strings. */
import { CallError, decodeRune } from "@quartet/go-template";

/** The shortest path that means the same; never empty. */
export function cleanPath(path: string): string {
  if (path === "") return ".";
  const rooted = path.startsWith("/");
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!rooted) kept.push("..");
  }
  const joined = kept.join("/");
  return rooted ? `/${joined}` : joined || ".";
}

/** Joins the parts that are not empty, and cleans; empty when all are. */
export function joinPath(...parts: readonly string[]): string {
  const filled = parts.filter((part) => part !== "");
  return filled.length === 0 ? "" : cleanPath(filled.join("/"));
}

/** The last element; `.` of an empty path. */
export function basePath(path: string): string {
  if (path === "") return ".";
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  const trimmed = path.slice(0, end);
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** All but the last element, cleaned. */
export const dirPath = (path: string): string => cleanPath(path.slice(0, path.lastIndexOf("/") + 1));

/** Matches a whole path against a pattern. */
export type Matcher = (name: string) => boolean;

interface Chunk {
  /** Whether a `*` stands before it. */
  readonly star: boolean;
  readonly steps: readonly Step[];
}
/** Takes one character off the name at a position: the position behind it, or -1. */
type Step = (name: string, at: number) => number;

/** Compiles a pattern: `*` and `?` stop at slashes, `[a-z]`, `[^a]`, `\c`. Throws "syntax error in pattern". */
export function compilePattern(pattern: string): Matcher {
  const chunks = parseChunks(pattern);
  return (name) => matchChunks(chunks, name);
}

/** What every match begins with, for searching in sorted keys. */
export function literalPrefix(pattern: string): string {
  const end = pattern.search(/[*?[\\]/);
  return end === -1 ? pattern : pattern.slice(0, end);
}

function matchChunks(chunks: readonly Chunk[], name: string): boolean {
  let at = 0;
  for (const [index, { star, steps }] of chunks.entries()) {
    const last = index === chunks.length - 1;
    if (star && steps.length === 0) return !name.includes("/", at);
    let end = matchSteps(steps, name, at);
    const fits = (): boolean => end !== -1 && (!last || end === name.length);
    for (let skip = at; star && !fits() && skip < name.length && name[skip] !== "/"; skip++) {
      end = matchSteps(steps, name, skip + 1);
    }
    if (!fits()) return false;
    at = end;
  }
  return at === name.length;
}

function matchSteps(steps: readonly Step[], name: string, from: number): number {
  let at = from;
  for (const step of steps) {
    at = step(name, at);
    if (at === -1) return -1;
  }
  return at;
}

const bad = (): never => {
  throw new CallError("syntax error in pattern");
};

function parseChunks(pattern: string): Chunk[] {
  const chunks: Chunk[] = [];
  let at = 0;
  while (at < pattern.length) {
    const star = pattern[at] === "*";
    while (pattern[at] === "*") at += 1;
    const steps: Step[] = [];
    while (at < pattern.length && pattern[at] !== "*") {
      const { step, end } = parseStep(pattern, at);
      steps.push(step);
      at = end;
    }
    chunks.push({ star, steps });
  }
  return chunks;
}

function parseStep(pattern: string, at: number): { step: Step; end: number } {
  const char = pattern.charAt(at);
  if (char === "?") {
    const step: Step = (name, i) => (i >= name.length || name[i] === "/" ? -1 : i + decodeRune(name, i).size);
    return { step, end: at + 1 };
  }
  if (char === "[") return parseClass(pattern, at + 1);
  const escaped = char === "\\";
  const literal = escaped ? (pattern[at + 1] ?? bad()) : char;
  return { step: (name, i) => (name[i] === literal ? i + 1 : -1), end: at + (escaped ? 2 : 1) };
}

function parseClass(pattern: string, start: number): { step: Step; end: number } {
  let at = start;
  const negated = pattern[at] === "^";
  if (negated) at += 1;
  const ranges: (readonly [number, number])[] = [];
  const readChar = (): number => {
    if (at >= pattern.length || pattern[at] === "-" || pattern[at] === "]") bad();
    if (pattern[at] === "\\") at += 1;
    const { rune, size } = decodeRune(pattern, at);
    if (size === 0 || (rune === 0xfffd && size === 1)) bad();
    at += size;
    if (at >= pattern.length) bad();
    return rune;
  };
  while (pattern[at] !== "]" || ranges.length === 0) {
    const low = readChar();
    let high = low;
    if (pattern[at] === "-") {
      at += 1;
      high = readChar();
    }
    ranges.push([low, high]);
  }
  const step: Step = (name, i) => {
    if (i >= name.length) return -1;
    const { rune, size } = decodeRune(name, i);
    return ranges.some(([low, high]) => low <= rune && rune <= high) === negated ? -1 : i + size;
  };
  return { step, end: at + 1 };
}
