import { expect, it } from "vitest";
import { parseRedisNodes } from "./nodes.ts";

it("CONFD-REDIS-1 CONFD-REDIS-12 servers stand for themselves, sentinels for their master", () => {
  const servers = parseRedisNodes(["h", "h:1/2", "/run/redis", "rediss://u@[::1]:7"]);
  expect(servers).toEqual([
    { label: "h", host: "h", port: 6379, db: 0, tls: false },
    { label: "h:1", host: "h", port: 1, db: 2, tls: false },
    { label: "/run/redis", path: "/run/redis", db: 0, tls: false },
    { label: "[::1]:7", host: "::1", port: 7, db: 0, tls: true },
  ]);
  expect(parseRedisNodes(["sentinel://a/main/3", "sentinel://[::1]:7/main/3"])).toEqual([
    {
      label: "main of the sentinels a:26379, ::1:7",
      name: "main",
      db: 3,
      tls: false,
      sentinels: [
        { host: "a", port: 26_379 },
        { host: "::1", port: 7 },
      ],
    },
  ]);
});

it.each([
  [["sentinel://a"], "not a sentinel: use sentinel://host:port/NAME"],
  [["sentinel://a/main", "b:6379"], 'node "b:6379": not a sentinel'],
  [["sentinel://a/main", "sentinel://a/other"], "sentinels of several masters"],
  [["sentinel://a/main/x"], "not a sentinel"],
])("CONFD-REDIS-12 %s is refused", (nodes, reason) => {
  expect(() => parseRedisNodes(nodes)).toThrow(reason);
});
