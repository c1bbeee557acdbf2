import type { EventInput, EventRecorder } from "@quartet/core";
import { expect, it } from "vitest";
import type { Collected } from "./collect.ts";
import { createConfigNotices } from "./config-notices.ts";

const object = (name: string) => ({ apiVersion: "v1", kind: "Ingress", metadata: { name } });

it("TUN-715 TUN-720 what is sent though it may not work is told once, and again when it comes back", () => {
  const told: string[] = [];
  const events = {
    record: ({ metadata }: { metadata: { name: string } }, { reason }: EventInput) =>
      void told.push(`${metadata.name} ${reason}`),
  } as unknown as EventRecorder;
  const contributors = new Map(
    ["a", "b"].map((name) => [`Ingress/n/${name}`, { object: object(name) } as never]),
  );
  const collected = { contributors } as unknown as Collected;
  const notice = { source: "Ingress/n/a", reason: "UnverifiedScheme", message: "udp" };
  const other = { source: "Ingress/n/b", reason: "Http2NeedsHttps", message: "http" };
  const book = createConfigNotices();
  const tell = (...notices: (typeof notice)[]) => book.tell("t", events, collected, notices);
  tell(notice, notice);
  tell(notice, other, { ...notice, source: "Ingress/n/gone" });
  expect(told).toEqual(["a UnverifiedScheme", "b Http2NeedsHttps"]);
  tell(other);
  tell(notice, other);
  expect(told).toEqual(["a UnverifiedScheme", "b Http2NeedsHttps", "a UnverifiedScheme"]);
});
