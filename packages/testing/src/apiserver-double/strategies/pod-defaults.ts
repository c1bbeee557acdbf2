/** What the API server fills into a pod spec, alone or inside a template. */
import { childOf, defaultKey, isRecord, type JsonObject, record, records, text } from "../json.ts";

/** Mode of files in map volumes: octal 644. */
const DEFAULT_MODE = 420;
/** Seconds that a pod gets to stop. */
export const GRACE_SECONDS = 30;

/** Gives a text field its default when it is empty or missing. */
export function defaultText(target: JsonObject, key: string, value: string): void {
  if (text(target[key]) === "") target[key] = value;
}

function pullPolicy(image: string): string {
  const [name = "", digest] = image.split("@");
  const tag = name.slice(name.lastIndexOf("/") + 1).split(":")[1];
  return (tag ?? (digest === undefined ? "latest" : "")) === "latest" ? "Always" : "IfNotPresent";
}

function defaultHttpGet(handler: JsonObject): void {
  if (!isRecord(handler.httpGet)) return;
  defaultText(handler.httpGet, "path", "/");
  defaultText(handler.httpGet, "scheme", "HTTP");
}

function defaultProbe(probe: unknown): void {
  if (!isRecord(probe)) return;
  defaultHttpGet(probe);
  if (isRecord(probe.grpc)) defaultKey(probe.grpc, "service", "");
  for (const [key, value] of [
    ["timeoutSeconds", 1],
    ["periodSeconds", 10],
    ["successThreshold", 1],
    ["failureThreshold", 3],
  ] as const) {
    if (!probe[key]) probe[key] = value;
  }
}

function defaultResources(container: JsonObject): void {
  const resources = childOf(container, "resources");
  if (!isRecord(resources.limits)) return;
  const requests = record(resources.requests);
  for (const [name, limit] of Object.entries(resources.limits)) defaultKey(requests, name, limit);
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

function defaultContainer(container: JsonObject, inPod: boolean): void {
  defaultText(container, "imagePullPolicy", pullPolicy(text(container.image)));
  defaultText(container, "terminationMessagePath", "/dev/termination-log");
  defaultText(container, "terminationMessagePolicy", "File");
  // requests follow the limits in pods only, never in a template
  if (inPod) defaultResources(container);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) defaultProbe(container[probe]);
  const lifecycle = record(container.lifecycle);
  for (const hook of ["postStart", "preStop"]) defaultHttpGet(record(lifecycle[hook]));
  for (const variable of records(container.env)) {
    const source = record(variable.valueFrom);
    if (isRecord(source.fieldRef)) defaultText(source.fieldRef, "apiVersion", "v1");
    if (isRecord(source.resourceFieldRef)) defaultKey(source.resourceFieldRef, "divisor", "0");
  }
}

function defaultDownwardItems(list: unknown): void {
  for (const item of records(list)) {
    if (isRecord(item.fieldRef)) defaultText(item.fieldRef, "apiVersion", "v1");
    if (isRecord(item.resourceFieldRef)) defaultKey(item.resourceFieldRef, "divisor", "0");
  }
}

const VOLUME_SOURCES = new Set(["name"]);

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => VOLUME_SOURCES.has(key))) volume.emptyDir = {};
  for (const source of ["configMap", "secret", "downwardAPI", "projected"]) {
    const found = volume[source];
    if (isRecord(found)) defaultKey(found, "defaultMode", DEFAULT_MODE);
  }
  if (isRecord(volume.hostPath)) defaultKey(volume.hostPath, "type", "");
  defaultDownwardItems(record(volume.downwardAPI).items);
  for (const source of records(record(volume.projected).sources)) {
    defaultDownwardItems(record(source.downwardAPI).items);
    if (isRecord(source.serviceAccountToken))
      defaultKey(source.serviceAccountToken, "expirationSeconds", 3600);
  }
  const template = record(volume.ephemeral).volumeClaimTemplate;
  if (isRecord(template)) defaultText(childOf(template, "spec"), "volumeMode", "Filesystem");
}

function defaultHostPorts(spec: JsonObject): void {
  for (const list of [spec.containers, spec.initContainers]) {
    for (const container of records(list)) {
      for (const port of records(container.ports)) {
        if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort;
      }
    }
  }
}

/** Fills a pod spec in place; `inPod` for a pod itself, else for a template. */
export function defaultPodSpec(spec: JsonObject, inPod: boolean): void {
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    for (const container of records(spec[list])) defaultContainer(container, inPod);
  }
  for (const volume of records(spec.volumes)) defaultVolume(volume);
  defaultText(spec, "restartPolicy", "Always");
  defaultText(spec, "dnsPolicy", "ClusterFirst");
  defaultText(spec, "schedulerName", "default-scheduler");
  defaultKey(spec, "securityContext", {});
  defaultKey(spec, "terminationGracePeriodSeconds", GRACE_SECONDS);
  if (text(spec.serviceAccountName) !== "") spec.serviceAccount = spec.serviceAccountName;
  else if (text(spec.serviceAccount) !== "") spec.serviceAccountName = spec.serviceAccount;
  if (inPod) {
    defaultKey(spec, "enableServiceLinks", true);
    if (spec.hostNetwork === true) defaultHostPorts(spec);
  }
}
