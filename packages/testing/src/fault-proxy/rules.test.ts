import { describe, expect, it } from "vitest";
import { type FaultRule, matchesRequest, ruleBook } from "./rules.ts";
import { lineCutter } from "./truncate.ts";

const get = (url: string, method = "GET"): { method: string; url: string } => ({ method, url });

describe("matchesRequest", () => {
  it.each<[Omit<FaultRule, "fault">, string, string, boolean]>([
    [{}, "GET", "/anything", true],
    [{ path: "/api/v1/pods" }, "GET", "/api/v1/pods?limit=500", true],
    [{ path: "/api/v1/pods" }, "GET", "/apis/apps/v1/pods", false],
    [{ path: /\/pods\/[^/]+\/status$/ }, "PUT", "/api/v1/namespaces/a/pods/b/status", true],
    [{ path: /\/status$/ }, "PUT", "/api/v1/namespaces/a/pods/b", false],
    [{ method: "PUT" }, "PUT", "/x", true],
    [{ method: "PUT" }, "GET", "/x", false],
    [{ watch: true }, "GET", "/x?watch=true&resourceVersion=1", true],
    [{ watch: true }, "GET", "/x?resourceVersion=1&watch=1", true],
    [{ watch: true }, "GET", "/x?watch=false", false],
    [{ watch: false }, "GET", "/x?watch=true", false],
    [{ watch: false }, "GET", "/x", true],
  ])("%j for %s %s: %s", (rule, method, url, expected) => {
    expect(matchesRequest(rule, { method, url })).toBe(expected);
  });
});

describe("ruleBook", () => {
  it("lets `skip` requests pass, hits `times`, and counts hits", () => {
    const book = ruleBook();
    const rule = book.add({ fault: { kind: "serverError" }, path: "/a", skip: 2, times: 2 });
    const taken = ["/a", "/b", "/a", "/a", "/a", "/a"].map((url) => book.take(get(url))?.kind);
    expect(taken).toEqual([undefined, undefined, undefined, "serverError", "serverError", undefined]);
    expect(rule.hits).toBe(2);
  });

  it("lets the oldest rule decide until it is used up or removed", () => {
    const book = ruleBook();
    book.add({ fault: { kind: "serverError" }, times: 1 });
    const second = book.add({ fault: { kind: "blackhole" } });
    book.add({ fault: { kind: "cut" } });
    expect(book.take(get("/"))?.kind).toBe("serverError");
    expect(book.take(get("/"))?.kind).toBe("blackhole");
    second.remove();
    expect(book.take(get("/"))?.kind).toBe("cut");
    book.clear();
    expect(book.take(get("/"))).toBeUndefined();
  });
});

describe("lineCutter", () => {
  const run = (lines: number, chunks: string[]): { passed: string; done: boolean } => {
    const cutter = lineCutter(lines);
    let passed = "";
    for (const chunk of chunks) {
      const { pass, done } = cutter.cut(Buffer.from(chunk));
      passed += pass.toString();
      if (done) return { passed, done };
    }
    return { passed, done: false };
  };

  it("passes complete lines and half of the next one, however the bytes arrive", () => {
    expect(run(1, ["first\nsecond\nthird\n"])).toEqual({ passed: "first\nsec", done: true });
    expect(run(1, ["fi", "rst\n", "second\n"])).toEqual({ passed: "first\nsec", done: true });
    expect(run(0, ['{"kind":"Pod"}'])).toEqual({ passed: '{"kind"', done: true });
    expect(run(2, ["a\nb\n"])).toEqual({ passed: "a\nb\n", done: false });
    expect(run(0, ["x"])).toEqual({ passed: "x", done: true });
  });
});
