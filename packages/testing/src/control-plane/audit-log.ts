/** The API server's audit log: its policy, and a reader that follows the file. */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { stringify } from "yaml";
import type { RequestRecord } from "../api-server.ts";

export interface AuditOptions {
  /** Users whose requests are logged with their request and response bodies; see `auditEvents`. */
  requestResponseUsers?: readonly string[];
}

/** An event of `audit.k8s.io/v1`, as far as tests look at it. */
export interface AuditEvent {
  auditID: string;
  stage: "ResponseStarted" | "ResponseComplete" | "Panic";
  verb: string;
  requestURI: string;
  user: { username: string; groups?: string[] };
  impersonatedUser?: { username: string; groups?: string[] };
  userAgent?: string;
  objectRef?: {
    resource?: string;
    namespace?: string;
    name?: string;
    apiGroup?: string;
    subresource?: string;
  };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
  requestObject?: unknown;
  responseObject?: unknown;
}

/** User agent of requests by which the harness itself marks a point in the log; they are not reported. */
export const MARKER_AGENT = "quartet-audit-marker";

/** Policy text: metadata of every request, bodies for the given users. */
export function auditPolicy(options: AuditOptions = {}): string {
  const users = options.requestResponseUsers ?? [];
  return stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [...(users.length > 0 ? [{ level: "RequestResponse", users }] : []), { level: "Metadata" }],
  });
}

/**
 * What a test sees of an audit event; `undefined` for events that say nothing new. A watch counts when it starts, any
 * other request when it is finished. The log does not tell an apply from other patches: one with `force` in its query
 * is an apply, since the server refuses `force` elsewhere.
 */
export function requestOf(event: AuditEvent): RequestRecord | undefined {
  const isWatch = event.verb === "watch";
  const started = event.stage === "ResponseStarted";
  // A watch that was refused never starts.
  const refused = isWatch && !started && (event.responseStatus?.code ?? 200) >= 400;
  if (isWatch ? !started && !refused : started) return undefined;
  const [path = "", query = ""] = event.requestURI.split("?", 2);
  const parameters = new URLSearchParams(query);
  const object = event.objectRef ?? {};
  return {
    verb: event.verb === "patch" && parameters.has("force") ? "apply" : event.verb,
    resource: object.resource ?? "",
    group: object.apiGroup ?? "",
    subresource: object.subresource ?? "",
    namespace: object.namespace ?? "",
    name: object.name ?? "",
    path,
    user: (event.impersonatedUser ?? event.user).username,
    userAgent: event.userAgent ?? "",
    code: event.responseStatus?.code ?? 0,
    at: Date.parse(event.requestReceivedTimestamp),
    dryRun: parameters.has("dryRun"),
  };
}

/** True when the record has all values of the filter and arrived at or after `since`. */
export function matchesFilter(
  record: RequestRecord,
  filter: Partial<RequestRecord> & { since?: number },
): boolean {
  const { since, ...values } = filter;
  if (since !== undefined && record.at < since) return false;
  return Object.entries(values).every(
    ([name, value]) => value === undefined || record[name as keyof RequestRecord] === value,
  );
}

export interface AuditLog {
  /** Reads what was appended since the last call and hands each complete line's event to `onEvent`. */
  advance(onEvent: (event: AuditEvent) => void): Promise<void>;
}

/** Bytes read at a time. */
const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/**
 * Follows an audit log with the lines that begin at or after a byte offset. A file that does not exist yet is empty.
 *
 * The size of a file that is being written may lie within a line: a system writes one long line in pieces. Such a line
 * began before the offset, so it is left out.
 */
export function followAuditLog(file: string, from = 0): AuditLog {
  let offset = Math.max(0, from - 1); // the byte before the offset tells whether a line begins there
  let withinLine = from > 0;
  let rest = Buffer.alloc(0);
  return {
    async advance(onEvent) {
      const size = sizeOfSync(file);
      if (size <= offset) return;
      const handle = await open(file, "r");
      try {
        while (offset < size) {
          const { bytesRead, buffer } = await handle.read({
            buffer: Buffer.allocUnsafe(CHUNK_BYTES),
            position: offset,
          });
          if (bytesRead === 0) return;
          offset += bytesRead;
          const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
          const end = bytes.lastIndexOf(NEWLINE) + 1;
          rest = bytes.subarray(end);
          const start = withinLine ? bytes.indexOf(NEWLINE) + 1 : 0;
          if (end > 0) withinLine = false;
          for (const line of bytes.toString("utf8", start, end).split("\n")) {
            if (line !== "") onEvent(JSON.parse(line) as AuditEvent);
          }
        }
      } finally {
        await handle.close();
      }
    },
  };
}

/** Size in bytes, 0 when the file does not exist. */
export function sizeOfSync(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
