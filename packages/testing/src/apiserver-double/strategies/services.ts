/** Service and the kinds of the network. */
import { childOf, defaultKey, isRecord, items, type JsonObject, record, records, text } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import { type Cause, duplicate, invalidValue, required, unsupported } from "../status.ts";
import { strategy } from "./base.ts";
import { defaultText } from "./pod-defaults.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/** Seconds of client-IP session affinity. */
const AFFINITY_SECONDS = 10_800;

function isExternal(spec: JsonObject): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

function defaultService(object: KubeObject): void {
  const spec = childOf(object, "spec");
  defaultText(spec, "sessionAffinity", "None");
  if (spec.sessionAffinity === "ClientIP" && !isRecord(spec.sessionAffinityConfig)) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
  defaultText(spec, "type", "ClusterIP");
  for (const port of records(spec.ports)) {
    defaultText(port, "protocol", "TCP");
    if (port.targetPort === 0 || port.targetPort === "" || port.targetPort === undefined) {
      port.targetPort = port.port;
    }
  }
  if (isExternal(spec)) defaultText(spec, "externalTrafficPolicy", "Cluster");
  if (spec.type !== "ExternalName") defaultKey(spec, "internalTrafficPolicy", "Cluster");
  if (spec.type === "LoadBalancer") defaultKey(spec, "allocateLoadBalancerNodePorts", true);
}

function allocate(object: KubeObject, context: Parameters<NonNullable<Strategy["prepareCreate"]>>[1]): void {
  const spec = record(object.spec);
  if (spec.type === "ExternalName") return;
  if (text(spec.clusterIP) === "") {
    const wanted = text(items(spec.clusterIPs)[0]);
    spec.clusterIP = wanted === "" ? context.allocateClusterIp() : wanted;
  }
  defaultKey(spec, "clusterIPs", [spec.clusterIP]);
  defaultKey(spec, "ipFamilies", ["IPv4"]);
  defaultKey(spec, "ipFamilyPolicy", "SingleStack");
  if (!isExternal(spec)) return;
  for (const port of records(spec.ports)) {
    if (!port.nodePort) port.nodePort = context.allocateNodePort();
  }
}

/** What a PUT may leave out is taken from the stored service. */
function patchAllocated(object: KubeObject, old: KubeObject): void {
  const spec = record(object.spec);
  const before = record(old.spec);
  if (spec.type === "ExternalName" || before.type === "ExternalName") return;
  if (text(spec.clusterIP) === "" && items(spec.clusterIPs).length === 0) {
    spec.clusterIP = before.clusterIP;
    spec.clusterIPs = before.clusterIPs;
  } else defaultKey(spec, "clusterIPs", [spec.clusterIP]);
  defaultKey(spec, "ipFamilies", before.ipFamilies);
  defaultKey(spec, "ipFamilyPolicy", before.ipFamilyPolicy);
  if (!isExternal(spec) || !isExternal(before)) return;
  for (const port of records(spec.ports)) {
    const known = records(before.ports).find(
      (other) => other.port === port.port && other.protocol === port.protocol,
    );
    if (!port.nodePort && known !== undefined) port.nodePort = known.nodePort;
  }
}

function checkPorts(spec: JsonObject): Cause[] {
  const ports = records(spec.ports);
  const found: Cause[] = [];
  if (ports.length === 0 && spec.clusterIP !== "None" && spec.type !== "ExternalName") {
    found.push(required("spec.ports"));
  }
  const seen = new Set<string>();
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    const number = Number(port.port);
    if (ports.length > 1 && text(port.name) === "") found.push(required(`${at}.name`));
    if (names.has(text(port.name)) && text(port.name) !== "") found.push(duplicate(`${at}.name`, port.name));
    names.add(text(port.name));
    if (!(number >= 1 && number <= 65535)) {
      found.push(invalidValue(`${at}.port`, port.port, "must be between 1 and 65535, inclusive"));
    }
    const key = `${port.protocol}/${port.port}`;
    if (seen.has(key)) found.push(duplicate(at, { port: port.port, protocol: port.protocol }));
    seen.add(key);
  });
  return found;
}

export const service: Strategy = strategy({
  status: true,
  name: "label",
  returnsDeleted: true,
  defaults: defaultService,
  prepareCreate(object, context) {
    object.status = { loadBalancer: {} };
    allocate(object, context);
  },
  prepareUpdate(object, old, context) {
    patchAllocated(object, old);
    allocate(object, context);
  },
  validate(object) {
    const spec = record(object.spec);
    const found = checkPorts(spec);
    if (!TYPES.includes(text(spec.type))) found.push(unsupported("spec.type", spec.type, TYPES));
    return found;
  },
  validateUpdate(object, old) {
    const spec = record(object.spec);
    const before = record(old.spec);
    if (before.type === "ExternalName" || spec.type === "ExternalName") return [];
    if (spec.clusterIP === before.clusterIP) return [];
    return [invalidValue("spec.clusterIPs[0]", spec.clusterIPs, "may not change once set")];
  },
});

export const ingress: Strategy = strategy({
  status: true,
  generation: "spec",
  validate(object) {
    const spec = record(object.spec);
    if (spec.defaultBackend !== undefined || items(spec.rules).length > 0) return [];
    return [invalidValue("spec", spec.rules, "either `defaultBackend` or `rules` must be specified")];
  },
});

export const networkPolicy: Strategy = strategy({
  generation: "spec",
  defaults(object) {
    const spec = childOf(object, "spec");
    if (items(spec.policyTypes).length > 0) return;
    spec.policyTypes = items(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
});

export const endpointSlice: Strategy = strategy({
  generation: "body",
  defaults(object) {
    for (const port of records(object.ports)) {
      defaultKey(port, "name", "");
      defaultKey(port, "protocol", "TCP");
    }
  },
  validateUpdate: (object, old) =>
    object.addressType === old.addressType
      ? []
      : [invalidValue("addressType", object.addressType, "field is immutable")],
});

export const endpoints: Strategy = strategy({
  createOnUpdate: true,
  defaults(object) {
    for (const subset of records(object.subsets)) {
      for (const port of records(subset.ports)) defaultText(port, "protocol", "TCP");
    }
  },
});
