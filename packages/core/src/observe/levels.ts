/** Log levels, for the whole process and for single loggers. */
import { splitPair } from "../helpers/pair.ts";

/** Levels from the most important down. */
const LOG_LEVELS = ["error", "warn", "info", "debug", "trace"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Levels in force: a default, and levels of loggers by name. */
export interface LogLevels {
  readonly default: LogLevel;
  readonly byLogger: Readonly<Record<string, LogLevel>>;
}

/** Levels of a text such as `info,tars=debug`; the part without a name is the default (`info` when absent). */
export function parseLogLevels(text: string): LogLevels {
  let fallback: LogLevel = "info";
  const byLogger: Record<string, LogLevel> = {};
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [first, second] = splitPair(entry);
    const level = LOG_LEVELS.find((known) => known === (second ?? first).toLowerCase());
    if (level === undefined || first === "") {
      throw new Error(
        `${JSON.stringify(second ?? first)} is not a log level: write one of ${LOG_LEVELS.join(", ")}, or LOGGER=LEVEL`,
      );
    }
    if (second === undefined) fallback = level;
    else byLogger[first] = level;
  }
  return { default: fallback, byLogger };
}

/**
 * Level of a logger with a dotted name such as `controller.tars`. An entry counts for the logger of that full name,
 * for loggers below it, and for any logger with that part in its name; the entry nearest the end wins.
 */
export function levelOf(levels: LogLevels, logger: string): LogLevel {
  const parts = logger.split(".");
  for (let end = parts.length; end > 0; end--) {
    const found = levels.byLogger[parts.slice(0, end).join(".")] ?? levels.byLogger[parts[end - 1]!];
    if (found !== undefined) return found;
  }
  return levels.default;
}

/** True when `level` is at least as important as `threshold`. */
export function isEnabled(level: LogLevel, threshold: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(threshold);
}
