/** Decodes the lines of a watch answer as they arrive. */
import type { KubeObject } from "../object.ts";
import { decodeJson } from "./json.ts";
import type { WatchEvent } from "./types.ts";

/** Longest line; etcd's default request limit is 1.5 MiB, so a longer one is no event. CORE-171. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const EVENT_TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);

/** The event stream broke its format; the watch cannot go on. */
export class WatchFormatError extends Error {
  override readonly name = "WatchFormatError";
}

export interface WatchDecoder<T extends KubeObject> {
  /** Events that are complete with this chunk, decoded as they are taken. Throws `WatchFormatError`. */
  push(chunk: Uint8Array): Iterable<WatchEvent<T>>;
  /** The event of a last line without line break, if any. Throws `WatchFormatError` when it is unfinished. */
  end(): Iterable<WatchEvent<T>>;
}

/** Decoder for one watch. Lines are cut in bytes, so characters may span chunks. */
export function createWatchDecoder<T extends KubeObject>(): WatchDecoder<T> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const take = (tail: Uint8Array): string => {
    const text = pending.length === 0 ? asText(tail) : Buffer.concat([...pending, tail]).toString("utf8");
    pending = [];
    pendingBytes = 0;
    return text;
  };
  const check = (bytes: number): void => {
    if (bytes > MAX_LINE_BYTES) {
      throw new WatchFormatError(`a watch event is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
    }
  };

  return {
    *push(chunk) {
      let from = 0;
      for (;;) {
        const at = chunk.indexOf(NEWLINE, from);
        const end = at < 0 ? chunk.length : at;
        check(pendingBytes + end - from);
        if (at < 0) break;
        const event = decodeEvent<T>(take(chunk.subarray(from, at)));
        if (event !== undefined) yield event;
        from = at + 1;
      }
      if (from < chunk.length) {
        pending.push(chunk.subarray(from));
        pendingBytes += chunk.length - from;
      }
    },
    *end() {
      const event = decodeEvent<T>(take(new Uint8Array()));
      if (event !== undefined) yield event;
    },
  };
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function decodeEvent<T extends KubeObject>(line: string): WatchEvent<T> | undefined {
  if (line.trim() === "") return undefined;
  let decoded: unknown;
  try {
    decoded = decodeJson(line);
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    throw new WatchFormatError(`a watch event of ${line.length} characters is not valid JSON`);
  }
  const event = decoded as WatchEvent<T> | null;
  if (typeof event !== "object" || event === null || !EVENT_TYPES.has(event.type)) {
    throw new WatchFormatError("a watch event has no known type");
  }
  if (typeof event.object !== "object" || event.object === null) {
    throw new WatchFormatError(`a watch event of type ${event.type} has no object`);
  }
  return event;
}
