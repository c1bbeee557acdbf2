import type { EventInput, EventRecorder } from "@quartet/core";
import { expect, it } from "vitest";
import { aggregate } from "../desired/aggregate.ts";
import type { Collected } from "./collect.ts";
import { tellOutcome } from "./sync-events.ts";

it("TUN-622 TUN-623 TUN-637 conflicts and refusals are told when they come and go, and not again after a restart", () => {
  const told: string[] = [];
  const events = {
    record: (object: { name: string }, { reason }: EventInput) => void told.push(`${object.name} ${reason}`),
  } as unknown as EventRecorder;
  const contributors = new Map(
    ["a", "b"].map((name) => [`Ingress/n/${name}`, { object: { name } } as never]),
  );
  const collected = { contributors } as unknown as Collected;
  const source = (name: string, createdAt: string, ...services: string[]) => ({
    kind: "Ingress",
    namespace: "n",
    name,
    createdAt,
    rules: services.map((service) => ({ hostname: "a.b", service })),
  });
  const first = { "Ingress/n/a": source("a", "2026-01-01T00:00:00Z", "http://a:80") };
  const both = aggregate({
    ...first,
    "Ingress/n/b": source("b", "2026-02-01T00:00:00Z", "http://b:80", "ftp://b:21"),
  });
  tellOutcome(events, collected, { sources: {} }, both);
  expect(told.splice(0)).toEqual(["b RuleConflict", "b RuleRejected"]);
  const { conflicts, rejected } = both;
  tellOutcome(events, collected, { sources: {}, conflicts, rejected }, both);
  expect(told).toEqual([]);
  tellOutcome(events, collected, { sources: {}, conflicts, rejected }, aggregate(first));
  expect(told).toEqual(["b RuleConflictResolved"]);
});
