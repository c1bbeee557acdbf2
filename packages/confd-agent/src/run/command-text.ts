/** Texts of commands: what is put in for `{{.src}}` and `{{.dest}}`. */
import {
  bytesOf,
  map,
  parseTemplate,
  STRING,
  string,
  TemplateError,
  type Type,
  textOf,
} from "@quartet/go-template";

const STRING_MAP: Type = { kind: "map", name: "map[string]string", element: STRING };
const TOKEN = /\{\{ *\.(?:src|dest) *\}\}/g;

/** What is wrong with a check_cmd, which is a template; nothing when it is right. */
export function checkCommandProblem(command: string): string | undefined {
  try {
    parseTemplate({ name: "checkcmd", source: bytesOf(command) });
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** The text of a check_cmd for a candidate. */
export function checkCommand(command: string, src: string): string {
  const template = parseTemplate({ name: "checkcmd", source: bytesOf(command) });
  return textOf(template.render({ data: map(STRING_MAP, new Map([["src", string(bytesOf(src))]])) }));
}

/** The text of a reload_cmd: only the two tokens are replaced, by the path of the file. */
export const reloadCommand = (command: string, dest: string): string => command.replace(TOKEN, () => dest);

/** Whether a path put into a command unquoted would not reach it as one word. */
export const hasUnsafePath = (path: string): boolean => /[^A-Za-z0-9_@%+=:,./-]/.test(path);
