import { expect, it } from "vitest";
import { cpuSeconds, cpuSecondsOf, openFiles, residentMib, residentMibOf } from "./process.ts";

it("CORE-603 CPU seconds are user and system time, whatever the command's name holds", () => {
  const stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 900 0 0 0 250 150 7 8 20 0 11 0 5 1000 9";
  expect(cpuSecondsOf(stat)).toBe(4);
});

it("CORE-603 resident memory is in MiB", () => {
  expect(residentMibOf("Name:\tx\nVmHWM:\t  4096 kB\nVmRSS:\t  2048 kB\n")).toBe(2);
});

it.runIf(process.platform === "linux")("reads its own process", () => {
  expect(residentMib(process.pid)).toBeGreaterThan(10);
  expect(cpuSeconds(process.pid)).toBeGreaterThan(0);
  expect(openFiles(process.pid)).toBeGreaterThan(2);
});
