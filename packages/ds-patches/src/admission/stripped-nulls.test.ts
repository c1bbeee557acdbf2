import { expect, it } from "vitest";
import type { DaemonSet } from "../kinds.ts";
import { strippedNulls } from "./stripped-nulls.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const patches = (env: object): object[] => [
  { selector: {}, patch: { spec: { containers: [{ name: "main", env: [env] }] } } },
];
const told = (stored: object, applied?: string): string[] =>
  strippedNulls({
    metadata: { name: "a", ...(applied !== undefined && { annotations: { [LAST_APPLIED]: applied } }) },
    spec: { patches: patches(stored) },
  } as unknown as DaemonSet);
const written = JSON.stringify({ spec: { patches: patches({ name: "A", value: null }) } });

it("DSP-216 a null that kubectl apply dropped is warned of at its path, with what to do", () => {
  expect(told({ name: "A" }, written)).toEqual([
    expect.stringMatching(
      /^spec\.patches\[0\]\.patch\.spec\.containers\[0\]\.env\[0\]\.value: null was dropped.*\$patch: delete.*--server-side/,
    ),
  ]);
});

it("DSP-216 a null that is there, or was never written by apply, is not", () => {
  expect(told({ name: "A", value: null }, written)).toEqual([]);
  expect(told({ name: "A" })).toEqual([]);
  expect(told({ name: "A" }, "{")).toEqual([]);
});
