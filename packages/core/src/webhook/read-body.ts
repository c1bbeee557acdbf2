/** Reading of a webhook call's body, within bounds. */
import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.ts";

/** Largest body: two objects of 1.5 MiB, their managed fields and the review around them (CORE-332). */
const MAX_BODY_BYTES = 7 * 1024 * 1024;

/** The decoded JSON body; throws {@link HttpError} 415, 413 or 400. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new HttpError(415, "content type must be application/json");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new HttpError(413, `body is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) throw new HttpError(400, "body is empty");
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "body is not JSON");
  }
}
