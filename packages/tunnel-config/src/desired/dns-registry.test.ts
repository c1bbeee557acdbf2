import { expect, it } from "vitest";
import { readRegistry } from "./dns-registry.ts";

it.each([
  ['{"DnsId":"r","TunnelName":"main","TunnelId":"t"}', { recordId: "r", whose: "ours" }],
  ['{"DnsId":"r","TunnelName":"","TunnelId":""}', { recordId: "r", whose: "nobody" }],
  ["heritage=other", { recordId: "", whose: "nobody" }],
  [
    '{"DnsId":"r","TunnelName":"other","TunnelId":"o"}',
    { recordId: "r", whose: { tunnelName: "other", tunnelId: "o" } },
  ],
  [
    '"{\\"DnsId\\":\\"r\\",\\"TunnelName\\":\\"main\\",\\"TunnelId\\":\\"t\\"}"',
    { recordId: "r", whose: "ours" },
  ],
])("TUN-421 whose record a text says it is: %s", (content, expected) => {
  expect(readRegistry(content, "t")).toEqual(expected);
});
