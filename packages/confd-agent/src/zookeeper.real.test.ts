/** The agent on a real ZooKeeper server. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { becomes, createScene, eventually, type RunningAgent, type Scene } from "./agent.testkit.ts";
import { startRelay } from "./relay.testkit.ts";
import { startZooKeeper, type ZooKeeperServer } from "./zookeeper.testkit.ts";

let scene: Scene;
let zookeeper: ZooKeeperServer;
beforeEach(async () => {
  scene = createScene();
  zookeeper = await startZooKeeper();
});
afterEach(async () => {
  await scene.close();
  await zookeeper.close();
});

const args = (node: string, ...more: string[]): string[] => [
  ...["-backend", "zookeeper", "-node", node],
  ...["-watch-error-backoff", "100ms", "-watch-error-backoff-max", "500ms", ...more],
];
const watch = (node = zookeeper.address, ...more: string[]): RunningAgent =>
  scene.start(args(node, "-watch", "-resync-interval", "0", ...more));
const once = (...more: string[]) => scene.run(args(zookeeper.address, "-onetime", ...more));
const listing = (name: string, ...keys: string[]): void =>
  scene.resource(name, {
    keys,
    template:
      '{{range gets "/*"}}{{.Key}}={{.Value}} {{end}}{{range gets "/*/*"}}{{.Key}}={{.Value}} {{end}}',
  });

it("CONFD-ZK-1 CONFD-ZK-2 CONFD-BE-4 reads the nodes of the ranges, and none beside them", async () => {
  await zookeeper.put({
    "/foo": "1",
    "/foo/a": "2",
    "/foobar": "3",
    "/dir/leaf": "",
    "/dir/\xc3\xa9": "\xff\x00\n",
  });
  listing("foo", "/foo");
  listing("missing", "/missing");
  scene.resource("dir", {
    keys: ["/dir"],
    template:
      '{{range ls "/dir"}}{{.}} {{end}}{{exists "/dir"}} {{exists "/dir/leaf"}} {{printf "%x" (getv "/dir/é")}}',
  });
  expect((await once()).code).toBe(0);
  expect([scene.read("foo"), scene.read("missing")]).toEqual(["/foo=1 /foo/a=2 ", ""]);
  expect(scene.read("dir")).toBe("leaf é false true ff000a");
});

it("CONFD-ZK-3 CONFD-WATCH-3 CONFD-WATCH-13 every kind of change arrives, of these keys only", async () => {
  await zookeeper.put({ "/foo/a": "1", "/bar": "0" });
  scene.resource("foo", {
    keys: ["/foo"],
    template: '{{range gets "/foo/*"}}{{.Key}}={{.Value}} {{end}}{{if exists "/foo"}}leaf{{end}}',
    lines: ['reload_cmd = "echo r >> {}/reloads"'],
  });
  scene.resource("later", { keys: ["/later"], template: '{{range gets "/later/*"}}{{.Value}}{{end}}' });
  watch();
  await becomes(scene, "foo", "/foo/a=1 ");
  await becomes(scene, "later", "");
  await becomes(scene, "reloads", "r\n");
  await zookeeper.put({ "/foobar": "1", "/bar": "1" });
  await zookeeper.put({ "/foo/b": "2" });
  await becomes(scene, "foo", "/foo/a=1 /foo/b=2 ");
  await zookeeper.putTogether({ "/foo/a": "3", "/foo/b": "3" });
  await becomes(scene, "foo", "/foo/a=3 /foo/b=3 ");
  await becomes(scene, "reloads", "r\nr\nr\n");
  // The last child gone, the node above is a key of its own, as it is in confd.
  await zookeeper.remove("/foo/a", "/foo/b");
  await becomes(scene, "foo", "leaf");
  await zookeeper.put({ "/later/x/y": "", "/later/x": "deep" });
  await becomes(scene, "later", "deep");
});

it("CONFD-ZK-4 CONFD-WATCH-9 what changed while the server restarted is read, and that of one that hangs", async () => {
  const relay = await startRelay(zookeeper.address);
  try {
    await zookeeper.put({ "/foo/a": "1" });
    listing("foo", "/foo");
    const agent = watch(relay.address);
    await becomes(scene, "foo", "/foo/a=1 ");
    relay.refuse(true);
    relay.cut();
    await eventually(agent.log, (log) => log.includes("watch of zookeeper"));
    await zookeeper.kill();
    await zookeeper.start();
    await zookeeper.put({ "/foo/a": "2" });
    relay.refuse(false);
    await becomes(scene, "foo", "/foo/a=2 ");
    await zookeeper.kill();
    zookeeper.wipe();
    await zookeeper.start();
    await zookeeper.put({ "/foo/a": "new" });
    await becomes(scene, "foo", "/foo/a=new ");
    relay.freeze();
    await zookeeper.put({ "/foo/a": "3" });
    await becomes(scene, "foo", "/foo/a=3 ");
    expect(agent.log()).toContain("the server does not answer any more");
    expect((await agent.stop()).code).toBe(0);
  } finally {
    await relay.close();
  }
});

it("CONFD-ZK-4 CONFD-WATCH-9 what changed while the agent stood still so long that its session expired is read", async () => {
  await zookeeper.put({ "/foo/a": "1" });
  listing("foo", "/foo");
  const agent = watch();
  await becomes(scene, "foo", "/foo/a=1 ");
  agent.signal("SIGSTOP");
  await eventually(zookeeper.sessions, (count) => count === 0);
  await zookeeper.put({ "/foo/a": "2" });
  agent.signal("SIGCONT");
  await becomes(scene, "foo", "/foo/a=2 ");
  await zookeeper.put({ "/foo/a": "3" });
  await becomes(scene, "foo", "/foo/a=3 ");
  // One session, however many there were.
  await eventually(zookeeper.sessions, (count) => count === 1);
});

it("CONFD-ZK-5 a login opens what is its own; what is refused fails alone", async () => {
  await zookeeper.put({ "/open": "1" });
  await zookeeper.put({ "/own": "2" }, "confd:s3cret");
  listing("open", "/open");
  listing("own", "/own");
  const refused = await once();
  expect([refused.code, scene.read("open"), scene.exists("own")]).toEqual([1, "/open=1 ", false]);
  expect(refused.stderr).toContain("/own: not authorized");
  expect((await once("-username", "confd", "-password", "s3cret")).code).toBe(0);
  expect(scene.read("own")).toBe("/own=2 ");
});
