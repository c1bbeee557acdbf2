/** Long hostile texts for parsers, and the proof that a parser takes time in proportion to their length. */

/** Lengths that are tried, each 16 times the one before; the last is 1 MiB, the most that one object can hold. */
const SIZES = [4 * 1024, 64 * 1024, 1024 * 1024];
/** Factor of CPU time from one length to the next: 16 where it is linear, 256 where it is quadratic. */
const MAX_FACTOR = 64;
/** What is too short to be measured counts as that many milliseconds. */
const FLOOR_MS = 10;

/** A text of `size` characters: `before`, then `part` again and again. */
export function textOf(part: string, size: number, before: string = ""): string {
  return before + part.repeat(Math.ceil(size / part.length)).slice(0, Math.max(0, size - before.length));
}

/**
 * Texts of `size` characters on which careless scanners and regular expressions take quadratic time: long runs of one
 * character, of openings without their ends, of separators, and of what looks like the begin of a match.
 */
export function worstTexts(size: number): string[] {
  const runs = [
    "a",
    " ",
    "\t",
    "\n",
    "\\",
    "/",
    "-",
    "=",
    ",",
    ".",
    ":",
    "#",
    "$",
    "{",
    "}",
    "[",
    "(",
    '"',
    "'",
    "0",
    "1",
  ];
  const pairs = [
    "${",
    "{{",
    "a=",
    "a:",
    "a,",
    "a.",
    " a",
    "a\n",
    "\\\n",
    "\\\\",
    "\r\n",
    "=\n",
    "://",
    "-eyJ",
    "e1",
    "1e",
    "ü",
    "😀",
  ];
  return [...runs, ...pairs].flatMap((part) => [textOf(part, size), `${textOf(part, size - 1)}!`]);
}

/**
 * Calls `parse` with growing sizes up to 1 MiB, and throws as soon as its time grows much faster than the size. Measures
 * CPU time in ratios, so that the load of the machine does not count. What `parse` throws does not count either: a
 * refusal is an answer.
 *
 * @example
 * expectLinear((size) => parseProperties(textOf("\\", size)));
 */
export function expectLinear(parse: (size: number) => unknown): void {
  let before: number | undefined;
  for (const size of SIZES) {
    const spent = Math.max(
      FLOOR_MS,
      cpuOf(() => parse(size)),
    );
    if (before !== undefined && spent > before * MAX_FACTOR) {
      throw new Error(
        `CPU time grew ${Math.round(spent / before)} times, to ${Math.round(spent)} ms, from ${size / 16} to ${size} characters`,
      );
    }
    before = spent;
  }
}

/** CPU time that this thread spends on a call, in milliseconds. */
function cpuOf(call: () => unknown): number {
  const start = process.threadCpuUsage();
  try {
    call();
  } catch {
    // A parser may refuse the text.
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
