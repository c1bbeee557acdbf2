import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { fakeClock } from "../testkit/fake-clock.ts";
import { loadConnection } from "./load-connection.ts";
import {
  answer,
  base64,
  CONFIG_MAP,
  clientOf,
  type Handler,
  kubeconfig,
  object,
  recordingLog,
  startServer,
  type TestServer,
  temporaryFolder,
} from "./testkit.testkit.ts";

const KEY = { namespace: "ns", name: "a" };
const ok: Handler = (_, response) => answer(response, 200, object(CONFIG_MAP, "a"));

/** A plugin that notes each run with its environment and prints what `print` last wrote. */
function plugin(script = "") {
  const folder = temporaryFolder();
  const path = join(folder, "plugin.sh");
  const runs = join(folder, "runs");
  const lines = [
    "#!/bin/sh",
    'cd "$(dirname "$0")"',
    'echo "$KUBERNETES_EXEC_INFO $FLAVOUR $*" >> runs',
    script,
    "cat output",
  ];
  writeFileSync(path, lines.join("\n"));
  chmodSync(path, 0o755);
  return {
    folder,
    print: (status: object): void =>
      writeFileSync(
        join(folder, "output"),
        JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status }),
      ),
    printText: (text: string): void => writeFileSync(join(folder, "output"), text),
    runs: (): string[] => (existsSync(runs) ? readFileSync(runs, "utf8").trim().split("\n") : []),
  };
}

/** Client whose user is the plugin in `folder`. */
async function clientWith(
  server: TestServer,
  folder: string,
  exec: object = {},
  more: Partial<Parameters<typeof loadConnection>[0]> = {},
) {
  const path = join(folder, "config");
  const cluster = { server: server.url, "certificate-authority-data": base64(server.ca) };
  const spec = { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin.sh", ...exec };
  writeFileSync(path, kubeconfig({ cluster, user: { exec: spec } }));
  const connection = await loadConnection({ kubeconfig: path, env: { PATH: process.env.PATH }, ...more });
  return clientOf(server, { connection, ...(more?.clock === undefined ? {} : { clock: more.clock }) });
}

it("CORE-104 runs the plugin once for 5 requests at the same time", async () => {
  const server = await startServer(ok);
  const { folder, print, runs } = plugin("sleep 0.1");
  print({ token: "exec-token" });
  const client = await clientWith(server, folder);
  await Promise.all(Array.from({ length: 5 }, () => client.get(CONFIG_MAP, KEY)));
  await client.get(CONFIG_MAP, KEY);
  expect(runs()).toHaveLength(1);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array.from({ length: 6 }, () => "Bearer exec-token"),
  );
});

it("CORE-104 finds a relative plugin beside a kubeconfig that is named by its file name alone", async () => {
  const { folder, print, runs } = plugin();
  print({ token: "exec-token" });
  const server = await startServer(ok);
  await clientWith(server, folder);
  const script = `
    import { loadConnection } from ${JSON.stringify(join(import.meta.dirname, "load-connection.ts"))};
    const { credentials } = await loadConnection({ kubeconfig: "config" });
    process.stdout.write((await credentials()).headers.authorization);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=quartet-source",
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      script,
    ],
    { cwd: folder },
  );
  expect(stdout).toBe("Bearer exec-token");
  expect(runs()).toHaveLength(1);
});

it("CORE-104 runs the plugin again 30 s before the credentials expire", async () => {
  const server = await startServer(ok);
  const { folder, print, runs } = plugin();
  const clock = fakeClock();
  const expiring = (token: string): void =>
    print({ token, expirationTimestamp: new Date(clock.now() + 100_000).toISOString() });
  expiring("first");
  const client = await clientWith(server, folder, {}, { clock });
  await client.get(CONFIG_MAP, KEY);
  await clock.advance(69_999);
  expiring("second");
  await client.get(CONFIG_MAP, KEY);
  expect(runs()).toHaveLength(1);
  await clock.advance(1);
  await Promise.all([client.get(CONFIG_MAP, KEY), client.get(CONFIG_MAP, KEY)]);
  expect(runs()).toHaveLength(2);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer first",
    "Bearer first",
    "Bearer second",
    "Bearer second",
  ]);
});

it("CORE-104 keeps credentials that are still valid when the plugin fails to renew them", async () => {
  const server = await startServer(ok);
  const { folder, print, printText } = plugin();
  const clock = fakeClock();
  const log = recordingLog();
  print({ token: "first", expirationTimestamp: new Date(clock.now() + 100_000).toISOString() });
  const client = await clientWith(server, folder, {}, { clock, log });
  await client.get(CONFIG_MAP, KEY);
  printText("broken");
  await clock.advance(99_999);
  await client.get(CONFIG_MAP, KEY);
  expect(log.entries.map(({ level }) => level)).toEqual(["warn"]);
  await clock.advance(1);
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ name: "CredentialsError" });
  expect(server.requests).toHaveLength(2);
});

it("CORE-103 CORE-104 runs the plugin again after a 401, once for all requests that met it", async () => {
  const server = await startServer((request, response) =>
    request.headers.authorization === "Bearer new" ? ok(request, response) : answer(response, 401, {}),
  );
  const { folder, print, runs } = plugin("sleep 0.1");
  print({ token: "old" });
  const client = await clientWith(server, folder);
  await expect(client.get(CONFIG_MAP, KEY)).rejects.toMatchObject({ code: 401 });
  expect(runs()).toHaveLength(2);
  print({ token: "new" });
  await Promise.all(Array.from({ length: 5 }, () => client.get(CONFIG_MAP, KEY)));
  expect(runs()).toHaveLength(3);
});

it("CORE-104 tells the plugin what it needs in KUBERNETES_EXEC_INFO", async () => {
  const server = await startServer(ok);
  const { folder, print, runs } = plugin();
  print({ token: "t" });
  const exec = {
    args: ["get", "token"],
    env: [{ name: "FLAVOUR", value: "vanilla" }],
    provideClusterInfo: true,
  };
  await (await clientWith(server, folder, exec)).get(CONFIG_MAP, KEY);
  const [line = ""] = runs();
  const end = line.lastIndexOf("}") + 1;
  expect(line.slice(end)).toBe(" vanilla get token");
  expect(JSON.parse(line.slice(0, end))).toEqual({
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: {
      interactive: false,
      cluster: { server: server.url, "certificate-authority-data": base64(server.ca) },
    },
  });
});

it("CORE-104 uses the client certificate that the plugin returns", async () => {
  const server = await startServer(ok);
  const { folder, print } = plugin();
  const clock = fakeClock();
  const printCertificate = async (user: string): Promise<void> => {
    const { cert, key } = await server.clientCertificate(user);
    const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
    print({ clientCertificateData: cert, clientKeyData: key, expirationTimestamp });
  };
  await printCertificate("first");
  const client = await clientWith(server, folder, {}, { clock });
  await client.get(CONFIG_MAP, KEY);
  await client.get(CONFIG_MAP, KEY);
  expect(server.opened()).toBe(1);
  await clock.advance(30_000);
  await printCertificate("second");
  await client.get(CONFIG_MAP, KEY);
  expect(server.requests.map(({ user }) => user)).toEqual(["first", "first", "second"]);
  expect(server.opened()).toBe(2);
});

it.each([
  ["no JSON", (p: ReturnType<typeof plugin>) => p.printText("secret-token"), "did not write JSON"],
  ["no credential", (p: ReturnType<typeof plugin>) => p.print({}), "no ExecCredential with a token"],
  ["another kind", (p: ReturnType<typeof plugin>) => p.printText('{"kind":"Pod"}'), "no ExecCredential"],
  [
    "a certificate without key",
    (p: ReturnType<typeof plugin>) => p.print({ token: "t", clientCertificateData: "secret-token" }),
    "come only together",
  ],
  [
    "a damaged certificate",
    (p: ReturnType<typeof plugin>) => p.print({ clientCertificateData: "secret-token", clientKeyData: "k" }),
    "client certificate that the credential plugin returned is unusable",
  ],
  ["nothing", () => {}, "ended with code 1"],
])("names the plugin that writes %s, and shows no secret", async (_, output, problem) => {
  const server = await startServer(ok);
  const made = plugin("exec 2>/dev/null");
  output(made);
  const client = await clientWith(server, made.folder);
  const error = await client.get(CONFIG_MAP, KEY).catch((caught: unknown) => caught as Error);
  expect(error).toMatchObject({ name: "CredentialsError", message: expect.stringContaining(problem) });
  expect((error as Error).message).not.toContain("secret-token");
  expect(server.requests).toHaveLength(0);
});

it("passes the install hint on when the plugin is missing, and refuses one that needs a terminal", async () => {
  const server = await startServer(ok);
  const { folder } = plugin();
  const missing = await clientWith(server, folder, {
    command: "no-such-plugin",
    installHint: "install it so",
  });
  await expect(missing.get(CONFIG_MAP, KEY)).rejects.toThrow(
    /no-such-plugin could not be started: ENOENT\ninstall it so/,
  );
  const interactive = await clientWith(server, folder, { interactiveMode: "Always" });
  await expect(interactive.get(CONFIG_MAP, KEY)).rejects.toThrow("wants a terminal");
});
