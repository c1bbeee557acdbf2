import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stringify } from "yaml";
import { servesText } from "./serves.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "quartet-serves-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function serves(content: unknown, ...urls: string[]): Promise<string[]> {
  const file = join(folder, "config.yaml");
  await writeFile(file, typeof content === "string" ? content : stringify(content));
  return (await servesText(["--config", file, ...urls])).split("\n");
}

const rule = (hostname: string, path: string, service: string) => ({ hostname, path, service });
const source = (kind: string, name: string, createdAt: string, ...rules: object[]) => ({
  ...{ kind, namespace: "web", name, createdAt, rules },
});
const document = {
  sources: {
    "Tunnel/web/main": {
      ...{ kind: "Tunnel", namespace: "web", name: "main", settings: { fallbackTarget: "http_status:503" } },
    },
    "Ingress/web/shop": source(
      "Ingress",
      "shop",
      "2026-01-01T00:00:00Z",
      rule("*.example.com", "", "http://shop.web.svc:80"),
      rule("shop.example.com", "^/pay", "http://pay.web.svc:80"),
    ),
    "Ingress/web/thief": source(
      "Ingress",
      "thief",
      "2026-02-01T00:00:00Z",
      rule("shop.example.com", "^/pay", "http://thief.web.svc:80"),
      rule("shop.example.com", "^/(", "http://thief.web.svc:80"),
    ),
  },
  syncStatus: "Error",
  lastError: "Cloudflare API: HTTP 500",
  rejected: [
    { source: "HTTPRoute/web/odd", hostname: "", path: "", reason: "refused by the API", fragment: "f0" },
  ],
};
const configMap = (value: unknown = document) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tunnel-config-1" } },
  data: { "config.json": JSON.stringify(value) },
});

it("TUN-638 says which rule serves a URL, which object asked for it, and what was left out", async () => {
  const [pay, fallback] = ["https://shop.example.com/pay/now", "https://elsewhere.example.org/"];
  const lines = await serves(configMap(), pay, fallback);
  expect(lines.slice(0, 3)).toEqual([
    pay,
    "  http://pay.web.svc:80",
    "  rule 1 of 3: shop.example.com, ^/pay; asked for by Ingress/web/shop",
  ]);
  expect(lines).toContain("  also asked for by Ingress/web/thief, which comes after it");
  expect(lines).toContainEqual(
    expect.stringContaining("  left out: shop.example.com^/( of Ingress/web/thief: "),
  );
  expect(lines).toContain("  left out: HTTPRoute/web/odd: refused by the API");
  expect(lines).toContain("  a later change could not be sent: Cloudflare API: HTTP 500");
  expect(lines.slice(lines.indexOf(fallback)).slice(1, 3)).toEqual([
    "  http_status:503",
    "  the fallback: no rule fits",
  ]);
});

it("TUN-663 says what a tunnel serves that is held at a former version", async () => {
  const config = { ingress: [rule("shop.example.com", "", "http://old:80"), { service: "http_status:404" }] };
  const body = gzipSync(JSON.stringify(config)).toString("base64");
  const hash = createHash("sha256")
    .update(
      '{"ingress":[{"hostname":"shop.example.com","path":"","service":"http://old:80"},{"service":"http_status:404"}]}',
    )
    .digest("hex")
    .slice(0, 16);
  const frozen = { version: 3, at: "2026-01-01T00:00:00Z", rules: 1, hash, body };
  const lines = await serves(configMap({ ...document, frozen }), "https://shop.example.com/pay");
  expect(lines.slice(1, 4)).toEqual([
    "  http://old:80",
    "  rule 1 of 2: shop.example.com, every path",
    expect.stringMatching(/^ {2}the account holds the configuration of version 3, .*rollback-to is removed$/),
  ]);
});

it("TUN-638 decodes the path as cloudflared does, and takes no query for it", async () => {
  const [, service] = await serves(configMap(), "https://shop.example.com/%70ay?x=/none");
  expect(service).toBe("  http://pay.web.svc:80");
  const [, other] = await serves(configMap(), "https://shop.example.com/?x=/pay");
  expect(other).toBe("  http://shop.web.svc:80");
});

it.each([
  ["*.example.com", true],
  ["*.shop.example.com", false],
  ["*", true],
  ["shop.*.com", true],
  ["sh*p*.com", true],
  ["*shop.example.com", true],
  ["shop.example.com*shop.example.com", false],
  ["Shop.Example.com.", true],
  ["shop.example.com:443", true],
  ["example.com", false],
])(
  "TUN-638 a rule for %s that was left out is told of a host that it is meant for: %s",
  async (hostname, told) => {
    const sources = { "Ingress/web/odd": source("Ingress", "odd", "", rule(hostname, "^/(", "http://a:80")) };
    const lines = await serves(configMap({ sources, syncStatus: "Synced" }), "https://shop.example.com/");
    expect(lines.some((line) => line.includes(`left out: ${hostname}^/( of Ingress/web/odd`))).toBe(told);
  },
);

it("TUN-638 tells what is wrong with the call", async () => {
  await expect(servesText([])).rejects.toThrow(/--config is needed\nusage: quartet serves/);
  await expect(servesText(["--config", "/none"])).rejects.toThrow(/a URL is needed/);
  await expect(servesText(["--config", "/none", "shop"])).rejects.toThrow(/"shop" is no URL/);
  await expect(servesText(["--config", "/none", "https://a.b"])).rejects.toThrow(/cannot read \/none/);
  await expect(serves({ kind: "Secret" }, "https://a.b")).rejects.toThrow(/data\["config.json"\] is missing/);
  await expect(serves({ data: { "config.json": "{" } }, "https://a.b")).rejects.toThrow(
    /config.json is no JSON/,
  );
});
