/** Bodies of answers that the server gave as a success. */
import type { ApiRequest } from "./attempts.ts";
import { ConnectionError } from "./errors.ts";
import type { HttpAnswer } from "./exchange.ts";
import { decodeJson } from "./json.ts";

/** Decoded JSON, `undefined` for an empty body. Throws `ConnectionError` for anything else. */
export function jsonBody(request: Pick<ApiRequest, "method" | "path">, answer: HttpAnswer): unknown {
  if (answer.text === "") return undefined;
  try {
    return decodeJson(answer.text);
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    throw new ConnectionError({
      code: "EBADJSON",
      message: `the answer with code ${answer.code} is not JSON; is there a proxy in between?`,
      method: request.method,
      path: request.path.split("?", 1)[0] ?? "",
    });
  }
}

/** Like {@link jsonBody}, but hands out the text of answers that do not claim to be JSON, such as `/healthz`. */
export function anyBody(request: Pick<ApiRequest, "method" | "path">, answer: HttpAnswer): unknown {
  const type = answer.headers["content-type"];
  return type === undefined || type.includes("json") ? jsonBody(request, answer) : answer.text;
}
