import { expect, it } from "vitest";
import { assertFits } from "./sync-size.ts";

it("TUN-319 sources that a ConfigMap cannot hold are told, and are not transmitted", () => {
  const of = (rules: number) => ({
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
  expect(() => assertFits(of(3_000))).not.toThrow();
  expect(() => assertFits(of(20_000))).toThrow("a ConfigMap holds 1024");
});
