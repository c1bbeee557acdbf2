import { expect, it } from "vitest";
import type { Rejection, Source, Sources } from "./document.ts";
import { documentSize, MAX_DOCUMENT, shareOut } from "./share.ts";

const DOCUMENT = { sources: {} };

/** A source with rules of about 100 bytes each, on hosts of its own. */
function source(namespace: string, name: string, rules: number, createdAt = "2026-01-01T00:00:00Z"): Source {
  return {
    kind: "Ingress",
    namespace,
    name,
    createdAt,
    rules: Array.from({ length: rules }, (_, index) => ({
      hostname: `h${index}.${name}.${namespace}.example.com`,
      service: "http://web.svc:80",
    })),
  };
}
const sourcesOf = (...all: Source[]): Sources =>
  Object.fromEntries(all.map((one) => [`${one.kind}/${one.namespace}/${one.name}`, one]));
const many = (namespace: string, count: number, rules = 100): Source[] =>
  Array.from({ length: count }, (_, index) => source(namespace, `i${index}`, rules));

it("TUN-319 what fits is left alone", () => {
  const wanted = sourcesOf(...many("a", 3), source("b", "x", 1));
  const shared = shareOut(DOCUMENT, wanted, {}, []);
  expect(shared.sources).toBe(wanted);
  expect(shared.rejected).toEqual([]);
});

it("TUN-319 a namespace that fills the ConfigMap is held back itself, and nobody else", () => {
  const wanted = sourcesOf(...many("greedy", 200), source("b", "x", 50), source("c", "x", 50));
  const { sources, rejected, desired } = shareOut(DOCUMENT, wanted, {}, []);
  expect(documentSize({ ...DOCUMENT, sources })).toBeLessThan(MAX_DOCUMENT);
  expect(sources).toMatchObject({
    "Ingress/b/x": wanted["Ingress/b/x"],
    "Ingress/c/x": wanted["Ingress/c/x"],
  });
  // Most of the room is theirs all the same: nobody else needs it.
  expect(documentSize({ ...DOCUMENT, sources })).toBeGreaterThan(MAX_DOCUMENT / 2);
  expect(desired.config.ingress.length).toBeGreaterThan(1_000);
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejected.every(({ source: key }) => key.startsWith("Ingress/greedy/"))).toBe(true);
  expect(rejected[0]).toMatchObject({
    cause: "ConfigTooLarge",
    reason: expect.stringMatching(/^the objects of namespace greedy take \d+ KiB .* spread the hosts/),
  });
});

it("TUN-319 two that fill it share it, and what one leaves the other has", () => {
  const wanted = sourcesOf(...many("a", 100), ...many("b", 100));
  const { sources } = shareOut(DOCUMENT, wanted, {}, []);
  const count = (namespace: string) =>
    Object.values(sources).filter((one) => one.namespace === namespace).length;
  expect(Math.abs(count("a") - count("b"))).toBeLessThanOrEqual(1);
  expect(count("a")).toBeGreaterThan(10);
});

it("TUN-319 what is served stays, also in its former form; of new ones the older come first; a next pass changes nothing", () => {
  const before = sourcesOf(...many("a", 40));
  const young = Array.from({ length: 60 }, (_, index) =>
    source("a", `young${index}`, 100, "2026-02-01T00:00:00Z"),
  );
  const old = source("a", "zz", 100, "2025-01-01T00:00:00Z");
  const grown = source("a", "i0", 5_000);
  const wanted = { ...before, ...sourcesOf(...young, old, grown) };
  const { sources, rejected } = shareOut(DOCUMENT, wanted, before, []);
  expect(Object.keys(before).filter((key) => sources[key] !== before[key])).toEqual([]);
  expect(sources["Ingress/a/zz"]).toBe(old);
  expect(rejected.map(({ source: key }) => key)).toContain("Ingress/a/i0");
  expect(shareOut(DOCUMENT, wanted, sources, []).sources).toEqual(sources);
});

it("TUN-319 settings of the tunnel are the owner's and stay", () => {
  const settings: Source = { kind: "Tunnel", name: "main", settings: { fallbackTarget: "http_status:503" } };
  const wanted = { "Tunnel/main": settings, ...sourcesOf(...many("a", 200)) };
  expect(shareOut(DOCUMENT, wanted, {}, []).sources["Tunnel/main"]).toBe(settings);
});

it("TUN-319 settings of a Tunnel are its owner's too, however much its namespace asks for", () => {
  const settings = { warpRouting: true, originRequest: { caPool: "x".repeat(2_000) } };
  const createdAt = "2026-05-01T00:00:00Z";
  const tunnel: Source = { kind: "Tunnel", namespace: "a", name: "main", createdAt, settings };
  const wanted = { "Tunnel/a/main": tunnel, ...sourcesOf(...many("a", 6_000, 1)) };
  expect(shareOut(DOCUMENT, wanted, {}, []).sources["Tunnel/a/main"]).toBe(tunnel);
});

it("TUN-319 within its share a namespace changes what it likes in one pass", () => {
  const before = sourcesOf(source("b", "larger", 5), source("b", "lesser", 50));
  const after = sourcesOf(source("b", "larger", 50), source("b", "lesser", 5));
  const { sources, rejected } = shareOut(DOCUMENT, { ...sourcesOf(...many("z", 200)), ...after }, before, []);
  expect(sources).toMatchObject(after);
  expect(rejected.filter(({ source: key }) => key.startsWith("Ingress/b/"))).toEqual([]);
});

it("TUN-319 what shrinks makes room for what grows in the same pass, and the next one changes nothing", () => {
  const before = sourcesOf(...many("z", 80, 100));
  const changed = sourcesOf(source("z", "i0", 150), source("z", "i79", 20), ...many("z", 200).slice(80));
  const wanted = { ...before, ...changed };
  const { sources } = shareOut(DOCUMENT, wanted, before, []);
  expect(sources["Ingress/z/i79"]).toBe(wanted["Ingress/z/i79"]);
  expect(shareOut(DOCUMENT, wanted, sources, []).sources).toEqual(sources);
});

it("TUN-319 what is told of many namespaces leaves the room to what is served", () => {
  const all = Array.from({ length: 300 }, (_, index) => many(`namespace-of-a-team-${index}`, 15, 1)).flat();
  const { sources, rejected } = shareOut(DOCUMENT, sourcesOf(...all), {}, []);
  expect(documentSize({ ...DOCUMENT, sources })).toBeGreaterThan(0.85 * MAX_DOCUMENT);
  expect(rejected).toHaveLength(60);
});

it("TUN-319 conflicts are a part of the share of those who lose them", () => {
  const served = sourcesOf(...["v0", "v1", "v2"].flatMap((namespace) => many(namespace, 30, 40)));
  const hosts = Object.values(served).flatMap(({ rules = [] }) => rules);
  const greedy = Array.from({ length: 200 }, (_, index): Source => {
    const rules = Array.from({ length: 40 }, (_, rule) => hosts[(index * 40 + rule) % hosts.length]!);
    return { ...source("greedy", `g${index}`, 0, "2026-03-01T00:00:00Z"), rules };
  });
  const { sources } = shareOut(DOCUMENT, { ...served, ...sourcesOf(...greedy) }, served, []);
  expect(sources).toMatchObject(served);
  expect(Object.keys(sources).length).toBeGreaterThan(Object.keys(served).length);
});

it("TUN-319 TUN-630 what the API refuses of a namespace is a part of its share", () => {
  const served = sourcesOf(...["v0", "v1", "v2"].flatMap((namespace) => many(namespace, 4, 450)));
  const mine = sourcesOf(...many("greedy", 30));
  const refused = Array.from({ length: 1_500 }, (_, index): Rejection => {
    const place = { source: `Ingress/greedy/refused-${index}`, hostname: "", path: "" };
    return {
      ...place,
      reason: "Bad Configuration",
      fragment: "0123456789abcdef",
      since: "2026-01-01T00:00:00Z",
    };
  });
  const { sources, desired, rejected } = shareOut(DOCUMENT, { ...served, ...mine }, served, refused);
  expect(sources).toMatchObject(served);
  const told = { conflicts: desired.conflicts, rejected: [...refused, ...rejected] };
  expect(documentSize({ ...DOCUMENT, sources, ...told })).toBeLessThanOrEqual(MAX_DOCUMENT);
});

it("TUN-319 conflicts have room as well", () => {
  const same = Array.from({ length: 4_000 }, (_, index) => ({
    ...source("a", "same", 1),
    name: `i${index}`,
  }));
  const { sources, desired, rejected } = shareOut(DOCUMENT, sourcesOf(...same), {}, []);
  const { conflicts } = desired;
  expect(documentSize({ ...DOCUMENT, sources, conflicts, rejected })).toBeLessThanOrEqual(MAX_DOCUMENT);
});
