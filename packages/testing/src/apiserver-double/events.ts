/** One stored event, two groups: core/v1 and events.k8s.io/v1 show the same objects under other field names. */
import type { JsonObject } from "./json.ts";
import type { KubeObject } from "./object.ts";

/** Field of core/v1 to field of events.k8s.io/v1. */
const NAMES: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

function rename(object: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const renamed: JsonObject = {};
  for (const [key, value] of Object.entries(object)) renamed[names.get(key) ?? key] = value;
  return { ...renamed, apiVersion } as KubeObject;
}

const toCore = new Map(NAMES.map(([core, modern]) => [modern, core]));
const toModern = new Map(NAMES);

export function coreEvent(stored: KubeObject): KubeObject {
  const event = rename(stored, toCore, "v1");
  // fields that core/v1 always prints
  event.involvedObject ??= {};
  event.source ??= {};
  event.firstTimestamp ??= null;
  event.lastTimestamp ??= null;
  event.reportingComponent ??= "";
  event.reportingInstance ??= "";
  event.eventTime ??= null;
  return event;
}

export function storedEvent(core: KubeObject): KubeObject {
  return rename(core, toModern, "events.k8s.io/v1");
}
