import { expect, it } from "vitest";
import type { ConfigDocument } from "../desired/document.ts";
import { assertFits } from "./sync-size.ts";

const documentOf = (rules: number): ConfigDocument => ({
  sources: {
    "Ingress/n/i": {
      kind: "Ingress",
      namespace: "n",
      name: "i",
      rules: Array.from({ length: rules }, (_, index) => ({
        hostname: `h${index}.example.com`,
        service: "http://web.n.svc:80",
      })),
    },
  },
});

it("TUN-319 sources that a ConfigMap cannot hold are told, and are not transmitted", () => {
  expect(() => assertFits(documentOf(3_000))).not.toThrow();
  expect(() => assertFits(documentOf(20_000))).toThrow("a ConfigMap holds 1024");
});

it("TUN-319 TUN-661 a tunnel that is full goes back to a version that its ConfigMap has beside its sources", () => {
  const full = documentOf(9_300);
  const entry = { version: 1, at: "2026-01-01T00:00:00Z", rules: 1, hash: "0123456789abcdef" };
  const held = { ...full, frozen: { ...entry, body: "x".repeat(30_000) } };
  expect(() => assertFits(full)).not.toThrow();
  expect(() => assertFits(held)).not.toThrow();
  expect(() => assertFits({ ...held, frozen: { ...entry, body: "x".repeat(90_000) } })).toThrow("holds 1024");
});
