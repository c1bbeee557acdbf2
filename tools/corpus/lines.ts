/** Reading of corpus files: one JSON object a line. */

/** A line that is not a JSON object; tells its number. */
export class CorpusFormatError extends Error {}

/** Cases of a corpus text; empty lines are passed over. */
export function casesOf(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return [value as Record<string, unknown>];
    } catch {
      // reported below, like any other line that is no object
    }
    throw new CorpusFormatError(`line ${index + 1}: not a JSON object`);
  });
}
