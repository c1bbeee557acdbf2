import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { RequestReport } from "./observer.ts";
import {
  answer,
  CONFIG_MAP,
  clientOf,
  connectionTo,
  object,
  recordingLog,
  serve,
  startServer,
} from "./testkit.testkit.ts";
import { userAgent } from "./user-agent.ts";

const KEY = { namespace: "ns", name: "a" };
const THING = object(CONFIG_MAP, "a");

it("CORE-113 names the program and the controller", async () => {
  const { server, client } = await serve((_, response) => answer(response, 200, THING));
  await client.get(CONFIG_MAP, KEY);
  await client.forController("tars").get(CONFIG_MAP, KEY);
  await client.forController("tars").raw("GET", "/version");
  const agents = server.requests.map((request) => request.headers["user-agent"]);
  expect(agents[0]).toMatch(/^quartet-manager\/1\.2\.3 \(\w+\/\w+\)$/);
  expect(agents[1]).toMatch(/^quartet-manager\/1\.2\.3 \(\w+\/\w+\) tars$/);
  expect(agents[2]).toBe(agents[1]);
  expect(userAgent("1.0", "nacos")).toMatch(/ nacos$/);
});

it("CORE-114 logs each text of a warning once and counts every one", async () => {
  const log = recordingLog();
  const counted: string[] = [];
  const { client } = await serve(
    (request, response) => {
      const code = request.method === "GET" ? 200 : 422;
      answer(response, code, THING, {
        warning: ['299 - "v1 is \\"old\\", use v2"', '299 - "unknown field"'],
      });
    },
    { log, observer: { onWarning: (text) => void counted.push(text) } },
  );
  await client.get(CONFIG_MAP, KEY);
  await client.get(CONFIG_MAP, KEY);
  await expect(client.create(CONFIG_MAP, THING)).rejects.toMatchObject({ code: 422 });
  expect(log.entries.map(({ level, fields }) => [level, fields.warning])).toEqual([
    ["warn", 'v1 is "old", use v2'],
    ["warn", "unknown field"],
  ]);
  expect(counted).toHaveLength(6);
});

it("CORE-114 gives the warnings of a write to whoever asked for them, instead of the log", async () => {
  const log = recordingLog();
  const { client } = await serve(
    (_, response) => answer(response, 201, THING, { warning: '299 - "hides \\"A\\""' }),
    { log },
  );
  const heard: string[] = [];
  await client.create(CONFIG_MAP, THING, { onWarning: (text) => heard.push(text) });
  expect(heard).toEqual(['hides "A"']);
  expect(log.entries).toEqual([]);
});

it("CORE-120 accepts JSON and does not ask for compression", async () => {
  const { server, client } = await serve((_, response) => answer(response, 200, THING));
  await client.get(CONFIG_MAP, KEY);
  await client.update(CONFIG_MAP, THING, { force: true });
  for (const { headers } of server.requests) {
    expect(headers.accept).toBe("application/json");
    expect(headers).not.toHaveProperty("accept-encoding");
  }
});

it("CORE-120 asks for gzip and reads it when compression is on", async () => {
  const { server, client } = await serve(
    (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(JSON.stringify({ ...THING, data: { text: "ü".repeat(1_000) } })));
    },
    { compression: true },
  );
  await expect(client.get(CONFIG_MAP, KEY)).resolves.toMatchObject({ data: { text: "ü".repeat(1_000) } });
  expect(server.requests[0]?.headers["accept-encoding"]).toBe("gzip");
});

it("a damaged gzip answer is an error of that request", async () => {
  const { client } = await serve(
    (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end("not gzip at all");
    },
    { compression: true },
  );
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ name: "ConnectionError" });
});

it("asks for metadata only, of objects, lists and watches", async () => {
  const { server, client } = await serve((request, response) =>
    request.query.has("watch")
      ? response.end()
      : answer(response, 200, { kind: "PartialObjectMetadataList", metadata: {}, items: [] }),
  );
  await client.get(CONFIG_MAP, KEY, { metadataOnly: true });
  await client.list(CONFIG_MAP, { metadataOnly: true });
  for await (const _ of client.watch(CONFIG_MAP, { metadataOnly: true }));
  const one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  const list = one.replace("Metadata;", "MetadataList;");
  expect(server.requests.map(({ headers }) => headers.accept)).toEqual([one, list, one]);
});

it("serves an API server below a path", async () => {
  const server = await startServer((_, response) => answer(response, 200, THING));
  const below = new URL(`${server.url}/k8s/clusters/c-1/`);
  const client = clientOf(server, { connection: connectionTo(server, { server: below }) });
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests[0]?.path).toBe("/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps/a");
});

it("reports each exchange to the observer", async () => {
  const reports: RequestReport[] = [];
  const { server, client } = await serve(
    (request, response) => {
      if (request.query.has("watch")) response.end();
      else answer(response, request.method === "DELETE" ? 404 : 200, THING);
    },
    { observer: { onRequest: (report) => void reports.push(report) } },
  );
  await client.get(CONFIG_MAP, KEY);
  await client.apply(CONFIG_MAP, THING);
  await client.deleteIfExists(CONFIG_MAP, KEY);
  for await (const _ of client.watch(CONFIG_MAP, {}));
  const host = new URL(server.url).host;
  expect(reports.map(({ verb, method, code }) => [verb, method, code])).toEqual([
    ["get", "GET", "200"],
    ["apply", "PATCH", "200"],
    ["delete", "DELETE", "404"],
    ["watch", "GET", "200"],
  ]);
  expect(reports.every((report) => report.host === host && report.seconds > 0)).toBe(true);
  expect(reports[0]).toMatchObject({ requestBytes: 0, responseBytes: JSON.stringify(THING).length });
  expect(reports[1]?.requestBytes).toBe(Buffer.byteLength(server.requests[1]?.body ?? ""));
});
