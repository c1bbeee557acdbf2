import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { newAuthority } from "./certificates.testkit.ts";
import { loadConnection } from "./load-connection.ts";
import {
  answer,
  base64,
  CONFIG_MAP,
  clientOf,
  connectByKubeconfig,
  type Handler,
  object,
  recordingLog,
  startServer,
  temporaryFolder,
} from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const ok: Handler = (_, response) => answer(response, 200, object(CONFIG_MAP, "a"));

it("verifies the server unless told not to, under the name that the kubeconfig gives", async () => {
  const server = await startServer(ok, { names: ["api.internal"] });
  const other = base64((await newAuthority()).ca);
  const attempt = async (cluster: object): Promise<string> => {
    const connection = await connectByKubeconfig(server, {}, { cluster });
    const client = clientOf(server, { connection });
    return client.get(CONFIG_MAP, KEY).then(
      () => "accepted",
      (error: { code: string }) => error.code,
    );
  };
  expect(await attempt({ "certificate-authority-data": other })).toMatch(/CERT|VERIFY/);
  expect(await attempt({ "certificate-authority-data": other, "insecure-skip-tls-verify": true })).toBe(
    "accepted",
  );
  expect(await attempt({ "tls-server-name": "api.internal" })).toBe("accepted");
  expect(await attempt({ "tls-server-name": "elsewhere.test" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
});

it("CORE-105 a changed client certificate file makes new sockets; a running watch keeps its own", async () => {
  const server = await startServer((request, response) => {
    if (!request.query.has("watch")) return ok(request, response);
    response.write(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
    void vi
      .waitFor(() => expect(server.requests).toHaveLength(4))
      .then(() => {
        response.write(`${JSON.stringify({ type: "MODIFIED", object: {} })}\n`);
      });
  });
  const folder = temporaryFolder();
  const write = async (user: string): Promise<void> => {
    const { cert, key } = await server.clientCertificate(user);
    writeFileSync(join(folder, "client.crt"), cert);
    writeFileSync(join(folder, "client.key"), key);
  };
  await write("before");
  const clock = fakeClock();
  const user = { "client-certificate": "client.crt", "client-key": "client.key" };
  const connection = await connectByKubeconfig(server, user, { folder, clock });
  const client = clientOf(server, { connection, clock });
  const events = client.watch(CONFIG_MAP, {})[Symbol.asyncIterator]();
  await events.next();
  await client.get(CONFIG_MAP, KEY);
  await write("after");
  await clock.advance(59_999);
  await client.get(CONFIG_MAP, KEY);
  expect(server.opened()).toBe(2);
  await clock.advance(1);
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests.map(({ user }) => user)).toEqual(["before", "before", "before", "after"]);
  expect(server.opened()).toBe(3);
  await vi.waitFor(() => expect(server.open()).toBe(2));
  await expect(events.next()).resolves.toMatchObject({ value: { type: "MODIFIED" } });
  await events.return?.();
});

it("CORE-105 lets a request that runs finish on its old socket, which then closes", async () => {
  let release: () => void = () => {};
  const server = await startServer((request, response) => {
    if (request.query.has("resourceVersion")) release = () => ok(request, response);
    else ok(request, response);
  });
  const folder = temporaryFolder();
  writeFileSync(join(folder, "ca.crt"), server.ca);
  const clock = fakeClock();
  const cluster = { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" };
  const client = clientOf(server, {
    connection: await connectByKubeconfig(server, {}, { folder, clock, cluster }),
    clock,
  });
  await clock.advance(30_000);
  const slow = client.get(CONFIG_MAP, KEY, { resourceVersion: "1" });
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  writeFileSync(join(folder, "ca.crt"), `${server.ca}\n${(await newAuthority()).ca}`);
  await clock.advance(30_000);
  await client.get(CONFIG_MAP, KEY);
  expect(server.opened()).toBe(2);
  expect(server.open()).toBe(2);
  release();
  await expect(slow).resolves.toBeDefined();
  await vi.waitFor(() => expect(server.open()).toBe(1));
  await client.get(CONFIG_MAP, KEY);
  expect(server.opened()).toBe(2);
});

it("CORE-105 keeps the former material while a rotation is half done, and unchanged files change nothing", async () => {
  const server = await startServer(ok);
  const folder = temporaryFolder();
  const [first, second] = [await server.clientCertificate("first"), await server.clientCertificate("second")];
  writeFileSync(join(folder, "client.crt"), first.cert);
  writeFileSync(join(folder, "client.key"), first.key);
  const clock = fakeClock();
  const log = recordingLog();
  const user = { "client-certificate": "client.crt", "client-key": "client.key" };
  const client = clientOf(server, {
    connection: await connectByKubeconfig(server, user, { folder, clock, log }),
    clock,
  });
  const next = async (): Promise<string | undefined> => {
    await clock.advance(60_000);
    await client.get(CONFIG_MAP, KEY);
    return server.requests.at(-1)?.user;
  };
  await client.get(CONFIG_MAP, KEY);
  writeFileSync(join(folder, "client.crt"), first.cert);
  expect(await next()).toBe("first");
  expect(server.opened()).toBe(1);
  writeFileSync(join(folder, "client.crt"), second.cert);
  expect(await next()).toBe("first");
  expect(log.entries).toHaveLength(1);
  writeFileSync(join(folder, "client.key"), second.key);
  expect(await next()).toBe("second");
});

it("CORE-103 reads a token file again after a 401 and repeats the request once", async () => {
  const folder = temporaryFolder();
  const token = join(folder, "token");
  const server = await startServer((request, response) => {
    if (request.headers.authorization === "Bearer new") return ok(request, response);
    writeFileSync(token, "new");
    answer(response, 401, {});
  });
  writeFileSync(token, "old");
  const client = clientOf(server, {
    connection: await connectByKubeconfig(server, { tokenFile: "token" }, { folder }),
  });
  const created = await client.create(CONFIG_MAP, object(CONFIG_MAP, "a"));
  expect(created).toMatchObject({ kind: "ConfigMap" });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
});

it("CORE-103 hands a second 401 to the caller", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "token"), "bad");
  const server = await startServer((_, response) => answer(response, 401, {}));
  const client = clientOf(server, {
    connection: await connectByKubeconfig(server, { tokenFile: "token" }, { folder }),
  });
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ name: "ApiError", code: 401 });
  expect(server.requests).toHaveLength(2);
});

it("CORE-103 CORE-102 a watch is repeated with the pod's new token too", async () => {
  const mount = temporaryFolder();
  const server = await startServer((request, response) => {
    if (request.headers.authorization !== "Bearer new") {
      writeFileSync(join(mount, "token"), "new");
      return answer(response, 401, {});
    }
    response.end(`${JSON.stringify({ type: "ADDED", object: {} })}\n`);
  });
  writeFileSync(join(mount, "ca.crt"), server.ca);
  writeFileSync(join(mount, "token"), "old");
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) };
  const client = clientOf(server, { connection: await loadConnection({ env, serviceAccountMount: mount }) });
  const types: string[] = [];
  for await (const { type } of client.watch(CONFIG_MAP, {})) types.push(type);
  expect(types).toEqual(["ADDED"]);
  expect(server.requests).toHaveLength(2);
});

it("CORE-102 reads the pod's token file again when it is older than 60 s", async () => {
  const mount = temporaryFolder();
  const server = await startServer(ok);
  writeFileSync(join(mount, "ca.crt"), server.ca);
  writeFileSync(join(mount, "token"), "first");
  const clock = fakeClock();
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) };
  const connection = await loadConnection({ env, serviceAccountMount: mount, clock });
  const client = clientOf(server, { connection, clock });
  await client.get(CONFIG_MAP, KEY);
  writeFileSync(join(mount, "token"), "second");
  await clock.advance(59_999);
  await client.get(CONFIG_MAP, KEY);
  await clock.advance(1);
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer first",
    "Bearer first",
    "Bearer second",
  ]);
  expect(server.opened()).toBe(1);
});
