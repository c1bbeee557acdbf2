import { describe, expect, it } from "vitest";
import type { DNSRecord as DnsResource } from "../api.gen.ts";
import type { DnsRecord } from "../cloudflare/api.ts";
import {
  differences,
  fullName,
  isInZone,
  isRelative,
  rivals,
  specProblem,
  wantedRecord,
} from "./dns-record.ts";

const resource = (spec: object): DnsResource =>
  ({ metadata: { name: "r" }, spec: { name: "a", ...spec } }) as never;
const wanted = (spec: object) => wantedRecord(resource(spec), "a.example.com");
const remote = (type: string, content: string, name = "a.example.com"): DnsRecord => ({
  id: `${type} ${content}`,
  name,
  type,
  content,
});

describe("a DNSRecord", () => {
  it.each([
    [{ type: "A" }, "spec.content is missing"],
    [{ content: "192.0.2.1" }, "spec.type is missing"],
    [{ type: "A", content: "192.0.2.1", sourceRef: { service: { name: "s" } } }, "mutually exclusive"],
    [{ sourceRef: {} }, "exactly one of"],
    [{ sourceRef: { service: { name: "s" }, node: { name: "n" } } }, "exactly one of"],
    [{ type: "A", content: "192.0.2.1", ttl: 59 }, "spec.ttl"],
    [{ type: "A", content: "192.0.2.1", ttl: 86_401 }, "spec.ttl"],
    [{ type: "TXT", content: "x", proxied: true }, "cannot be proxied"],
  ])("TUN-921 TUN-925 that cannot be made says why: %j", (spec, problem) => {
    expect(specProblem(resource(spec))).toContain(problem);
  });

  it("TUN-921 needs a content of its own or of a source, or data", () => {
    for (const spec of [
      { type: "A", content: "192.0.2.1" },
      { sourceRef: { node: { name: "n" } } },
      { type: "SRV", data: { port: 1 } },
    ])
      expect(specProblem(resource(spec))).toBeUndefined();
  });

  it("TUN-112 TUN-922 has a whole name, whichever way it is written", () => {
    const names = ["www", "WWW.Example.com.", "example.com", "@", "*", "*.x", "_sip._tcp"];
    expect(names.map((name) => fullName(name, "example.com"))).toEqual([
      "www.example.com",
      "www.example.com",
      "example.com",
      "example.com",
      "*.example.com",
      "*.x.example.com",
      "_sip._tcp.example.com",
    ]);
    expect(["www", "_sip._tcp", "a.b", "_dmarc.b"].map(isRelative)).toEqual([true, true, false, false]);
    expect(
      ["example.com", "a.example.com", "myexample.com"].map((host) => isInZone(host, "example.com")),
    ).toEqual([true, true, false]);
  });

  it("TUN-925 sends what its type has, and the automatic time to live of what is proxied", () => {
    expect(wanted({ type: "A", content: "192.0.2.1", ttl: 300, priority: 5 })).toEqual({
      name: "a.example.com",
      type: "A",
      content: "192.0.2.1",
      ttl: 300,
      proxied: false,
    });
    expect(wanted({ type: "CNAME", content: "B.Example.org.", proxied: true, ttl: 300 })).toMatchObject({
      content: "b.example.org",
      proxied: true,
      ttl: 1,
    });
    const mail = wanted({ type: "MX", content: "mx.b", priority: 10 });
    expect(mail).toMatchObject({ priority: 10 });
    expect(mail).not.toHaveProperty("proxied");
    expect(wanted({ type: "URI", data: { content: "x" }, priority: 1 })).toMatchObject({ priority: 1 });
    expect(wanted({ type: "TXT", content: "x", priority: 1 })).not.toHaveProperty("priority");
  });

  it("TUN-923 stands in the way of what cannot be beside it", () => {
    const all = [
      remote("A", "192.0.2.1"),
      remote("AAAA", "2001:db8::1"),
      remote("CNAME", "x.b"),
      remote("TXT", "one"),
      remote("MX", "mx.b"),
      remote("A", "192.0.2.1", "b.example.com"),
    ];
    const types = (spec: object) => rivals(all, wanted(spec)).map(({ type }) => type);
    expect(types({ type: "A", content: "192.0.2.9" })).toEqual(["A", "CNAME"]);
    expect(types({ type: "AAAA", content: "2001:db8::9" })).toEqual(["AAAA", "CNAME"]);
    expect(types({ type: "CNAME", content: "y.b" })).toEqual(["A", "AAAA", "CNAME"]);
    expect(types({ type: "TXT", content: "two" })).toEqual([]);
    expect(types({ type: "TXT", content: "one" })).toEqual(["TXT"]);
    expect(types({ type: "MX", content: "mx.b" })).toEqual(["MX"]);
    const service = {
      ...remote("SRV", "1 2 3 x.b"),
      data: { port: 3, target: "x.b", weight: 2, priority: 1 },
    };
    const like = (data: object) => rivals([service], wanted({ type: "SRV", data })).length;
    expect([
      like({ port: 3, target: "x.b", weight: 2 }),
      like({ port: 4, target: "x.b", weight: 2 }),
    ]).toEqual([1, 0]);
  });

  it("TUN-905 differs by what it wants alone", () => {
    const held = {
      ...remote("A", "192.0.2.1"),
      ttl: 1,
      proxied: false,
      comment: "c",
      tags: [],
      modified_on: "x",
    };
    const same = { ...wanted({ type: "A", content: "192.0.2.1" }), comment: "c" };
    expect(differences(held, same)).toEqual({});
    expect(differences(held, { ...same, content: "192.0.2.2", comment: "d" })).toEqual({
      content: "192.0.2.2",
      comment: "d",
    });
  });
});
