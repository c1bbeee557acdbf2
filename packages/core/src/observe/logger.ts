/**
 * Logging: JSON lines on stderr, or lines for people; levels by logger that may change while running; secrets and
 * floods of equal messages kept out.
 */
import { type DestinationStream, destination as openDestination, pino } from "pino";
import { type Clock, systemClock } from "../clock.ts";
import { formatForConsole } from "./console-format.ts";
import { errorFields } from "./error-fields.ts";
import { isEnabled, type LogLevel, type LogLevels, levelOf } from "./levels.ts";
import { redactFields } from "./redact.ts";
import { createSampler } from "./sampling.ts";
import type { Logger } from "./types.ts";

export interface LoggingOptions {
  levels: LogLevels;
  /** Default `json`. */
  format?: "json" | "console";
  /** Where lines go. Default: stderr, written at once, so that the last line before an exit is not lost. */
  destination?: { write(line: string): unknown };
  clock?: Clock;
}

/** The root logger with its controls. */
export interface Logging {
  readonly log: Logger;
  /** Replaces the levels in force. */
  setLevels(levels: LogLevels): void;
  /** Turns debug on for all loggers, or back to the levels set; returns whether it is on now (SIGUSR1). */
  toggleDebug(): boolean;
}

/** Fields that every line has; a caller's field of such a name gets an underscore in front. */
const RESERVED = new Set(["level", "ts", "logger", "msg", "repeated"]);

/** Fields that tell two messages of the same text apart when repeats are counted. */
const IDENTITY = ["controller", "namespace", "name", "key", "error"] as const;

/** Starts logging. */
export function createLogging(options: LoggingOptions): Logging {
  const clock = options.clock ?? systemClock;
  const destination = options.destination ?? openDestination({ dest: 2, sync: true });
  const write = options.format === "console" ? consoleWriter(destination) : jsonWriter(destination);
  const sample = createSampler(clock);
  let levels = options.levels;
  let debug = false;

  const isOn = (level: LogLevel, logger: string): boolean =>
    isEnabled(level, levelOf(levels, logger)) || (debug && isEnabled(level, "debug"));

  const emit = (level: LogLevel, logger: string, msg: string, fields: Record<string, unknown>): void => {
    const { error, ...others } = fields;
    const details = error === undefined ? undefined : errorFields(error);
    const identity = IDENTITY.map((name) => (name === "error" ? details?.error : others[name]));
    const { write: wanted, repeated } = sample(JSON.stringify([level, logger, msg, ...identity]));
    if (!wanted) return;
    const clean = redactFields(renameReserved(others), !isEnabled(level, "info"));
    const ts = new Date(clock.now()).toISOString();
    write({ level, ts, logger, msg }, { ...details, ...clean, ...(repeated !== undefined && { repeated }) });
  };

  const loggerOf = (name: string, bindings: Record<string, unknown>): Logger => {
    const at =
      (level: LogLevel) =>
      (msg: string, fields?: Record<string, unknown>): void => {
        if (isOn(level, name)) emit(level, name, msg, { ...bindings, ...fields });
      };
    return {
      error: at("error"),
      warn: at("warn"),
      info: at("info"),
      debug: at("debug"),
      trace: at("trace"),
      with: (fields) => loggerOf(name, { ...bindings, ...fields }),
      named: (part) => loggerOf(name === "" ? part : `${name}.${part}`, bindings),
    };
  };

  return {
    log: loggerOf("", {}),
    setLevels: (next) => {
      levels = next;
    },
    toggleDebug: () => {
      debug = !debug;
      return debug;
    },
  };
}

interface LogRecord {
  readonly level: LogLevel;
  readonly ts: string;
  readonly logger: string;
  readonly msg: string;
}

type Writer = (record: LogRecord, fields: Record<string, unknown>) => void;

function jsonWriter(destination: { write(line: string): unknown }): Writer {
  let ts = "";
  const sink = pino(
    {
      level: "trace",
      base: null,
      timestamp: () => `,"ts":"${ts}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination as DestinationStream,
  );
  return (record, fields) => {
    ts = record.ts;
    sink[record.level]({ logger: record.logger, ...fields }, record.msg);
  };
}

function consoleWriter(destination: { write(line: string): unknown }): Writer {
  const colour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  return (record, fields) => void destination.write(formatForConsole(record, fields, colour));
}

function renameReserved(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.keys(fields).some((name) => RESERVED.has(name))) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED.has(name) ? `_${name}` : name, value]),
  );
}
