/** Lists of a pod template whose order does not count, and what tells their elements apart. */
import type { TypeName } from "@quartet/strategic-merge";
import { isMap, type JsonMap } from "./json.ts";
import { fields, type KeyOf, tolerationKey } from "./keyed.ts";

/** Init containers are not among them: they run in their order. */
const KEYS: Readonly<Record<TypeName, Readonly<Record<string, KeyOf>>>> = {
  PodSpec: {
    containers: fields("name"),
    volumes: fields("name"),
    imagePullSecrets: fields("name"),
    hostAliases: fields("ip"),
    tolerations: tolerationKey,
    topologySpreadConstraints: fields("topologyKey", "whenUnsatisfiable"),
  },
  Container: {
    ports: (port) =>
      fields("containerPort", "protocol", "name")({ ...port, protocol: port.protocol || "TCP" }),
    env: fields("name"),
    volumeMounts: fields("mountPath"),
    volumeDevices: fields("devicePath"),
  },
};

/** What tells the elements of a list apart; `undefined` where their order counts. */
export function keyOfList(type: TypeName, field: string, list: readonly unknown[]): KeyOf | undefined {
  const key = KEYS[type]?.[field];
  return field === "env" && key !== undefined && list.some(isReference) ? undefined : key;
}

/** A variable that refers to others sees those that stand before it. */
function isReference(variable: unknown): boolean {
  const value = isMap(variable) ? (variable as JsonMap).value : undefined;
  return typeof value === "string" && value.includes("$(");
}
