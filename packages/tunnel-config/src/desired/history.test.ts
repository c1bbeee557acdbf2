import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { aggregate } from "./aggregate.ts";
import type { HistoryEntry, Sources } from "./document.ts";
import {
  configOf,
  historyEntry,
  parseHistory,
  serialiseHistory,
  transmittedOf,
  withEntry,
} from "./history.ts";

const AT = "2026-01-01T00:00:00Z";
const ROOM = 1_000_000;
const sources = (...hosts: string[]): Sources => ({
  "Ingress/a/i": {
    kind: "Ingress",
    namespace: "a",
    name: "i",
    rules: hosts.map((hostname) => ({ hostname, service: `http://${hostname}:80` })),
  },
});
const { config } = aggregate(sources("a.example.com", "b.example.com"));
const entry = (version: number, host = `h${version}.example.com`): HistoryEntry =>
  historyEntry(aggregate(sources(host)).config, version, AT);

describe("history of configurations", () => {
  it("TUN-660 keeps a configuration as it was, with its version, time and number of rules", () => {
    const kept = historyEntry(config, 7, AT);
    expect(kept).toMatchObject({ version: 7, at: AT, rules: 2 });
    const [read] = parseHistory(serialiseHistory([kept], ROOM));
    expect(configOf(read!)).toEqual(config);
  });

  it("TUN-660 keeps the last ten, the same one twice in a row once, and what fits", () => {
    let history: readonly HistoryEntry[] = [];
    for (let version = 1; version <= 12; version += 1) history = withEntry(history, entry(version));
    expect(history.map(({ version }) => version)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    const again = withEntry(history, entry(13, "h12.example.com"));
    expect(again.map(({ version }) => version)).toEqual([13, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(withEntry(again, entry(14, "h11.example.com")).map(({ version }) => version)).toContain(11);
    const two = serialiseHistory(history.slice(0, 2), ROOM)!;
    expect(parseHistory(serialiseHistory(history, two.length)).map(({ version }) => version)).toEqual([
      12, 11,
    ]);
    expect(serialiseHistory(history, 10)).toBeUndefined();
    const large = { ...entry(1), body: "x".repeat(300_000) };
    expect(serialiseHistory([large], ROOM)).toBeUndefined();
  });

  it("TUN-662 what cannot be read, or is not what was transmitted, is no configuration", () => {
    const bomb = gzipSync(Buffer.alloc(3 * 1024 * 1024, " ")).toString("base64");
    const other = historyEntry(aggregate({}).config, 1, AT).body;
    for (const body of ["", "no base64", "H4sIAAAA", bomb, other])
      expect(configOf({ ...entry(1), body })).toBeUndefined();
    for (const text of [undefined, "{broken", "{}", "5", '[1,null,{"version":"1"}]'])
      expect(parseHistory(text)).toEqual([]);
  });

  it("TUN-661 what a tunnel is held at counts as transmitted, not what its sources make", () => {
    const document = { sources: sources("c.example.com"), frozen: historyEntry(config, 7, AT) };
    expect(transmittedOf(document).hostnames).toEqual(["a.example.com", "b.example.com"]);
    const broken = { ...document, frozen: { ...document.frozen, body: "" } };
    expect(transmittedOf(broken).hostnames).toEqual(["c.example.com"]);
  });
});
