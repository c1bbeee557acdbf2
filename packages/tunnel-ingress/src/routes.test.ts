import { describe, expect, it } from "vitest";
import { routesOf } from "./index.ts";

const host = (hostname: string) => ({ hostname, service: "http://x:1" });
const LAST = { service: "http_status:404" };

describe("TUN-606 which rule serves a request", () => {
  it("a wildcard stands for one label or more, not for the name itself", () => {
    const serve = routesOf([host("*.example.com"), LAST]);
    expect(
      ["a.example.com", "a.b.example.com", "example.com", "xexample.com"].map((name) => serve(name, "/")),
    ).toEqual([0, 0, 1, 1]);
  });

  it("the first that fits serves, the last when none does", () => {
    const serve = routesOf([{ ...host("a.b"), path: "/api" }, host("a.b"), LAST]);
    expect([serve("a.b", "/v1/api"), serve("a.b", "/"), serve("c.d", "/api")]).toEqual([0, 1, 2]);
  });

  it("the port of a request does not count, its case does", () => {
    const serve = routesOf([host("app.example.com"), LAST]);
    expect([serve("app.example.com:8443", "/"), serve("APP.example.com", "/")]).toEqual([0, 1]);
  });

  it("a hostname is known in lower case and in punycode as well", () => {
    const serve = routesOf([host("APP.example.com"), host("münchen.de"), host("*.münchen.de"), LAST]);
    expect(serve("app.example.com", "/")).toBe(0);
    expect(serve("xn--mnchen-3ya.de", "/")).toBe(1);
    // A wildcard has no such second form: it must be written in punycode.
    expect(serve("x.xn--mnchen-3ya.de", "/")).toBe(3);
  });
});
