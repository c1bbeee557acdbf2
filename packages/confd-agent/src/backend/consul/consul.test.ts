/** Against a stand-in of Consul's documented API. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "../../agent.testkit.ts";
import { type ConsulDouble, startConsulDouble } from "./consul.testkit.ts";

let scene: Scene;
let consul: ConsulDouble;
beforeEach(async () => {
  scene = createScene();
  consul = await startConsulDouble();
});
afterEach(async () => {
  await scene.close();
  await consul.close();
});
const args = (...more: readonly string[]): string[] => ["consul", "-node", consul.address, ...more];
const watch = (...more: readonly string[]): RunningAgent =>
  scene.start(args("-watch", "-watch-error-backoff", "100ms", ...more));

describe("Consul as a source", () => {
  it("CONFD-CONSUL-1 CONFD-BE-4 CONFD-BE-1 reads a key and what is below it, nothing else, byte for byte", async () => {
    consul.put({ foo: "1", "foo/a": "2", "foo/ü b": "\xff\n", foobar: "3", "foo/empty": "" });
    scene.resource("out", {
      keys: ["/foo"],
      template:
        '{{range $k, $v := gets "/foo*"}}{{$v.Key}}={{$v.Value}};{{end}}{{range gets "/foo/*"}}{{.Key}}={{.Value}};{{end}}',
    });
    expect(await scene.run(args("-onetime"))).toMatchObject({ code: 0 });
    const bytes = Buffer.from(scene.readBytes("out")).toString("latin1");
    expect(bytes).toBe("/foo=1;/foo/a=2;/foo/empty=;/foo/\xc3\xbc b=\xff\n;");
  });

  it("CONFD-CONSUL-2 CONFD-WATCH-3 CONFD-WATCH-13 follows changes, of its own keys alone", async () => {
    consul.put({ "app/name": "one" });
    scene.resource("out", {
      keys: ["/app"],
      template: '{{getv "/app/name"}}:{{getv "/app/new" "-"}}',
      lines: ['reload_cmd = "echo r >> {}/reloads"'],
    });
    const agent = watch();
    await becomes(scene, "out", "one:-");
    consul.put({ "app/name": "two", "app/new": "n" });
    await becomes(scene, "out", "two:n");
    consul.put({ "application/x": "other" });
    consul.put({ "app/new": undefined });
    await becomes(scene, "out", "two:-");
    consul.put({ "app/name": undefined });
    await eventually(agent.log, (log) => log.includes("key does not exist: /app/name"));
    expect(scene.read("out")).toBe("two:-");
    expect(scene.read("reloads")).toBe("r\n".repeat(3));
    expect((await agent.stop()).code).toBe(0);
  });

  it("CONFD-CONSUL-2 rests while nothing changes", async () => {
    consul.put({ "app/name": "one" });
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
    watch();
    await becomes(scene, "out", "one");
    const before = await eventually(consul.requests, (count) => count >= 3);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(consul.requests()).toBe(before);
  });

  it("CONFD-CONSUL-3 CONFD-WATCH-9 CONFD-WATCH-10 goes on after an outage, with what changed meanwhile", async () => {
    consul.put({ "app/name": "one" });
    scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
    const agent = watch();
    await becomes(scene, "out", "one");
    const port = Number(consul.address.split(":")[1]);
    await consul.close();
    await eventually(agent.log, (log) => log.includes("watch of consul"));
    expect(scene.read("out")).toBe("one");
    // Begun anew: its index is lower than the one that was seen.
    consul = await startConsulDouble({ port });
    consul.put({ "app/name": "two" });
    await becomes(scene, "out", "two");
    consul.put({ "app/name": "three" });
    await becomes(scene, "out", "three");
  });

  it("CONFD-CONSUL-4 uses the next node while one has no leader or is away", async () => {
    const other = await startConsulDouble();
    try {
      consul.lead(false);
      other.put({ "app/name": "other" });
      scene.resource("out", { keys: ["/app"], template: '{{getv "/app/name"}}' });
      const nodes = ["127.0.0.1:1", consul.address, other.address].flatMap((node) => ["-node", node]);
      expect(await scene.run(["consul", ...nodes, "-onetime"])).toMatchObject({ code: 0 });
      expect(scene.read("out")).toBe("other");
    } finally {
      await other.close();
    }
  });

  it("CONFD-CONSUL-5 CONFD-PROC-8 CONFD-CFG-15 sends the token, and a refused key leaves the others alone", async () => {
    const port = Number(consul.address.split(":")[1]);
    await consul.close();
    consul = await startConsulDouble({ port, token: "s3cret-token", denied: ["b"] });
    consul.put({ a: "1", b: "2" });
    scene.resource("a", { keys: ["/a"], template: '{{getv "/a"}}' });
    scene.resource("b", { keys: ["/b"], template: '{{getv "/b"}}' });
    const outcome = await scene.run(args("-onetime", "-auth-token", "s3cret-token", "-log-level", "debug"));
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("permission denied for /b: Permission denied");
    expect(outcome.stderr).not.toContain("s3cret-token");
    expect(scene.read("a")).toBe("1");
    expect(await scene.run(args("-onetime"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ACL not found"),
    });
    expect((await scene.run(args("-onetime"), { CONSUL_HTTP_TOKEN: "s3cret-token" })).stderr).not.toContain(
      "ACL",
    );
  });
});
