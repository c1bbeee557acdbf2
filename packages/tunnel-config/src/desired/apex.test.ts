import { expect, it } from "vitest";
import { aggregate } from "./aggregate.ts";
import { openApexes } from "./apex.ts";

const told = (...hosts: string[]): string[] => {
  const rules = hosts.map((hostname) => ({ hostname, service: "http://x:80" }));
  const sources = { "Ingress/a/i": { kind: "Ingress", namespace: "a", name: "i", rules } };
  return openApexes(aggregate(sources)).map(({ message }) => message.split(":")[0]!);
};

it.each([
  [["*.example.com"], ["no rule serves example.com"]],
  [["*.example.com", "example.com"], []],
  [["*.a.example.com", "*.example.com"], ["no rule serves example.com"]],
  [["*.a.example.com", "x.a.example.com"], ["no rule serves a.example.com"]],
  [["example.com", "x.example.com"], []],
])("TUN-481 of the hosts %j it is told that %j", (hosts, expected) => {
  expect(told(...hosts)).toEqual(expected);
});
