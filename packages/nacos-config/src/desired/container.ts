/** The Nacos container. */

import type { Container, ContainerPort, EnvVar, JsonMap } from "@quartet/core/kinds";
import { itemsOf } from "@quartet/pod-template";
import { containerEnv } from "./env.ts";
import { operatorEnv } from "./nacos-env.ts";
import {
  CLIENT_PORT,
  CONSOLE_PORT,
  GRPC_PORT,
  hasConsolePort,
  RAFT_PORT,
  SERVER_GRPC_PORT,
} from "./ports.ts";
import { PEER_REVISION, type TemplateRevision } from "./revision.ts";
import { type NacosSpec, nacosOverride, type Settings } from "./settings.ts";
import type { PodVolume } from "./volumes.ts";

/** Start command of the official image; it writes the member list from NACOS_SERVERS. */
const CLUSTER_COMMAND = ["/bin/bash", "-c", "bin/docker-startup.sh"];

/** For a server whose start takes tens of seconds. All times in seconds. */
const DEFAULT_READINESS_PROBE = {
  tcpSocket: { port: CLIENT_PORT.port },
  initialDelaySeconds: 10,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};
const DEFAULT_LIVENESS_PROBE = {
  tcpSocket: { port: CLIENT_PORT.port },
  initialDelaySeconds: 30,
  periodSeconds: 10,
  failureThreshold: 30,
};

/** The Nacos container before the wrapper is merged into it; what the wrapper sets suppresses defaults. */
export function nacosContainer(
  settings: Settings,
  revision: TemplateRevision,
  volumes: readonly PodVolume[],
): Container {
  const { name, image, spec, type } = settings;
  const override = nacosOverride(name, spec);
  const userEnv = (spec.env ?? []) as EnvVar[];
  const taken = new Set([...userEnv, ...(itemsOf(override.env) as unknown as EnvVar[])].map((v) => v.name));
  return {
    name,
    image,
    ...(type === "cluster" ? { command: [...CLUSTER_COMMAND] } : {}),
    ports: containerPorts(settings, revision, override),
    env: containerEnv(userEnv, operatorEnv(settings, revision, taken)),
    ...(spec.resources === undefined ? {} : { resources: spec.resources as JsonMap }),
    ...probe("livenessProbe", DEFAULT_LIVENESS_PROBE, spec, revision, override),
    ...probe("readinessProbe", DEFAULT_READINESS_PROBE, spec, revision, override),
    ...(volumes.length > 0 ? { volumeMounts: volumes.map(({ mount }) => mount) } : {}),
  };
}

/** The peer's ports, and further ones of which the wrapper does not declare the number by itself. */
function containerPorts(settings: Settings, revision: TemplateRevision, override: JsonMap): ContainerPort[] {
  const declared = new Set(itemsOf(override.ports).map(({ containerPort }) => containerPort));
  const more =
    revision === PEER_REVISION ? [] : [SERVER_GRPC_PORT, ...(hasConsolePort(settings) ? [CONSOLE_PORT] : [])];
  const ports = [CLIENT_PORT, RAFT_PORT, GRPC_PORT, ...more.filter(({ port }) => !declared.has(port))];
  return ports.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" }));
}

/** The spec's probe; without one the default, unless the wrapper has its own. */
function probe(
  name: "livenessProbe" | "readinessProbe",
  fallback: JsonMap,
  spec: NacosSpec,
  revision: TemplateRevision,
  override: JsonMap,
): JsonMap {
  if (spec[name] !== undefined) return { [name]: spec[name] };
  return revision === PEER_REVISION || override[name] !== undefined ? {} : { [name]: fallback };
}
