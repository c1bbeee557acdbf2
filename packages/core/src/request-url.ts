/** The URL that a server was asked for. */
import type { IncomingMessage } from "node:http";

const HERE = "http://localhost/";

/**
 * URL of a request. A target that is no URL, such as `//`, counts as the root, which no server here answers at:
 * whoever can connect must not be able to make a handler throw.
 */
export function requestUrl(request: Pick<IncomingMessage, "url">): URL {
  return URL.parse(request.url ?? "", HERE) ?? new URL(HERE);
}
