import { describe, expect, it } from "vitest";
import type { ConfigDocument, Source, Sources } from "../desired/document.ts";
import type { Collected } from "./collect.ts";
import type { HostLimit } from "./host-limits.ts";
import { acceptedSources, nextSources } from "./sources.ts";

const ingress = (name: string, namespace = "shop"): Source => ({
  kind: "Ingress",
  namespace,
  name,
  rules: [{ hostname: `${name}.b`, service: "http://x:1" }],
});
const key = (name: string, namespace = "shop"): string => `Ingress/${namespace}/${name}`;
const stored = (...list: Source[]): ConfigDocument => ({
  sources: Object.fromEntries(list.map((source) => [key(source.name, source.namespace), source])),
});
const NOW = Date.parse("2026-01-01T00:00:00Z");

function collected(
  present: readonly Source[],
  elsewhere: readonly [string, string | undefined][] = [],
): Collected {
  const contributors = new Map(
    present.map((source) => [
      key(source.name, source.namespace),
      { object: {} as never, source, notices: [] },
    ]),
  );
  return { owners: [], contributors, unseen: new Set<string>(), elsewhere: new Map(elsewhere) };
}

const same: HostLimit = (source) => source;
type Given = Parameters<typeof nextSources> extends [...infer Rest, HostLimit] ? Rest : never;
const names = (...args: Given): string[] => Object.keys(nextSources(...args, same)).sort();

describe("sources of the next configuration", () => {
  it("TUN-306 TUN-310 are those of the cluster; only what changed gets a new time", () => {
    const old = { ...ingress("a"), updatedAt: "2025-01-01T00:00:00Z" };
    const next = nextSources(
      stored(old, ingress("gone")),
      collected([ingress("a"), ingress("b")]),
      new Map(),
      NOW,
      [],
      same,
    );
    expect(next).toEqual({
      [key("a")]: old,
      [key("b")]: { ...ingress("b"), updatedAt: "2026-01-01T00:00:00Z" },
    });
  });

  it("TUN-313 one that cannot be placed at the moment stays", () => {
    expect(names(stored(ingress("a")), collected([], [[key("a"), undefined]]), new Map(), NOW, [])).toEqual([
      key("a"),
    ]);
  });

  it("TUN-312 one that has moved stays until the other tunnel serves it", () => {
    const moved = collected([], [[key("a"), "two"]]);
    const other = (document: ConfigDocument) => new Map([["two", document]]);
    const here = stored(ingress("a"));
    expect(names(here, moved, new Map(), NOW, [])).toEqual([key("a")]);
    expect(names(here, moved, other({ ...stored(ingress("a")), syncStatus: "Error" }), NOW, [])).toEqual([
      key("a"),
    ]);
    expect(names(here, moved, other({ ...stored(ingress("a")), syncStatus: "Synced" }), NOW, [])).toEqual([]);
  });

  it("TUN-313 one of a namespace that is not watched is not taken away", () => {
    const here = stored(ingress("a"), ingress("b", "other"));
    expect(names(here, collected([]), new Map(), NOW, ["shop"])).toEqual([key("b", "other")]);
    expect(names(here, collected([]), new Map(), NOW, [])).toEqual([]);
  });

  it("TUN-653 what may not be claimed is marked, whatever keeps a source, but for others' namespaces", () => {
    const limit: HostLimit = (source) => ({
      ...source,
      rules: (source.rules ?? []).map((rule) => ({ ...rule, denied: "no" })),
    });
    const here = stored(ingress("a"), ingress("b"), ingress("c", "other"));
    const marks = (sources: Sources): (string | undefined)[] =>
      Object.values(sources).flatMap(({ rules = [] }) => rules.map(({ denied }) => denied));
    const waiting = collected([ingress("a")], [[key("b"), undefined]]);
    expect(marks(nextSources(here, waiting, new Map(), NOW, ["shop"], limit))).toEqual([
      "no",
      "no",
      undefined,
    ]);
    expect(marks(acceptedSources(here, ["shop"], limit))).toEqual(["no", "no", undefined]);
  });
});
