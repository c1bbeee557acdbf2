/** A request after routing, and the answers to it. */
import type { IncomingHttpHeaders } from "node:http";
import type { ResourceType } from "./registry.ts";

export interface User {
  name: string;
  uid: string;
  groups: readonly string[];
  extra?: Record<string, string[]>;
}

/** A request for a resource. */
export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  user: User;
  type: ResourceType;
  verb: string;
  namespace: string;
  /** Empty for collections. */
  name: string;
  subresource: string;
  dryRun: boolean;
  /** Tells the request log the name that a create finds in its body. */
  named(name: string): void;
  /** Texts of the `Warning` headers of the answer. */
  warnings: string[];
  /** Aborts when the client is gone. */
  signal: AbortSignal;
}

/** Receives the parts of a streaming answer. */
export interface Sink {
  write(text: string): void;
  end(): void;
  /** Cuts the connection without an orderly end. */
  destroy(): void;
}

export interface Answer {
  code: number;
  headers?: Record<string, string>;
  /** JSON value; or `text`, sent as it is; or a stream. */
  body?: unknown;
  text?: string;
  contentType?: string;
  stream?(sink: Sink): void;
}
