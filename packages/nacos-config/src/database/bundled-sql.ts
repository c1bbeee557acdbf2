/** SQL that comes with the program. */

/**
 * The text, when it holds a statement. It is called as modules load, so that a bundle that lost its SQL ends at the
 * start of the process and never reaches a database.
 * @throws when there are only blanks and comments
 */
export function bundledSql(name: string, text: string): string {
  const statements = text.replaceAll(/\/\*.*?\*\/|--[^\n]*/gs, "").trim();
  if (statements === "")
    throw new Error(`bundled SQL ${name} is empty: the program is broken, build it again`);
  return text;
}
