/**
 * What the product makes on purpose of every StatefulSet and Service that the peer makes: the decisions that hold in
 * every case (NACOS-401, 402, 405, 501 to 505, 507). A value that has the product's form already stays as it is.
 */

import type { Nacos } from "../../src/api.gen.ts";
import { imageVersion, isAtLeast } from "../../src/desired/image.ts";
import { settingsOf } from "../../src/desired/settings.ts";
import type { Json, RecordedObject, Step } from "./format.ts";

const SERVER_GRPC = { name: "cluster-rpc", port: 9849 };
const CONSOLE = { name: "console", port: 8080 };
const CONSOLE_SINCE_MAJOR = 3;
const MIN_READY_SECONDS = 10;
const READINESS = { tcpSocket: { port: 8848 }, initialDelaySeconds: 10 };
const LIVENESS = { tcpSocket: { port: 8848 }, initialDelaySeconds: 30, failureThreshold: 30 };
/** Default probes as stored: what is not given above is the server's default. */
const PROBE_DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** The recorded object in the product's form. */
export function productForm(object: RecordedObject, steps: readonly Step[]): RecordedObject {
  if (object.kind === "StatefulSet") return statefulSet(object);
  if (object.kind === "Service") return service(object, resourceOf(steps), isEdited(object, steps));
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

/** Somebody edits the object in one of the steps. */
function isEdited({ kind, metadata }: RecordedObject, steps: readonly Step[]): boolean {
  return steps.some(
    ({ op, object }) => op !== "delete" && object.kind === kind && object.metadata.name === metadata.name,
  );
}

function service(object: RecordedObject, resource: RecordedObject, edited: boolean): RecordedObject {
  const spec = object.spec as Json;
  const { name } = resource.metadata;
  if (object.metadata.name === `${name}-headless`) {
    const port = { ...SERVER_GRPC, protocol: "TCP", targetPort: SERVER_GRPC.port };
    return { ...object, spec: { ...spec, ports: withPorts(spec.ports, [port], "port") } };
  }
  if (object.metadata.name === name) {
    // The peer never repairs this one.
    const repaired = edited ? { selector: { app: name, middleware: "nacos", component: "nacos" } } : {};
    return { ...object, spec: { ...spec, ...repaired, publishNotReadyAddresses: false } };
  }
  const { clientService = {} } = resource.spec as { clientService?: Json };
  const { image } = settingsOf(resource as unknown as Nacos);
  const console = { ...CONSOLE, protocol: "TCP", targetPort: CONSOLE.port };
  return {
    ...object,
    spec: {
      ...spec,
      type: clientService.type ?? "ClusterIP",
      publishNotReadyAddresses: clientService.publishNotReadyAddresses ?? false,
      ports: withPorts(spec.ports, hasConsole(image) ? [console] : [], "port"),
    },
  };
}

function withPorts(ports: unknown, extra: readonly Json[], key: string): Json[] {
  const given = (ports ?? []) as Json[];
  return [...given, ...extra.filter((port) => !given.some((other) => other[key] === port[key]))];
}

function hasConsole(image: unknown): boolean {
  return isAtLeast(imageVersion(String(image ?? "")), CONSOLE_SINCE_MAJOR);
}

/** The resource as it was first created: its Services keep the ports that they got then. */
export function resourceOf(steps: readonly Step[]): RecordedObject {
  return steps.find(({ object }) => object.kind === "Nacos")!.object;
}
