/** Objects of `events.k8s.io/v1`. */
import { microTime } from "../client/micro-time.ts";
import { defineKind, type Kind, type KubeObject } from "../object.ts";
import { redactText } from "./redact.ts";
import type { EventInput, EventTarget } from "./types.ts";

/** Longest action, reason and reporting instance (Kubernetes API, events.k8s.io/v1 Event). */
const MAX_NAME_LENGTH = 128;
/** Longest note in bytes; same source. */
const MAX_NOTE_BYTES = 1_024;
/** Longest object name (RFC 1123 subdomain). */
const MAX_OBJECT_NAME = 253;
/** Where events about cluster-scoped objects are stored, as kubectl expects. */
const CLUSTER_NAMESPACE = "default";

/** Reference to an object that an event is about. */
interface EventReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid?: string;
  resourceVersion?: string;
}

/** Repeats of one event. */
interface EventSeries {
  count: number;
  /** MicroTime. */
  lastObservedTime: string;
}

/** An event as the API server stores it. The deprecated count and timestamps stay unset. */
export interface KubeEvent extends KubeObject {
  eventTime: string;
  type: "Normal" | "Warning";
  reason: string;
  action: string;
  note: string;
  reportingController: string;
  reportingInstance: string;
  regarding: EventReference;
  related?: EventReference;
  series?: EventSeries;
}

/** Events of the group that replaced the core one; readers of `v1` events see the same objects. */
export const EVENT_KIND: Kind<KubeEvent> = defineKind<KubeEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});

export interface NewEvent {
  controller: string;
  /** Who reports: the pod's name. */
  instance: string;
  regarding: EventTarget;
  related: EventTarget | undefined;
  input: EventInput;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** Tells events of the same millisecond apart. */
  sequence: number;
}

/** The event object for a report. */
export function buildEvent(report: NewEvent): KubeEvent {
  const { input, regarding, related, now } = report;
  const name = regarding.metadata.name ?? "";
  const namespace = regarding.metadata.namespace || CLUSTER_NAMESPACE;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: eventName(name, now, report.sequence), namespace },
    eventTime: microTime(now),
    type: input.type,
    reason: input.reason.slice(0, MAX_NAME_LENGTH),
    action: (input.action ?? input.reason).slice(0, MAX_NAME_LENGTH),
    note: cutNote(redactText(input.note)),
    reportingController: `quartet.io/${report.controller}`,
    reportingInstance: report.instance.slice(0, MAX_NAME_LENGTH),
    regarding: referenceTo(regarding),
    ...(related && { related: referenceTo(related) }),
  };
}

/** Events of equal key are one series (CORE-290). The note is no part of it: the first one stays. */
export function seriesKey(event: KubeEvent): string {
  const identity = (reference: EventReference | undefined): unknown =>
    reference && [reference.apiVersion, reference.kind, reference.namespace, reference.name, reference.uid];
  return JSON.stringify([
    event.type,
    event.action,
    event.reason,
    event.reportingController,
    event.reportingInstance,
    identity(event.regarding),
    identity(event.related),
  ]);
}

/** Text of at most 1 024 bytes, cut between characters with an ellipsis. */
export function cutNote(note: string): string {
  const bytes = Buffer.from(note, "utf8");
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  const ellipsis = "…";
  let end = MAX_NOTE_BYTES - Buffer.byteLength(ellipsis);
  // A byte 10xxxxxx continues the character before it.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8") + ellipsis;
}

function referenceTo(target: EventTarget): EventReference {
  const { namespace, name, uid, resourceVersion } = target.metadata;
  return {
    apiVersion: target.apiVersion,
    kind: target.kind,
    // The API server demands that it equals the event's own namespace when it is set.
    namespace: namespace ?? "",
    name: name ?? "",
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}

/** `<object>.<time in hexadecimal nanoseconds>`, the form of client-go, within the limit of names. */
function eventName(object: string, now: number, sequence: number): string {
  const nanoseconds = BigInt(Math.floor(now)) * 1_000_000n + BigInt(sequence % 1_000_000);
  const suffix = `.${nanoseconds.toString(16)}`;
  let end = Math.min(object.length, MAX_OBJECT_NAME - suffix.length);
  while (end > 0 && (object[end - 1] === "." || object[end - 1] === "-")) end--;
  return object.slice(0, end) + suffix;
}
