import { fakeClock } from "@quartet/core/testkit";
import { expect, it } from "vitest";
import type { CloudflareApi, DnsRecord } from "../cloudflare/api.ts";
import { createZoneRecords } from "./zone-records.ts";

it("TUN-1009 many look-ups of a zone are one list; what was written is looked up by itself", async () => {
  const clock = fakeClock();
  const asked: string[] = [];
  const stored = Array.from({ length: 500 }, (_, index) => ({
    id: `${index}`,
    name: `r${index}.example.com`,
  }));
  const api = {
    records: async (_zone: string, filter: Record<string, string>) => {
      asked.push(filter["name.exact"] ?? "all");
      const name = filter["name.exact"];
      return stored.filter((record) => name === undefined || record.name === name) as DnsRecord[];
    },
  } as unknown as CloudflareApi;
  const records = createZoneRecords(clock);
  for (const { id, name } of stored)
    expect((await records.named(api, "z", name)).map((record) => record.id)).toEqual([id]);
  expect([asked.length, asked.filter((name) => name === "all").length]).toEqual([10, 1]);
  records.forget(api, "z", "r7.example.com");
  await records.named(api, "z", "r7.example.com");
  expect(asked.at(-1)).toBe("r7.example.com");
  await clock.advance(61_000);
  await records.named(api, "z", "r8.example.com");
  expect(asked.at(-1)).toBe("r8.example.com");
});
