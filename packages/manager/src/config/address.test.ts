import { describe, expect, it } from "vitest";
import { formatAddress, parseAddress } from "./address.ts";

describe("listen addresses", () => {
  it.each([
    [":8080", { port: 8080 }],
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["localhost:65535", { host: "localhost", port: 65_535 }],
    ["[::1]:9000", { host: "::1", port: 9000 }],
    ["0", undefined],
  ])("CORE-390 reads %s and prints it back", (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(formatAddress(parseAddress(text))).toBe(text);
  });

  it.each(["", "8080", ":", ":x", ":65536", "::1:9000", "a:b:1", "http://a:1"])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(/is not a listen address/);
  });
});
