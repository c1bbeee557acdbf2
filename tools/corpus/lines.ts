/** Reading of corpus files: one JSON object a line. */
import { CorpusFormatError } from "@quartet/testing/replay";

/** Cases of a corpus text; empty lines are passed over. */
export function casesOf(text: string, file: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return [value as Record<string, unknown>];
    } catch {
      // reported below, like any other line that is no object
    }
    throw new CorpusFormatError(`${file}:${index + 1}: not a JSON object; write one complete JSON object a line`);
  });
}
