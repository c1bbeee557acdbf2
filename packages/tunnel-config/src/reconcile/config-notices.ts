/** What owners should know of a configuration that is sent all the same (sections 8.2 and 8.4). */
import type { EventRecorder } from "@quartet/core";
import type { SourceNotice } from "../desired/aggregate.ts";
import type { Collected } from "./collect.ts";

export interface ConfigNotices {
  /** Records what was not among the notices of the tunnel's last pass. */
  tell(name: string, events: EventRecorder, collected: Collected, notices: readonly SourceNotice[]): void;
  forget(name: string): void;
}

export function createConfigNotices(): ConfigNotices {
  const told = new Map<string, ReadonlySet<string>>();
  return {
    tell(name, events, { contributors }, notices) {
      const before = told.get(name);
      const now = new Set<string>();
      for (const { source, reason, message } of notices) {
        const text = JSON.stringify([source, reason, message]);
        const object = contributors.get(source)?.object;
        if (object === undefined || now.has(text)) continue;
        now.add(text);
        if (before?.has(text) === true) continue;
        events.record(object, { type: "Warning", reason, note: message, distinct: message });
      }
      told.set(name, now);
    },
    forget: (name) => void told.delete(name),
  };
}
