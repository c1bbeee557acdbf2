import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ConfigurationError } from "./errors.ts";
import { loadConnection } from "./load-connection.ts";
import {
  answer,
  base64,
  CONFIG_MAP,
  clientOf,
  connectByKubeconfig,
  type Handler,
  kubeconfig,
  object,
  startServer,
  temporaryFolder,
} from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const ok: Handler = (_, response) => answer(response, 200, object(CONFIG_MAP, "a"));

it.each([
  ["token", { token: "kube-token" }, "Bearer kube-token"],
  ["username and password", { username: "me", password: "pa:ss" }, `Basic ${base64("me:pa:ss")}`],
  ["nothing", {}, undefined],
])("sends a user with %s", async (_, user, authorization) => {
  const server = await startServer(ok);
  await clientOf(server, { connection: await connectByKubeconfig(server, user) }).get(CONFIG_MAP, KEY);
  expect(server.requests[0]?.headers.authorization).toBe(authorization);
});

it("sends a client certificate", async () => {
  const server = await startServer(ok);
  const { cert, key } = await server.clientCertificate("alice");
  const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
  await clientOf(server, { connection: await connectByKubeconfig(server, user) }).get(CONFIG_MAP, KEY);
  expect(server.requests[0]?.user).toBe("alice");
});

it("CORE-115 impersonates with one header line per group and value", async () => {
  const server = await startServer(ok);
  const connection = await connectByKubeconfig(server, {
    token: "t",
    as: "jane",
    "as-uid": "42",
    "as-groups": ["dev", "ops"],
    "as-user-extra": { "example.io/scopes": ["read", "write"], reason: ["test"] },
  });
  await clientOf(server, { connection }).get(CONFIG_MAP, KEY);
  const raw = server.requests[0]?.rawHeaders ?? [];
  const lines = raw.flatMap((name, index) =>
    index % 2 === 0 && name.startsWith("impersonate") ? [`${name}: ${raw[index + 1]}`] : [],
  );
  expect(lines).toEqual([
    "impersonate-user: jane",
    "impersonate-uid: 42",
    "impersonate-group: dev",
    "impersonate-group: ops",
    "impersonate-extra-example.io%2Fscopes: read",
    "impersonate-extra-example.io%2Fscopes: write",
    "impersonate-extra-reason: test",
  ]);
});

it("CORE-421 CORE-106 sends the requests of a kubeconfig's user over the client's own sockets", async () => {
  const server = await startServer(ok);
  const { cert, key } = await server.clientCertificate("alice");
  const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
  const client = clientOf(server, { connection: await connectByKubeconfig(server, user) });
  for (let i = 0; i < 50; i++) await client.get(CONFIG_MAP, KEY);
  expect(server.requests).toHaveLength(50);
  expect(server.opened()).toBe(1);
});

it("CORE-421 takes the token of an auth-provider user from the loader", async () => {
  const server = await startServer(ok);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "none" })}.${part({ exp: Math.floor(Date.now() / 1000) + 3_600 })}.x`;
  const config = { "client-id": "quartet", "id-token": token, "idp-issuer-url": "https://idp.test" };
  const connection = await connectByKubeconfig(server, { "auth-provider": { name: "oidc", config } });
  const client = clientOf(server, { connection });
  await client.get(CONFIG_MAP, KEY);
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${token}`,
    `Bearer ${token}`,
  ]);
  expect(server.opened()).toBe(1);
});

it("names an auth-provider that fails", async () => {
  const server = await startServer(ok);
  const config = {
    "client-id": "quartet",
    "client-secret": "hidden",
    "refresh-token": "hidden",
    "id-token": "expired",
    "idp-issuer-url": "https://127.0.0.1:1/",
  };
  const user = { "auth-provider": { name: "oidc", config } };
  const client = clientOf(server, { connection: await connectByKubeconfig(server, user) });
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ name: "CredentialsError" });
  expect(server.requests).toHaveLength(0);
});

const cluster = { server: "https://10.0.0.1" };

it.each([
  ["a user that is not there", { cluster, more: { users: [] } }, /names user "u", which does not exist/],
  ["a token file that is not there", { cluster, user: { tokenFile: "none" } }, /tokenFile .*none.* ENOENT/],
  [
    "an empty token file",
    { cluster, user: { tokenFile: "empty" } },
    /tokenFile .*empty.*: the token file is empty/,
  ],
  ["a plugin without command", { cluster, user: { exec: {} } }, /user "u": exec names no command/],
  [
    "a password in the server's URL, which is not told",
    { cluster: { server: "http://bob:hunter2@example.com" } },
    /^(?!.*hunter2).*server http:\/\/bob:\[redacted\]@example\.com would send/,
  ],
])("CORE-101 refuses %s by a message that names file, field and remedy", async (_, parts, message) => {
  const folder = temporaryFolder();
  const path = join(folder, "config");
  writeFileSync(path, kubeconfig(parts));
  writeFileSync(join(folder, "empty"), "\n");
  const failure: unknown = await loadConnection({ kubeconfig: path, env: {} }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect((failure as Error).message).toMatch(message);
  expect((failure as Error).message).toContain(path);
});

it("CORE-101 takes a user without any field for an anonymous one", async () => {
  const path = join(temporaryFolder(), "config");
  writeFileSync(path, kubeconfig({ cluster, more: { users: [{ name: "u", user: null }] } }));
  const connection = await loadConnection({ kubeconfig: path, env: {} });
  expect((await connection.credentials()).headers).toEqual({});
});
