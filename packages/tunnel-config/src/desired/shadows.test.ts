import { expect, it } from "vitest";
import { aggregate } from "./aggregate.ts";
import type { SourceRule } from "./document.ts";
import { shadowedRules } from "./shadows.ts";
import { rulePath } from "./sources/ingress.ts";

const regex = (path: string, hostname = "a.b"): SourceRule => ({
  hostname,
  path,
  pathKind: "Regex",
  service: "http://r:80",
});
const prefix = (path: string, hostname = "a.b"): SourceRule => ({
  hostname,
  ...rulePath(path, "Prefix"),
  service: "http://p:80",
});
const exact = (path: string): SourceRule => ({
  hostname: "a.b",
  ...rulePath(path, "Exact"),
  service: "http://e:80",
});
const hidden = (...rules: SourceRule[]): string[] => {
  const sources = Object.fromEntries(
    rules.map((rule, index) => [
      `Ingress/n/${index}`,
      { kind: "Ingress", namespace: "n", name: `${index}`, rules: [rule] },
    ]),
  );
  return shadowedRules(aggregate(sources)).map(({ source, message }) => `${source} ${message}`);
};

it("TUN-641 a prefix or a whole host behind an expression that takes all its requests is told, and by which", () => {
  expect(hidden(regex("^/.+|^/$"), prefix("/v1.0"), prefix("/"))).toEqual([
    "Ingress/n/1 a.b, ^/v1\\.0(/.*)?$ is never reached: the expression ^/.+|^/$ of Ingress/n/0 comes first and takes its requests",
    "Ingress/n/2 a.b, every path is never reached: the expression ^/.+|^/$ of Ingress/n/0 comes first and takes its requests",
  ]);
  expect(hidden(regex("/api"), prefix("/api"), prefix("/api/v2"), prefix("/other"))).toMatchObject([
    expect.stringMatching(/^Ingress\/n\/[12] /),
    expect.stringMatching(/^Ingress\/n\/[12] /),
  ]);
});

it("TUN-641 what some request still reaches is not told", () => {
  expect(hidden(regex("^/api/v[0-9]+"), prefix("/api"), exact("/api/v1"), prefix("/"))).toEqual([]);
  expect(hidden(regex("^/api$"), prefix("/api"))).toEqual([]);
  expect(hidden(regex("/api", "c.d"), prefix("/api"), regex("/api", "*.b"))).toEqual([]);
  // Such an expression comes last by itself.
  expect(hidden(regex("^/.*"), prefix("/api"))).toEqual([]);
});

it("TUN-641 costs no more than a bounded work, whatever the expressions", () => {
  // Each try of such an expression takes milliseconds, and there would be 200,000.
  const hostile = Array.from({ length: 200 }, (_, index) => regex(`^/${"(a*)*".repeat(48)}b?${index}?`));
  const hidden200 = Array.from({ length: 200 }, (_, index) => prefix(`/${"a".repeat(200)}${index}`));
  expect(hidden(...hostile, ...hidden200).length).toBeLessThan(20);
  expect(hidden(regex("^/(a?){1000}"), regex(`^/a?${"b?".repeat(200)}`), prefix("/x"))).toEqual([]);
});
