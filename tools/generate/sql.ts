/** SQL files as a module, so that a bundle holds them. */

/** The module: a constant for each file. Comments at a file's head are about the file, and stay there. */
export function sqlModule(files: Readonly<Record<string, string>>): string {
  const constants = Object.entries(files).map(([file, text]) => {
    const name = file
      .replace(/\.sql$/, "")
      .replaceAll("-", "_")
      .toUpperCase();
    const statements = text.replace(/^(--.*\n|\n)*/, "");
    return `export const ${name}: string = \`${statements.replace(/[\\`]|\$(?=\{)/g, "\\$&")}\`;\n`;
  });
  return `// Generated from sql/ by \`npm run generate\`: edit the SQL instead.\n${constants.join("\n")}`;
}
