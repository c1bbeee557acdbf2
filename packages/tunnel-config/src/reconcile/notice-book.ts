/** What the owner of an object was told already. */
import { type EventRecorder, type KubeObject, keyOf, keyToString, type ObjectKey } from "@quartet/core";
import type { OptionNotice } from "../desired/origin-request.ts";
import type { Cached } from "../kinds.ts";

export interface NoticeBook {
  /** Records what was not among the notices of the object's last pass. */
  tell(events: EventRecorder, object: Cached<KubeObject>, notices: readonly OptionNotice[]): void;
  forget(key: ObjectKey): void;
}

export function createNoticeBook(): NoticeBook {
  const told = new Map<string, ReadonlySet<string>>();
  return {
    tell(events, object, notices) {
      const id = keyToString(keyOf(object));
      const before = told.get(id);
      const texts = new Set(notices.map(({ reason, message }) => `${reason} ${message}`));
      for (const { reason, message } of notices) {
        if (before?.has(`${reason} ${message}`)) continue;
        events.record(object, { type: "Warning", reason, note: message, distinct: message });
      }
      if (texts.size === 0) told.delete(id);
      else told.set(id, texts);
    },
    forget: (key) => void told.delete(keyToString(key)),
  };
}
