/** Calls webhooks over HTTPS, those of admission and those of conversion. */
import { Agent, request } from "node:https";
import { isRecord, type JsonObject, parseJson, record, text } from "../json.ts";

export interface WebhookClient {
  /** POSTs a review and gives the answer's JSON object; throws an Error that says what went wrong. */
  call(clientConfig: unknown, body: JsonObject, timeoutMs: number): Promise<JsonObject>;
  close(): void;
}

/** Connections are kept as the server keeps them, ms. */
const IDLE_MS = 90_000;

function urlOf(clientConfig: unknown): URL {
  const config = record(clientConfig);
  if (text(config.url) !== "") return new URL(text(config.url));
  const { name, namespace, path } = record(config.service);
  throw new Error(
    `service ${text(namespace)}/${text(name)}${text(path)} cannot be reached from here: the double calls url alone`,
  );
}

function post(
  url: URL,
  agent: Agent,
  body: string,
  timeoutMs: number,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
        );
      },
    );
    const timer = setTimeout(() => call.destroy(new Error("context deadline exceeded")), timeoutMs);
    call.on("close", () => clearTimeout(timer));
    call.on("error", reject);
    call.end(body);
  });
}

export function createWebhookClient(): WebhookClient {
  const agents = new Map<string, Agent>();
  const agentOf = (caBundle: string): Agent => {
    let agent = agents.get(caBundle);
    if (agent === undefined) {
      const ca = caBundle === "" ? {} : { ca: Buffer.from(caBundle, "base64").toString("utf8") };
      agent = new Agent({ keepAlive: true, timeout: IDLE_MS, ...ca });
      agents.set(caBundle, agent);
    }
    return agent;
  };
  return {
    async call(clientConfig, body, timeoutMs) {
      const url = urlOf(clientConfig);
      url.searchParams.set("timeout", `${timeoutMs / 1000}s`);
      const agent = agentOf(text(record(clientConfig).caBundle));
      const answer = await post(url, agent, JSON.stringify(body), timeoutMs);
      if (answer.code !== 200) {
        throw new Error(
          `an error on the server (${JSON.stringify(answer.text.slice(0, 256))}) has prevented the request from succeeding`,
        );
      }
      const parsed = parseJson(answer.text);
      if (!isRecord(parsed)) throw new Error("the answer is no JSON object");
      return parsed;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}
