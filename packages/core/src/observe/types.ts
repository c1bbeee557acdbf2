/** Contracts of logging, metrics and events. */
import type { KubeObject, ObjectMeta } from "../object.ts";

/** Structured logger; `msg` is constant text, data goes into `fields` (CORE-286). */
export interface Logger {
  error(msg: string, fields?: Record<string, unknown>): void;
  warn(msg: string, fields?: Record<string, unknown>): void;
  info(msg: string, fields?: Record<string, unknown>): void;
  debug(msg: string, fields?: Record<string, unknown>): void;
  trace(msg: string, fields?: Record<string, unknown>): void;
  /** Logger with more fields on every line. */
  with(fields: Record<string, unknown>): Logger;
  /** Logger whose `logger` field is `name` below the parent's, with a level of its own (`--log-level=info,tars=debug`). */
  named(name: string): Logger;
}

/** What an event tells. Texts must hold no secret value. */
export interface EventInput {
  type: "Normal" | "Warning";
  /** CamelCase, at most 128 characters. */
  reason: string;
  /** What the controller did or tried, CamelCase. Default: the reason. */
  action?: string;
  /** For people; at most 1 024 bytes, longer notes are cut. */
  note: string;
  /** Events that differ in this are told one by one, although all but their notes is equal. It is not sent. */
  distinct?: string;
}

/** Object that an event is about. */
export interface EventTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Pick<ObjectMeta, "name" | "namespace" | "uid" | "resourceVersion">>;
}

/** Sends events without ever blocking or failing the caller (CORE-289 to 292). */
export interface EventRecorder {
  record(regarding: EventTarget, event: EventInput, related?: EventTarget): void;
}

/** Objects that can be named in a log line. */
export type LoggableObject = Pick<KubeObject, "apiVersion" | "kind" | "metadata">;
