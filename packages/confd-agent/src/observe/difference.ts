/** The difference of two texts in unified form. */

/** Lines compared at most; beyond that a file counts as wholly different. */
const MAX_LINES = 5000;

export interface DifferenceOptions {
  /** Lines around each difference. */
  readonly context: number;
  readonly color: boolean;
}

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Empty when the texts are the same. */
export function unifiedDifference(
  path: string,
  before: string,
  after: string,
  options: DifferenceOptions,
): string {
  if (before === after) return "";
  const lines = difference(linesOf(before), linesOf(after));
  const hunks = hunksOf(lines, options.context);
  const paint = (text: string): string => (options.color ? painted(text) : text);
  return [`--- ${path}`, `+++ ${path}`, ...hunks].map(paint).join("\n").concat("\n");
}

const painted = (line: string): string =>
  line.startsWith("+") ? `\x1b[32m${line}\x1b[0m` : line.startsWith("-") ? `\x1b[31m${line}\x1b[0m` : line;

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.endsWith("\n")
    ? text.slice(0, -1).split("\n")
    : [...text.split("\n").slice(0, -1), `${text.split("\n").at(-1)}\n\\ No newline at end of file`];
}

/** Longest common subsequence between what is the same at both ends. */
function difference(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end += 1;
  const same = (text: string): Line => ({ sign: " ", text });
  const middle = middleOf(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)];
}

function middleOf(before: readonly string[], after: readonly string[]): Line[] {
  const removed = before.map((text): Line => ({ sign: "-", text }));
  const added = after.map((text): Line => ({ sign: "+", text }));
  if (before.length * after.length > MAX_LINES * MAX_LINES || before.length === 0 || after.length === 0) {
    return [...removed, ...added];
  }
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ sign: " ", text: before[i]! });
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) lines.push(removed[i++]!);
    else lines.push(added[j++]!);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
}

function hunksOf(lines: readonly Line[], context: number): string[] {
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ sign }) => sign !== " "),
  );
  const output: string[] = [];
  let [oldLine, newLine] = [1, 1];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (end < lines.length && shown[end] === shown[at]) end += 1;
    const part = lines.slice(at, end);
    const oldCount = part.filter(({ sign }) => sign !== "+").length;
    const newCount = part.filter(({ sign }) => sign !== "-").length;
    if (shown[at] === true) {
      const place = (line: number, count: number): string => `${count === 0 ? line - 1 : line},${count}`;
      output.push(`@@ -${place(oldLine, oldCount)} +${place(newLine, newCount)} @@`);
      output.push(...part.map(({ sign, text }) => sign + text));
    }
    oldLine += oldCount;
    newLine += newCount;
    at = end;
  }
  return output;
}
