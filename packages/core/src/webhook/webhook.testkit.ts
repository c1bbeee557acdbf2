/** Helpers of the webhook tests: a server with its CA, and calls as the API server makes them. */
import { request } from "node:https";
import type { OpenSources } from "../controller/open-sources.ts";
import type { SourceReader } from "../controller/types.ts";
import type { KubeObject } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import { createCa, issueServing } from "./certificates.ts";
import { startWebhookServer, type WebhookServer, type WebhookServerOptions } from "./server.ts";

export const silentLog: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
  with: () => silentLog,
  named: () => silentLog,
};

/** Sources of a webhook that reads nothing. */
export const nothingRead: Pick<OpenSources, "reader" | "synced"> = {
  reader: {} as SourceReader,
  synced: () => true,
};

export interface Call {
  method?: string;
  body?: unknown;
  /** Body text as it is, instead of `body`. */
  text?: string;
  contentType?: string;
  /** Certificate and key that the caller shows. */
  client?: { cert: string; key: string };
}

export interface TestServer {
  server: WebhookServer;
  ca: string;
  /** Serves with a new certificate of the same CA. */
  renew(): Promise<void>;
  call(path: string, call?: Call): Promise<{ code: number; body: Record<string, unknown> }>;
}

export async function testServer(options: Partial<WebhookServerOptions>): Promise<TestServer> {
  const ca = await createCa(Date.now());
  const issue = () => issueServing(ca, ["localhost", "127.0.0.1"], Date.now());
  const certificate = await issue();
  const server = await startWebhookServer({
    host: "127.0.0.1",
    port: 0,
    certificate,
    webhooks: [],
    sourcesOf: () => nothingRead,
    log: silentLog,
    ...options,
  });
  const call: TestServer["call"] = (
    path,
    { method = "POST", body, text, contentType = "application/json", client } = {},
  ) =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": contentType };
      const sent = request({
        host: "127.0.0.1",
        port: server.port,
        path,
        method,
        ca: ca.cert,
        headers,
        agent: false,
        ...client,
      });
      sent.on("error", reject);
      sent.on("response", async (response) => {
        let answer = "";
        for await (const chunk of response) answer += chunk;
        resolve({ code: response.statusCode ?? 0, body: JSON.parse(answer) });
      });
      sent.end(text ?? (body === undefined ? "" : JSON.stringify(body)));
    });
  const renew = async (): Promise<void> => server.setCertificate(await issue());
  return { server, ca: ca.cert, renew, call };
}

export interface Echo extends KubeObject {
  spec: Record<string, unknown>;
  status?: unknown;
}

export function echo(spec: Record<string, unknown>, metadata: object = {}): Echo {
  return {
    apiVersion: "test.quartet.io/v1",
    kind: "Echo",
    metadata: { name: "a", namespace: "t", ...metadata },
    spec,
  };
}

/** An AdmissionReview about an Echo. */
export function review(request: object): object {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u-1",
      kind: { group: "test.quartet.io", version: "v1", kind: "Echo" },
      resource: { group: "test.quartet.io", version: "v1", resource: "echoes" },
      operation: "CREATE",
      userInfo: {},
      ...request,
    },
  };
}
