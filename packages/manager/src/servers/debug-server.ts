/** Answers questions about single objects, on this machine only by default. */
import { redactFields, requestUrl } from "@quartet/core";
import type { ListenAddress } from "../config/address.ts";
import { allowsOnlyReads, type RunningServer, sendText, startHttpServer } from "./http-server.ts";

/** Path of `quartet explain`. */
export const EXPLAIN_PATH: string = "/debug/explain";

/** What is known of an object, or a text that says why that cannot be told. */
export type Explain = (kind: string, key: string) => Record<string, unknown> | string;

/** Starts the server: `GET /debug/explain?kind=nacos&key=ns/name` answers with JSON. */
export function startDebugServer(address: ListenAddress, explain: Explain): Promise<RunningServer> {
  return startHttpServer({
    address,
    flag: "debug-bind-address",
    handler: (request, response) => {
      if (!allowsOnlyReads(request, response)) return;
      const url = requestUrl(request);
      if (url.pathname !== EXPLAIN_PATH) return sendText(response, 404, "404 page not found\n");
      const kind = url.searchParams.get("kind") ?? "";
      const key = url.searchParams.get("key") ?? "";
      const answer = explain(kind, key);
      if (typeof answer === "string") return sendText(response, 404, `${answer}\n`);
      const json = `${JSON.stringify(redactFields(answer, false))}\n`;
      sendText(response, 200, json, { "content-type": "application/json" });
    },
  });
}
