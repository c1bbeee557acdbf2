import type { ReconcileContext } from "@quartet/core";
import { expect, it } from "vitest";
import { apiRefusal, echoServer } from "../fixtures.testkit.ts";
import { tellingRefusals } from "./refusals.ts";

it.each([
  ["a missing right", apiRefusal(403, "Forbidden", "no right"), true],
  ["what is not valid", apiRefusal(422, "Invalid", "not so"), true],
  ["a webhook that is down", apiRefusal(500, "InternalError", 'failed calling webhook "a"'), true],
  ["a disturbance of the server", apiRefusal(500, "InternalError", "etcd is slow"), false],
  ["a conflict", apiRefusal(409, "Conflict", "it has changed"), false],
  ["what is gone", apiRefusal(404, "NotFound", "it is gone"), false],
  ["a namespace that goes", apiRefusal(403, "Forbidden", "it goes", "NamespaceTerminating"), false],
])("TARS-R-012 %s is told of in the server's words, or passes", async (_what, error, isTold) => {
  const told: unknown[] = [];
  const ctx = {
    events: { record: (_: object, { note }: { note: string }) => told.push(note) },
  } as unknown as ReconcileContext;
  const reconcile = tellingRefusals(
    async () => {
      throw error;
    },
    () => echoServer(),
  );
  await expect(reconcile({ namespace: "ns1", name: "a" }, ctx)).rejects.toBe(error);
  expect(told).toEqual(isTold ? [error.message] : []);
});
