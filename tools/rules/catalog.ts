/** Reads the rule books: which rules and acceptance scenarios exist. */

/** A rule or acceptance scenario of a rule book. */
export interface Rule {
  /** `CORE-101`, or `core A5` for an acceptance scenario. */
  id: string;
  /** Rule book, its file name without `.md`. */
  spec: string;
  line: number;
}

/** A rule's ID where it opens a table row or a list item. */
const RULE = /^(?:\|\s*|[-*]\s+|\d+\.\s+)(?:\*\*|`)?([A-Z]+(?:-[A-Z]+)*-\d+)\b/;
/** A scenario's number where it opens a table row or a list item below the heading "Acceptance scenarios". */
const SCENARIO = /^(?:\|\s*(?:\*\*)?A(\d+)\b|(\d+)\.\s)/;
const HEADING = /^#{1,6}\s+(.*)$/;

/**
 * All rules and scenarios of one rule book, in the order of the text; an ID that opens several rows counts once.
 * @param spec file name without `.md`
 */
export function rulesOf(spec: string, text: string): Rule[] {
  const found = new Map<string, Rule>();
  let acceptance = false;
  for (const [index, line] of text.split("\n").entries()) {
    const heading = HEADING.exec(line);
    if (heading !== null) acceptance = /acceptance scenarios/i.test(heading[1] ?? "");
    const rule = RULE.exec(line)?.[1];
    const scenario = acceptance ? SCENARIO.exec(line) : null;
    const id = rule ?? (scenario === null ? undefined : `${spec} A${Number(scenario[1] ?? scenario[2])}`);
    if (id !== undefined && !found.has(id)) found.set(id, { id, spec, line: index + 1 });
  }
  return [...found.values()];
}

/** IDs that a test title carries: rule IDs, and `<spec> A<number>` for the given spec names. */
export function idsIn(title: string, specs: readonly string[]): string[] {
  const rules = title.match(/\b[A-Z]+(?:-[A-Z]+)*-\d+\b/g) ?? [];
  const scenario = new RegExp(`\\b(${specs.join("|")}) A(\\d+)\\b`, "g");
  const scenarios = [...title.matchAll(scenario)].map((match) => `${match[1]} A${Number(match[2])}`);
  return [...new Set([...rules, ...scenarios])];
}
