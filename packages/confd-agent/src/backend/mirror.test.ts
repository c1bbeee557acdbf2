/** The mirror of a server: what may be taken from it, and what is to be read again. */
import { expect, it } from "vitest";
import { createMirror, type Mirror, type OwnValues } from "./mirror.ts";
import { redisKeys } from "./redis/keys.ts";
import { hashesAbove } from "./redis/read.ts";

const keys = redisKeys("", false);
const mirrorOf = (...ranges: string[]): Mirror => {
  const mirror = createMirror({ logical: keys.logical, above: (asked) => hashesAbove(asked, keys) });
  mirror.start(ranges);
  return mirror;
};
const texts = (read: Readonly<Record<string, string>>): OwnValues =>
  new Map(Object.entries(read).map(([own, value]) => [own, new Map([[own, value]])]));
const shown = (mirror: Mirror, ...ranges: string[]): object =>
  Object.fromEntries([...mirror.values(ranges)].sort());

it("CONFD-REDIS-13 what was told is read again, and nothing else", () => {
  const mirror = mirrorOf("/a", "/b");
  expect(mirror.stale(["/a"])).toBeUndefined();
  mirror.fill(["/a", "/b"], texts({ "/a/1": "x", "/a/2": "y", "/b/1": "z" }), mirror.count());
  expect(mirror.stale(["/a", "/b"])).toEqual([]);
  mirror.told("/a/2");
  const since = mirror.told("/a/3");
  mirror.told("/elsewhere");
  expect(mirror.stale(["/b"])).toEqual([]);
  expect(mirror.stale(["/a/1"])).toEqual(["/a/2", "/a/3"]);
  mirror.refresh(["/a/2", "/a/3"], texts({ "/a/3": "new" }), since);
  expect(mirror.stale(["/a"])).toEqual([]);
  expect(shown(mirror, "/a")).toEqual({ "/a/1": "x", "/a/3": "new" });
  expect(shown(mirror, "/a/1", "/b")).toEqual({ "/a/1": "x", "/b/1": "z" });
});

it("CONFD-REDIS-13 what changed while it was read stays to be read", () => {
  const mirror = mirrorOf("/a");
  const early = mirror.count();
  const told = mirror.told("/a/1");
  mirror.fill(["/"], texts({ "/a/1": "old" }), early);
  expect(mirror.stale(["/a"])).toEqual(["/a/1"]);
  mirror.told("/a/1");
  mirror.refresh(["/a/1"], texts({ "/a/1": "middle" }), told);
  expect(mirror.stale(["/a"])).toEqual(["/a/1"]);
  mirror.refresh(["/a/1"], texts({ "/a/1": "last" }), mirror.count());
  // A long read that began before comes in last.
  mirror.fill(["/a"], texts({ "/a/1": "old" }), early);
  expect(shown(mirror, "/a")).toEqual({ "/a/1": "last" });
});

it("CONFD-REDIS-13 a read of keys that comes in behind a later whole read is not taken", () => {
  const mirror = mirrorOf("/a");
  mirror.fill(["/a"], texts({ "/a/1": "old" }), mirror.count());
  const since = mirror.told("/a/1");
  mirror.told("/a/1");
  mirror.fill(["/a"], texts({ "/a/1": "last" }), mirror.count());
  mirror.refresh(["/a/1"], texts({ "/a/1": "middle" }), since);
  expect(shown(mirror, "/a")).toEqual({ "/a/1": "last" });
});

it("CONFD-REDIS-13 CONFD-WATCH-9 reads from before the watch stood are not taken", () => {
  const mirror = mirrorOf("/a");
  const before = mirror.count();
  mirror.stop();
  mirror.start(["/a"]);
  mirror.fill(["/a"], texts({ "/a": "old" }), before);
  expect(mirror.stale(["/a"])).toBeUndefined();
});

it("CONFD-REDIS-13 CONFD-REDIS-4 a hash above belongs to all ranges below it, and the longer key counts", () => {
  const mirror = mirrorOf("/app/x", "/app/y");
  const hash = (x: string): [string, ReadonlyMap<string, string>] => [
    "/app",
    new Map([
      ["/app/x", x],
      ["/app/y", "1"],
    ]),
  ];
  mirror.fill(["/app/x", "/app/y"], new Map([...texts({ "/app/y": "own" }), hash("1")]), mirror.count());
  expect(shown(mirror, "/app/x", "/app/y")).toEqual({ "/app/x": "1", "/app/y": "own" });
  mirror.told("/app");
  expect(mirror.stale(["/app/y"])).toEqual(["/app"]);
  mirror.refresh(["/app"], new Map([hash("2")]), mirror.count());
  expect(mirror.stale(["/app/x"])).toEqual([]);
  expect(shown(mirror, "/app/x")).toEqual({ "/app/x": "2" });
});

it("CONFD-REDIS-13 a range whose changes nobody reads is read as a whole at last", () => {
  const mirror = mirrorOf("/a", "/b");
  mirror.fill(["/"], texts({ "/a/1": "x", "/b/1": "y" }), mirror.count());
  for (let i = 0; i <= 10_000; i++) mirror.told(`/a/${i}`);
  expect(mirror.stale(["/a"])).toBeUndefined();
  expect(mirror.stale(["/b"])).toEqual([]);
});
