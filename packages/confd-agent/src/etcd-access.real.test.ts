/** Users and certificates of a real etcd server. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { type EtcdServer, startEtcd } from "./servers.testkit.ts";

let scene: Scene;
let etcd: EtcdServer;
beforeEach(async () => {
  scene = createScene();
  etcd = await startEtcd();
});
afterEach(async () => {
  await scene.close();
  await etcd.close();
});

const args = (...more: string[]): string[] => [
  ...["--backend", "etcdv3", "--node", etcd.address, "--watch-error-backoff", "100ms"],
  ...more,
];
const watch = (...more: string[]): RunningAgent => scene.start(args("--watch", ...more));
/** Key and end of a range that may be read. */
type Grant = readonly [key: string, end?: string];

describe("users", () => {
  const enable = async (granted: readonly Grant[] = [["/app", "/app0"]]): Promise<void> => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    await etcd.put({ "/app/name": "one", "/secret/name": "no" });
    for (const name of ["root", "reader"]) {
      await etcd.call("/v3/auth/user/add", { name, password: "pw" });
      await etcd.call("/v3/auth/role/add", { name });
      await etcd.call("/v3/auth/user/grant", { user: name, role: name });
    }
    for (const [key, end] of granted) {
      const perm = {
        permType: "READ",
        key: base64(key),
        ...(end === undefined ? {} : { range_end: base64(end) }),
      };
      await etcd.call("/v3/auth/role/grant", { name: "reader", perm });
    }
    await etcd.call("/v3/auth/enable", {});
  };
  const token = async (): Promise<string> =>
    (await etcd.call("/v3/auth/authenticate", { name: "root", password: "pw" })).token as string;
  const put = async (key: string, value: string): Promise<void> => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    await etcd.call("/v3/kv/put", { key: base64(key), value: base64(value) }, await token());
  };

  it("CONFD-ETCD-5 CONFD-WATCH-12 logs in, and a refused range leaves the others alone", async () => {
    await enable();
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
    scene.resource("secret", { keys: ["/secret"], template: '{{getv "/secret/name"}}' });
    const agent = watch("--username", "reader", "--password", "pw");
    await becomes(scene, "out", "one");
    await eventually(agent.log, (log) => log.includes("permission denied for /secret"));
    await put("/app/name", "two");
    await becomes(scene, "out", "two");
    expect(scene.exists("secret")).toBe(false);
  });

  it("CONFD-WATCH-4 CONFD-READ-2 a user that may see a key and what is below it, and not its neighbours", async () => {
    await enable([["/app"], ["/app/", "/app0"]]);
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app" "-"}}:{{getv "/app/name"}}' });
    const agent = watch("--username", "reader", "--password", "pw");
    await becomes(scene, "out", "-:one");
    await put("/app/name", "two");
    await becomes(scene, "out", "-:two");
    await put("/app", "top");
    await becomes(scene, "out", "top:two");
    expect(agent.log()).not.toContain("ERROR");
  });

  it("CONFD-ETCD-5 goes on when its token is no longer taken", async () => {
    await etcd.close();
    etcd = await startEtcd({ args: ["--auth-token-ttl=3"] });
    await enable();
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
    watch("--username", "reader", "--password", "pw");
    await becomes(scene, "out", "one");
    await new Promise((resolve) => setTimeout(resolve, 8000));
    await put("/app/name", "two");
    await becomes(scene, "out", "two");
  });

  it("CONFD-ETCD-5 a wrong password ends a single pass with its reason", async () => {
    await enable();
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
    const { code, stderr } = await scene.run(
      args("--onetime", "--username", "reader", "--password", "wrong"),
    );
    expect(code).toBe(1);
    expect(stderr).toContain("authentication failed");
    expect(stderr).not.toContain("wrong");
  });
});

it("CONFD-ETCD-2 CONFD-ETCD-3 CONFD-ETCD-4 TLS: the right CA, the wrong one, and none wanted", async () => {
  await etcd.close();
  etcd = await startEtcd({ tls: true });
  await etcd.put({ "/app/name": "one" });
  scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
  const run = (...more: string[]) =>
    scene.run(["--backend", "etcdv3", "--node", etcd.url, "--onetime", "--dial-timeout", "2s", ...more]);
  expect((await run("--client-ca-keys", etcd.caFile)).code).toBe(0);
  expect(scene.read("out")).toBe("one");
  const unknown = await run();
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/self-signed certificate|unable to verify|unable to get/);
  expect(unknown.stderr).toContain(etcd.url);
  const insecure = await run("--client-insecure");
  expect(insecure.code).toBe(0);
  expect(insecure.stderr).toContain("not verified");
  writeFileSync(scene.path("empty.pem"), "nothing");
  const empty = await run("--client-ca-keys", scene.path("empty.pem"));
  expect(empty.code).toBe(1);
  expect(empty.stderr).toContain("holds no certificate");
});
