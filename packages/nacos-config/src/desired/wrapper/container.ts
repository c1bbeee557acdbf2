/** Merges a container of the wrapper into one of the generated pod. */

import type { Container, EnvVar, JsonMap, VolumeMount } from "@quartet/core/kinds";
import { fields, itemsOf, mapOf, mergeByKey, withoutTrailingSlashes } from "@quartet/pod-template";
import { overrideEnv } from "../env.ts";

/** Fields of a probe that say how it probes; it can have one of them only. */
const PROBE_HANDLERS = ["exec", "grpc", "httpGet", "tcpSocket"];

const portKey = (port: JsonMap): string =>
  typeof port.name === "string" && port.name !== "" ? port.name : fields("containerPort", "protocol")(port);

/** How each field is merged; all others are replaced. */
const MERGES: Readonly<Record<string, (base: unknown, override: unknown) => unknown>> = {
  env: (base, override) =>
    overrideEnv(itemsOf(base) as unknown as EnvVar[], itemsOf(override) as unknown as EnvVar[]),
  ports: (base, override) =>
    mergeByKey(itemsOf(base), itemsOf(override), portKey, (port, change) => ({ ...port, ...change })),
  volumeMounts: (base, override) =>
    mergeMounts(itemsOf(base) as VolumeMount[], itemsOf(override) as VolumeMount[]),
  volumeDevices: (base, override) => mergeByKey(itemsOf(base), itemsOf(override), fields("name")),
  resources: (base, override) => ({ ...mapOf(base), ...mapOf(override) }),
  securityContext: (base, override) => ({ ...mapOf(base), ...mapOf(override) }),
  livenessProbe: mergeProbe,
  readinessProbe: mergeProbe,
  startupProbe: mergeProbe,
};

/** The container with everything that the override sets; unset and null fields change nothing. */
export function mergeContainer(base: Container, override: JsonMap): Container {
  const result: Container = { ...base };
  for (const [field, value] of Object.entries(override)) {
    if (value === undefined || value === null || value === "") continue;
    const merge = field in base ? MERGES[field] : undefined;
    result[field] = merge === undefined ? value : merge(base[field], value);
  }
  return result;
}

/** A mount path can be used once: the override's mount takes it from the base's. */
function mergeMounts(base: readonly VolumeMount[], overrides: readonly VolumeMount[]): VolumeMount[] {
  const taken = new Set(overrides.map((mount) => mountPoint(mount)));
  return [...base.filter((mount) => !taken.has(mountPoint(mount))), ...overrides];
}

/** The mount path without trailing slashes. */
export function mountPoint(mount: Pick<VolumeMount, "mountPath">): string {
  return withoutTrailingSlashes(String(mount.mountPath));
}

function mergeProbe(base: unknown, override: unknown): JsonMap {
  const next = mapOf(override);
  const rest = { ...mapOf(base) };
  if (PROBE_HANDLERS.some((handler) => handler in next)) {
    for (const handler of PROBE_HANDLERS) delete rest[handler];
  }
  return { ...rest, ...next };
}
