/** The agent's log: lines on stderr. */
import { hostname } from "node:os";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "panic"] as const;
export type Level = "trace" | "debug" | "info" | "warn" | "error";

/** What a line is about; never a value of a key. */
export interface LogFields {
  readonly resource?: string;
  readonly dest?: string;
  readonly revision?: number | string;
}

export interface Log {
  log(level: Level, message: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly level: string;
  readonly format: "text" | "json";
  readonly write: (line: string) => void;
  /** Texts that must never appear: passwords and tokens. */
  readonly secrets: readonly string[];
}

/** Whether lines of a level are in a log of the wanted level. */
export function isLogged(level: Level, wanted: string): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf((wanted === "warning" ? "warn" : wanted) as Level);
}

/** Makes the log; levels below the wanted one are left out. */
export function createLog({ level, format, write, secrets }: LogOptions): Log {
  const host = hostname();
  return {
    log: (lineLevel, text, fields = {}) => {
      if (!isLogged(lineLevel, level)) return;
      const message = secrets.reduce((shown, secret) => shown.replaceAll(secret, "<hidden>"), text);
      const time = new Date().toISOString();
      if (format === "json") {
        write(`${JSON.stringify({ time, level: lineLevel, msg: message, ...fields })}\n`);
        return;
      }
      const line = message.replaceAll("\n", "\\n");
      write(`${time} ${host} confd[${process.pid}]: ${lineLevel.toUpperCase()} ${line}\n`);
    },
  };
}
