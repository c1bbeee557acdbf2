import { expect, it } from "vitest";
import { sumOf } from "./metrics.ts";

it("adds up the series of one metric", () => {
  const text = [
    "# TYPE reconcile_total counter",
    'reconcile_total{controller="echo",result="success"} 2999',
    'reconcile_total{controller="echo",result="error"} 1',
    'reconcile_total_errors{controller="echo"} 7',
    "",
  ].join("\n");
  expect(sumOf("reconcile_total", text)).toBe(3000);
  expect(sumOf("missing", text)).toBe(0);
});
