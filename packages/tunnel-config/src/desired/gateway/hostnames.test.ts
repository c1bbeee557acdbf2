import { expect, it } from "vitest";
import { commonHosts } from "./hostnames.ts";

it.each<[string | undefined, string[] | undefined, string[]]>([
  [undefined, undefined, [""]],
  ["*.example.com", undefined, ["*.example.com"]],
  [undefined, ["A.example.com"], ["a.example.com"]],
  [
    "*.example.com",
    ["r.example.com", "x.y.example.com", "example.com", "r.example.org"],
    ["r.example.com", "x.y.example.com"],
  ],
  ["r.example.com", ["*.example.com"], ["r.example.com"]],
  ["*.b.example.com", ["*.example.com"], ["*.b.example.com"]],
  ["a.example.com", ["b.example.com"], []],
  ["*.example.com", ["*.example.com"], ["*.example.com"]],
])("TUN-523 hosts of a listener %s and a route %j are %j", (listener, route, hosts) => {
  expect(commonHosts(listener, route)).toEqual(hosts);
});
