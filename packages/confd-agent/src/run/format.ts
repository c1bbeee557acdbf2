/** Whether a rendered text is of the format that its resource promises. */
import { parse as parseToml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import type { Resource } from "../resource/resource.ts";

/** What is wrong with the text, or nothing. */
export function formatProblem(format: Resource["outputFormat"], text: string): string | undefined {
  try {
    switch (format) {
      case "":
        return undefined;
      case "json":
        JSON.parse(text);
        return undefined;
      case "toml":
        parseToml(text);
        return undefined;
      case "xml":
        return xmlProblem(text);
      case "yaml":
      case "yml": {
        const documents = parseAllDocuments(text, { logLevel: "silent" });
        const [problem] = "empty" in documents ? [] : documents.flatMap(({ errors }) => errors);
        return problem?.message.split("\n")[0];
      }
    }
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split("\n")[0];
  }
}

/** The tags of an XML text: each is closed in its turn, and there is one element around all. */
function xmlProblem(text: string): string | undefined {
  const open: string[] = [];
  let roots = 0;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    const skipped = SPECIAL.find(([start]) => text.startsWith(start, at));
    const end = text.indexOf(skipped?.[1] ?? ">", at);
    if (end === -1) return `unclosed ${skipped?.[0] ?? "tag"}`;
    const tag = text.slice(at + 1, end);
    at = end + 1;
    if (skipped !== undefined) continue;
    const name = /^\/?([^\s/>]+)/.exec(tag)?.[1];
    if (name === undefined) return "a tag without a name";
    if (tag.startsWith("/")) {
      const expected = open.pop();
      if (expected !== name)
        return `</${name}> where ${expected === undefined ? "nothing" : `<${expected}>`} is open`;
    } else {
      if (open.length === 0) roots += 1;
      if (!tag.endsWith("/")) open.push(name);
    }
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`;
  return roots === 1 ? undefined : `${roots} elements at the top, expected 1`;
}

const SPECIAL: readonly (readonly [string, string])[] = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
];
