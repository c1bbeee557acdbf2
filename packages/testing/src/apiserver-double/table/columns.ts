/** Columns that `kubectl get` shows of built-in kinds. */
import { at, items, record, records, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Column } from "../registry.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time span as kubectl prints it. */
export function humanDuration(ms: number): string {
  if (ms < 0) return ms > -2 * SECOND ? "0s" : "<invalid>";
  const part = (unit: number): number => Math.floor(ms / unit);
  if (ms < 2 * MINUTE) return `${part(SECOND)}s`;
  if (ms < 10 * MINUTE) {
    const seconds = part(SECOND) % 60;
    return seconds === 0 ? `${part(MINUTE)}m` : `${part(MINUTE)}m${seconds}s`;
  }
  if (ms < 3 * HOUR) return `${part(MINUTE)}m`;
  if (ms < 8 * HOUR) {
    const minutes = part(MINUTE) % 60;
    return minutes === 0 ? `${part(HOUR)}h` : `${part(HOUR)}h${minutes}m`;
  }
  if (ms < 2 * DAY) return `${part(HOUR)}h`;
  if (ms < 8 * DAY) {
    const hours = part(HOUR) % 24;
    return hours === 0 ? `${part(DAY)}d` : `${part(DAY)}d${hours}h`;
  }
  return `${part(DAY)}d`;
}

export function age(object: KubeObject, now: number): string {
  const created = object.metadata.creationTimestamp;
  return created === undefined ? "<unknown>" : humanDuration(now - Date.parse(created));
}

export const NAME_COLUMN: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  value: (object) => object.metadata.name,
};

export const AGE_COLUMN: Column = {
  name: "Age",
  type: "string",
  description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
  value: age,
};

function column(name: string, type: string, value: Column["value"], priority = 0): Column {
  return { name, type, priority, value };
}

const number =
  (...path: string[]): Column["value"] =>
  (object) =>
    Number(at(object, ...path) ?? 0);
const string =
  (...path: string[]): Column["value"] =>
  (object) =>
    text(at(object, ...path)) || "<none>";

function podReady(object: KubeObject): string {
  const ready = records(at(object, "status", "containerStatuses")).filter(
    (status) => status.ready === true,
  ).length;
  return `${ready}/${items(at(object, "spec", "containers")).length}`;
}

function podStatus(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return "Terminating";
  return text(at(object, "status", "reason")) || text(at(object, "status", "phase"));
}

function podRestarts(object: KubeObject): string {
  const statuses = records(at(object, "status", "containerStatuses"));
  return String(statuses.reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0));
}

function servicePorts(object: KubeObject): string {
  const ports = records(at(object, "spec", "ports")).map((port) => {
    const node = port.nodePort === undefined ? "" : `:${port.nodePort}`;
    return `${port.port}${node}/${port.protocol}`;
  });
  return ports.length === 0 ? "<none>" : ports.join(",");
}

function images(object: KubeObject): string {
  return records(at(object, "spec", "template", "spec", "containers"))
    .map((container) => text(container.image))
    .join(",");
}

function replicas(object: KubeObject): string {
  return `${Number(at(object, "status", "readyReplicas") ?? 0)}/${Number(at(object, "spec", "replicas") ?? 0)}`;
}

const COLUMNS: Record<string, Column[]> = {
  Pod: [
    column("Ready", "string", podReady),
    column("Status", "string", podStatus),
    column("Restarts", "string", podRestarts),
    AGE_COLUMN,
    column("IP", "string", string("status", "podIP"), 1),
    column("Node", "string", string("spec", "nodeName"), 1),
  ],
  StatefulSet: [column("Ready", "string", replicas), AGE_COLUMN, column("Images", "string", images, 1)],
  Deployment: [
    column("Ready", "string", replicas),
    column("Up-to-date", "integer", number("status", "updatedReplicas")),
    column("Available", "integer", number("status", "availableReplicas")),
    AGE_COLUMN,
    column("Images", "string", images, 1),
  ],
  ReplicaSet: [
    column("Desired", "integer", number("spec", "replicas")),
    column("Current", "integer", number("status", "replicas")),
    column("Ready", "integer", number("status", "readyReplicas")),
    AGE_COLUMN,
  ],
  DaemonSet: [
    column("Desired", "integer", number("status", "desiredNumberScheduled")),
    column("Current", "integer", number("status", "currentNumberScheduled")),
    column("Ready", "integer", number("status", "numberReady")),
    column("Up-to-date", "integer", number("status", "updatedNumberScheduled")),
    column("Available", "integer", number("status", "numberAvailable")),
    AGE_COLUMN,
  ],
  Service: [
    column("Type", "string", string("spec", "type")),
    column("Cluster-IP", "string", string("spec", "clusterIP")),
    column("External-IP", "string", () => "<none>"),
    column("Port(s)", "string", servicePorts),
    AGE_COLUMN,
  ],
  ConfigMap: [
    column(
      "Data",
      "integer",
      (object) => Object.keys(record(object.data)).length + Object.keys(record(object.binaryData)).length,
    ),
    AGE_COLUMN,
  ],
  Secret: [
    column("Type", "string", string("type")),
    column("Data", "integer", (object) => Object.keys(record(object.data)).length),
    AGE_COLUMN,
  ],
  Namespace: [column("Status", "string", string("status", "phase")), AGE_COLUMN],
  PersistentVolumeClaim: [
    column("Status", "string", string("status", "phase")),
    column("Volume", "string", (object) => text(at(object, "spec", "volumeName"))),
    AGE_COLUMN,
  ],
  Lease: [column("Holder", "string", (object) => text(at(object, "spec", "holderIdentity"))), AGE_COLUMN],
  CustomResourceDefinition: [
    column("Created At", "date", (object) => object.metadata.creationTimestamp ?? ""),
  ],
};

/** Columns of a built-in kind after its name. */
export function builtinColumns(kind: string): readonly Column[] {
  return COLUMNS[kind] ?? [AGE_COLUMN];
}
