import { expect, it } from "vitest";
import type { AnyTunnel } from "../kinds.ts";
import { dnsObjects } from "./dns-objects.ts";

const tunnel = {
  metadata: { name: "main" },
  spec: { cloudflare: { domain: "other.org", secret: "s", credentialsRef: { name: "c" }, accountId: "a" } },
  status: { tunnelId: "id" },
} as unknown as AnyTunnel;
const objects = (...hosts: string[]) =>
  dnsObjects({
    namespace: "shop",
    owner: "Web",
    labels: { of: "web" },
    hosts,
    tunnel,
    proxied: (host) => host !== "b.c",
  });

it("TUN-473 each host has a record of the tunnel, by its name and with the tunnel's credentials", () => {
  expect(objects("a.example.com", "b.c")).toMatchObject([
    {
      metadata: { name: "web-a-example-com", namespace: "shop", labels: { of: "web" } },
      spec: {
        name: "a.example.com",
        type: "CNAME",
        content: "id.cfargotunnel.com",
        ttl: 1,
        proxied: true,
        cloudflare: { secret: "s", credentialsRef: { name: "c" }, accountId: "a" },
      },
    },
    { spec: { name: "b.c", proxied: false } },
  ]);
  expect(objects("a.b")[0]?.spec.cloudflare).not.toHaveProperty("domain");
});

it("TUN-473 names that are too long, or the same, are told apart by a hash of the host", () => {
  const long = `${"x".repeat(60)}.example.com`;
  const names = objects(long, "a.b-c.d", "a-b.c.d", "*.d", "d").map(({ metadata }) => metadata.name ?? "");
  expect(new Set(names).size).toBe(5);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  expect([names[0]?.length, names[1], names[4]]).toEqual([63, "web-a-b-c-d", "web-d"]);
  expect(names[2]).toMatch(/^web-a-b-c-d-[0-9a-f]{8}$/);
});
