import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { authority } from "./certificates.testkit.ts";
import { ConfigurationError } from "./errors.ts";
import { loadConnection } from "./load-connection.ts";
import { base64, kubeconfig, temporaryFolder } from "./testkit.testkit.ts";

let ca = "";
beforeAll(async () => {
  ca = (await authority()).ca;
});

/** Writes a kubeconfig for `https://<name>.test` and gives its path. */
function config(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "config");
  writeFileSync(path, kubeconfig({ cluster: { server: `https://${name}.test` } }));
  return path;
}

/** Files of a service account, and the environment of its pod. */
function pod(host = "10.0.0.1"): { mount: string; env: Record<string, string> } {
  const mount = temporaryFolder();
  writeFileSync(join(mount, "ca.crt"), ca);
  writeFileSync(join(mount, "token"), "pod-token\n");
  writeFileSync(join(mount, "namespace"), "quartet-system");
  return { mount, env: { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: "6443" } };
}

const failure = (load: Promise<unknown>): Promise<Error> =>
  load.then(
    () => expect.unreachable("there should be no connection"),
    (error: Error) => error,
  );

it("CORE-101 takes --kubeconfig, else $KUBECONFIG, else the pod's files, else ~/.kube/config", async () => {
  const folder = temporaryFolder();
  const { mount, env: podEnv } = pod();
  const flag = config(join(folder, "flag"), "flag");
  const listed = config(join(folder, "env"), "env");
  config(join(folder, ".kube"), "home");
  const env: Record<string, string> = { HOME: folder, KUBECONFIG: listed, ...podEnv };
  const server = async (kubeconfig?: string): Promise<string> => {
    const options = { env, serviceAccountMount: mount, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
    return (await loadConnection(options)).server.host;
  };
  expect(await server(flag)).toBe("flag.test");
  expect(await server()).toBe("env.test");
  delete env.KUBECONFIG;
  expect(await server()).toBe("10.0.0.1:6443");
  delete env.KUBERNETES_SERVICE_HOST;
  expect(await server()).toBe("home.test");
});

it("CORE-101 merges the files of $KUBECONFIG: the first to set a value wins, absent files are passed over", async () => {
  const folder = temporaryFolder();
  const first = join(folder, "first");
  const second = join(folder, "second");
  const cluster = (server: string) => ({ cluster: { server } });
  writeFileSync(
    first,
    kubeconfig({
      cluster: { server: "https://first.test" },
      more: {
        contexts: [{ name: "mine", context: { cluster: "other", user: "u" } }],
        "current-context": "mine",
      },
    }),
  );
  writeFileSync(
    second,
    kubeconfig({
      cluster: { server: "https://second.test" },
      more: {
        clusters: [
          { name: "c", ...cluster("https://second.test") },
          { name: "other", ...cluster("https://other.test") },
        ],
      },
    }),
  );
  const env = { HOME: folder, KUBECONFIG: [first, join(folder, "absent"), second].join(delimiter) };
  expect((await loadConnection({ env })).server.host).toBe("other.test");
  const x = await loadConnection({ env, context: "x" });
  expect(x.server.host).toBe("first.test");
  expect(x.namespace).toBe("dev");
});

it("CORE-101 lists what was tried when there is nothing", async () => {
  const folder = temporaryFolder();
  const env = { HOME: folder, KUBECONFIG: join(folder, "absent") };
  const error = await failure(loadConnection({ env }));
  expect(error).toBeInstanceOf(ConfigurationError);
  for (const part of [
    "--kubeconfig",
    "$KUBECONFIG",
    env.KUBECONFIG,
    "in-cluster",
    join(folder, ".kube", "config"),
  ]) {
    expect(error.message).toContain(part);
  }
});

it("CORE-101 falls back from no named file", async () => {
  const folder = temporaryFolder();
  config(join(folder, ".kube"), "home");
  const kubeconfig = join(folder, "absent");
  const error = await failure(loadConnection({ kubeconfig, env: { HOME: folder } }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toBe(`--kubeconfig ${kubeconfig}: no such file`);
});

it("CORE-101 says why a kubeconfig cannot be read", async () => {
  const folder = temporaryFolder();
  for (const options of [{ kubeconfig: folder }, { env: { KUBECONFIG: folder } }]) {
    const error = await failure(loadConnection({ env: {}, ...options }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(`kubeconfig ${folder} cannot be read: EISDIR`);
  }
});

it.each([
  ["not YAML", "users: [{user: {token: secret-token}", /YAML error in line 1/],
  ["no kubeconfig", "just secret-token", /form of a kubeconfig/],
  ["no context", kubeconfig({ cluster: { server: "https://a" }, more: { contexts: [] } }), /no context "x"/],
  [
    "no current context",
    kubeconfig({ cluster: { server: "https://a" }, more: { "current-context": "" } }),
    /no current-context/,
  ],
  [
    "no cluster",
    kubeconfig({ cluster: { server: "https://a" }, more: { clusters: [] } }),
    /cluster "c", which does not exist/,
  ],
  ["no server", kubeconfig({ cluster: {} }), /clusters\[0\]\.cluster\.server is missing/],
  ["a server without scheme", kubeconfig({ cluster: { server: "a.test" } }), /is not an https:\/\/ URL/],
  [
    "a damaged CA",
    kubeconfig({
      cluster: {
        server: "https://a",
        "certificate-authority-data": base64("-----BEGIN CERTIFICATE-----\nx\n"),
      },
    }),
    /CA, client certificate or key is unusable/,
  ],
  [
    "an absent CA file",
    kubeconfig({ cluster: { server: "https://a", "certificate-authority": "absent.crt" } }),
    /absent\.crt/,
  ],
  [
    "an absent token file",
    kubeconfig({ cluster: { server: "https://a" }, user: { tokenFile: "absent.token" } }),
    /tokenFile .*absent\.token is unusable: ENOENT/,
  ],
])("names file and problem of a kubeconfig with %s", async (_, text, problem) => {
  const path = join(temporaryFolder(), "config");
  writeFileSync(path, text);
  const error = await failure(loadConnection({ kubeconfig: path, env: {} }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toContain(path);
  expect(error.message).toMatch(problem);
  expect(error.message).not.toContain("secret-token");
});

it.each([
  ["10.0.0.1", "https://10.0.0.1:6443/"],
  ["fd00::1", "https://[fd00::1]:6443/"],
])("CORE-102 reaches %s by the pod's environment and service account", async (host, url) => {
  const { mount, env } = pod(host);
  const connection = await loadConnection({ env, serviceAccountMount: mount });
  expect(connection.server.href).toBe(url);
  expect(connection.namespace).toBe("quartet-system");
  const { headers, tls } = await connection.credentials();
  expect(headers).toEqual({ authorization: "Bearer pod-token" });
  expect(tls).toMatchObject({ rejectUnauthorized: true });
});

it.each([
  [{ "kubernetes.io": { serviceaccount: { name: "quartet" } } }, "quartet"],
  [{ sub: "system:serviceaccount:ns:legacy" }, "legacy"],
  [{ sub: "somebody" }, undefined],
])("reads the service account's name from the token %j", async (claims, name) => {
  const { mount, env } = pod();
  const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
  writeFileSync(join(mount, "token"), `head.${payload}.signature`);
  expect((await loadConnection({ env, serviceAccountMount: mount })).serviceAccount).toBe(name);
});

it.each(["http://10.1.2.3:8080", "http://api.test"])("CORE-117 refuses %s", async (server) => {
  const path = join(temporaryFolder(), "config");
  writeFileSync(path, kubeconfig({ cluster: { server } }));
  const error = await failure(loadConnection({ kubeconfig: path, env: {} }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toContain(server);
  expect(error.message).toContain("insecure-skip-tls-verify: true");
});

it.each([
  { server: "http://127.0.0.1:8080" },
  { server: "http://[::1]:8080" },
  { server: "http://localhost:8080" },
  { server: "http://api.test", "insecure-skip-tls-verify": true },
])("CORE-117 accepts $server", async (cluster) => {
  const path = join(temporaryFolder(), "config");
  writeFileSync(path, kubeconfig({ cluster }));
  const connection = await loadConnection({ kubeconfig: path, env: {} });
  expect(connection.server.protocol).toBe("http:");
});
