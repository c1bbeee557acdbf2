/** Log lines for people. */

const COLOURS: Readonly<Record<string, string>> = {
  error: "31",
  warn: "33",
  info: "32",
  debug: "36",
  trace: "90",
};

/** One line `time LEVEL logger message key=value …`; a stack trace follows on lines of its own. */
export function formatForConsole(
  record: { level: string; ts: string; logger: string; msg: string },
  fields: Readonly<Record<string, unknown>>,
  colour: boolean,
): string {
  const paint = (code: string, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const { stacktrace, ...rest } = fields;
  const pairs = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${paint("2", `${name}=`)}${printValue(value)}`);
  const level = paint(COLOURS[record.level] ?? "0", record.level.toUpperCase().padEnd(5));
  const head = [record.ts, level, record.logger, record.msg].filter((part) => part !== "").join(" ");
  const line = [head, ...pairs].join(" ");
  return typeof stacktrace === "string" ? `${line}\n${stacktrace}\n` : `${line}\n`;
}

function printValue(value: unknown): string {
  const isWord = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return isWord ? (value as string) : JSON.stringify(value);
}
