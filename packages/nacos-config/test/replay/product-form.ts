/**
 * What the product makes on purpose of every StatefulSet and Service that the peer makes: the decisions that hold in
 * every case (NACOS-401, 402, 405, 501 to 505, 507). A value that has the product's form already stays as it is.
 */

import type { Json, RecordedObject, Step } from "@quartet/testing/replay";
import type { Nacos } from "../../src/api.gen.ts";
import { imageVersion, isAtLeast } from "../../src/desired/image.ts";
import { settingsOf } from "../../src/desired/settings.ts";

const SERVER_GRPC = { name: "cluster-rpc", port: 9849 };
const CONSOLE = { name: "console", port: 8080 };
/** Ports of the Services between members, as the peer makes them. */
const MEMBER_PORTS = [
  { name: "client", port: 8848 },
  { name: "rpc", port: 7848 },
  { name: "new-rpc", port: 9848 },
];
const CONSOLE_SINCE_MAJOR = 3;
const MIN_READY_SECONDS = 10;
const READINESS = { tcpSocket: { port: 8848 }, initialDelaySeconds: 10 };
const LIVENESS = { tcpSocket: { port: 8848 }, initialDelaySeconds: 30, failureThreshold: 30 };
/** Default probes as stored: what is not given above is the server's default. */
const PROBE_DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** The recorded object in the product's form. */
export function productForm(object: RecordedObject, steps: readonly Step[]): RecordedObject {
  if (object.kind === "StatefulSet") return statefulSet(object);
  if (object.kind === "Service") return service(object, resourceOf(steps), editsOf(object, steps));
  return object;
}

function statefulSet(object: RecordedObject): RecordedObject {
  const spec = object.spec as Json;
  const template = spec.template as { spec: { containers: Json[] } };
  const containers = template.spec.containers.map((container) =>
    container.name === object.metadata.name ? nacosContainer(container) : container,
  );
  return {
    ...object,
    spec: {
      ...spec,
      minReadySeconds: MIN_READY_SECONDS,
      template: { ...template, spec: { ...template.spec, containers } },
    },
  };
}

function nacosContainer(container: Json): Json {
  const extra = hasConsole(container.image) ? [SERVER_GRPC, CONSOLE] : [SERVER_GRPC];
  const ports = extra.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" }));
  return {
    readinessProbe: { ...PROBE_DEFAULTS, ...READINESS },
    livenessProbe: { ...PROBE_DEFAULTS, ...LIVENESS },
    ...container,
    ports: withPorts(container.ports, ports, "containerPort"),
  };
}

/** What somebody writes into the object after it was made last. */
function editsOf({ kind, metadata }: RecordedObject, steps: readonly Step[]): RecordedObject[] {
  const own = steps.filter(({ object }) => object.kind === kind && object.metadata.name === metadata.name);
  return own.slice(own.findLastIndex(({ op }) => op === "delete") + 1).map(({ object }) => object);
}

/** Fields of a Service that are put back after an edit; all others are left to whoever edited them. */
const OWNED = ["selector", "ports"];
const OWNED_BETWEEN_MEMBERS = [...OWNED, "type", "clusterIP"];

/** The product's Service after edits by hand: the peer undoes all of them, or none (NACOS-502, 506, 508). */
function withEdits(
  made: RecordedObject,
  owned: readonly string[],
  edits: readonly RecordedObject[],
): RecordedObject {
  let { labels, annotations } = made.metadata as { labels?: Json; annotations?: Json };
  let spec = made.spec as Json;
  const fixed = labels;
  for (const edit of edits) {
    labels = { ...labels, ...(edit.metadata.labels as Json | undefined), ...fixed };
    annotations = { ...annotations, ...(edit.metadata.annotations as Json | undefined) };
    const { ports, ...fields } = (edit.spec ?? {}) as Json;
    const free = Object.entries(fields).filter(([field]) => !owned.includes(field));
    spec = {
      ...spec,
      ...Object.fromEntries(free),
      ...(ports === undefined ? {} : { ports: keptPorts(spec.ports, ports) }),
    };
  }
  return {
    ...made,
    metadata: { ...made.metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec,
  };
}

/** The peer's ports come back, those that only new objects get do not. */
function keptPorts(made: unknown, edited: unknown): Json[] {
  const left = new Set((edited as Json[]).map(({ name }) => name));
  const added = new Set([SERVER_GRPC.name, CONSOLE.name]);
  return (made as Json[]).filter(({ name }) => !added.has(String(name)) || left.has(name));
}

function service(
  object: RecordedObject,
  resource: RecordedObject,
  edits: readonly RecordedObject[],
): RecordedObject {
  const spec = object.spec as Json;
  const { name, labels } = resource.metadata as { name: string; labels?: Json };
  if (object.metadata.name === `${name}-headless`) {
    const made = {
      ...object,
      spec: { ...spec, ports: withPorts(spec.ports, [servicePort(SERVER_GRPC)], "port") },
    };
    return withEdits(made, [...OWNED_BETWEEN_MEMBERS, "publishNotReadyAddresses"], edits);
  }
  if (object.metadata.name === name) {
    const made = { ...object, spec: { ...spec, publishNotReadyAddresses: false } };
    if (edits.length === 0) return made;
    const fixed = { app: name, middleware: "nacos", component: "nacos" };
    const own = { type: "ClusterIP", selector: fixed, ports: MEMBER_PORTS.map(servicePort) };
    const metadata = {
      ...object.metadata,
      labels: { ...(object.metadata.labels as Json), ...labels, ...fixed },
    };
    return withEdits({ ...made, metadata, spec: { ...made.spec, ...own } }, OWNED_BETWEEN_MEMBERS, edits);
  }
  const { clientService = {} } = resource.spec as { clientService?: Json };
  const { image } = settingsOf(resource as unknown as Nacos);
  const made = {
    ...object,
    spec: {
      ...spec,
      type: clientService.type ?? "ClusterIP",
      publishNotReadyAddresses: clientService.publishNotReadyAddresses ?? false,
      ports: withPorts(spec.ports, hasConsole(image) ? [servicePort(CONSOLE)] : [], "port"),
    },
  };
  return withEdits(made, [...OWNED, ...Object.keys(clientService)], edits);
}

function servicePort({ name, port }: { name: string; port: number }): Json {
  return { name, port, protocol: "TCP", targetPort: port };
}

function withPorts(ports: unknown, extra: readonly Json[], key: string): Json[] {
  const given = (ports ?? []) as Json[];
  return [...given, ...extra.filter((port) => !given.some((other) => other[key] === port[key]))];
}

function hasConsole(image: unknown): boolean {
  return isAtLeast(imageVersion(String(image ?? "")), CONSOLE_SINCE_MAJOR);
}

/** Generated maps of an earlier configuration, which the peer leaves behind (NACOS-340, 342, 344). */
export function isLeftover({ kind, metadata, data }: RecordedObject, steps: readonly Step[]): boolean {
  if (kind !== "ConfigMap") return false;
  const { config, name } = settingsOf(lastResourceOf(steps) as unknown as Nacos);
  const files = Object.keys((data ?? {}) as Json);
  if (files.includes("application.properties"))
    return config.mode !== "merged" || config.finalName !== metadata.name;
  return files.includes("custom.properties") && metadata.name === name && config.mode !== "legacy";
}

/** The resource as its last step leaves it. */
function lastResourceOf(steps: readonly Step[]): RecordedObject {
  const own = steps.filter(({ op, object }) => object.kind === "Nacos" && op !== "delete");
  return own.reduce<Json>(
    (all, { op, object }) => (op === "apply" ? object : merged(all, object)),
    {},
  ) as RecordedObject;
}

/** JSON merge patch. */
function merged(target: unknown, patch: Json): Json {
  const result: Json = isMap(target) ? { ...target } : {};
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) delete result[member];
    else result[member] = isMap(value) ? merged(result[member], value) : value;
  }
  return result;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The resource as it was first created: its Services keep the ports that they got then. */
export function resourceOf(steps: readonly Step[]): RecordedObject {
  return steps.find(({ object }) => object.kind === "Nacos")!.object;
}
