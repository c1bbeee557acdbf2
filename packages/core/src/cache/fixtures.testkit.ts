/** Kinds, objects, errors and a logger for the tests of the cache. */
import { ApiError, type StatusCause } from "../client/errors.ts";
import type { WatchEvent } from "../client/types.ts";
import { defineKind, type Kind, type KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";

export interface Thing extends KubeObject {
  spec?: { text?: string; size?: number; owner?: string };
  data?: Record<string, unknown>;
}

/** The kind that all cache tests use. */
export const things: Kind<Thing> = defineKind<Thing>({
  group: "test.quartet.io",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
});

/** A cluster-scoped one. */
export const worlds: Kind<Thing> = defineKind<Thing>({
  group: "test.quartet.io",
  version: "v1",
  kind: "World",
  plural: "worlds",
  namespaced: false,
});

export function thing(name: string, rest: Partial<Thing> & { namespace?: string } = {}): Thing {
  const { namespace = "a", metadata, ...more } = rest;
  return {
    apiVersion: "test.quartet.io/v1",
    kind: "Thing",
    metadata: { name, ...(namespace !== "" && { namespace }), ...metadata },
    ...more,
  };
}

export function apiError(
  code: number,
  message = `code ${code}`,
  more: Partial<ApiErrorParts> = {},
): ApiError {
  return new ApiError({
    code,
    reason: more.reason ?? (code === 410 ? "Expired" : ""),
    message,
    details: { causes: more.causes ?? [] },
    retryAfterSeconds: more.retryAfterSeconds,
    continueToken: more.continueToken,
    method: "GET",
    path: "/apis/test.quartet.io/v1/things",
  });
}

interface ApiErrorParts {
  reason: string;
  causes: StatusCause[];
  retryAfterSeconds: number;
  continueToken: string;
}

/** An ERROR event with a Status. */
export function errorEvent(code: number, message: string, reason = ""): WatchEvent<Thing> {
  const status = { apiVersion: "v1", kind: "Status", metadata: {}, code, message, reason };
  return { type: "ERROR", object: status as unknown as Thing };
}

export interface LogLine {
  level: string;
  msg: string;
  fields: Record<string, unknown>;
}

/** Logger that keeps its lines. */
export function memoryLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const make = (base: Record<string, unknown>): Logger => {
    const write =
      (level: string) =>
      (msg: string, fields: Record<string, unknown> = {}) =>
        void lines.push({ level, msg, fields: { ...base, ...fields } });
    return {
      error: write("error"),
      warn: write("warn"),
      info: write("info"),
      debug: write("debug"),
      trace: write("trace"),
      with: (fields) => make({ ...base, ...fields }),
      named: (logger) => make({ ...base, logger }),
    };
  };
  return { log: make({}), lines };
}
