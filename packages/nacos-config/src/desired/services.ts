/** The Services: as they are created, and what existing ones need. */
import { type DeepReadonly, sameJson } from "@quartet/core";
import type { Service, ServicePort, ServiceSpec } from "@quartet/core/kinds";
import { metadataOf, metadataOver } from "./family.ts";
import { clientServiceName, headlessServiceName } from "./names.ts";
import {
  CLIENT_PORT,
  CONSOLE_PORT,
  GRPC_PORT,
  hasConsolePort,
  type NacosPort,
  RAFT_PORT,
  SERVER_GRPC_PORT,
} from "./ports.ts";
import type { NacosResource, Settings } from "./settings.ts";

/** The client Service calls the clients' gRPC port `rpc` (as in the peer), a name that means JRaft elsewhere. */
const CLIENT_GRPC_PORT: NacosPort = { name: "rpc", port: GRPC_PORT.port };

/** A Service in both of its lives. */
export interface ServicePlan {
  readonly created: Service;
  /** The live Service brought to what the resource wants. */
  updated(live: DeepReadonly<Service>): { readonly object: Service; readonly changed: boolean };
}

/**
 * The Services of the resource.
 * @param selector labels of the pods: the StatefulSet's own selector
 */
export function servicePlans(settings: Settings, selector: Selector): ServicePlan[] {
  const { resource, name, type } = settings;
  const ports = [CLIENT_PORT, RAFT_PORT, GRPC_PORT];
  const between =
    type === "cluster"
      ? plan(resource, headlessServiceName(name), selector, {
          ports,
          extraPorts: [SERVER_GRPC_PORT],
          spec: { type: "ClusterIP", clusterIP: "None" },
          publishNotReady: true,
        })
      : plan(resource, name, selector, { ports, extraPorts: [], spec: { type: "ClusterIP" } });
  const { clientService = {} } = settings.spec;
  const { annotations = {}, publishNotReadyAddresses, type: clientType, ...rest } = clientService;
  const client = plan(resource, clientServiceName(name), selector, {
    ports: [CLIENT_PORT, CLIENT_GRPC_PORT],
    extraPorts: hasConsolePort(settings) ? [CONSOLE_PORT] : [],
    spec: { ...structuredClone(rest), ...(clientType ? { type: clientType } : {}) } as ServiceSpec,
    publishNotReady: publishNotReadyAddresses,
    annotations,
  });
  return [between, client];
}

type Selector = Readonly<Record<string, string>>;

interface Shape {
  readonly ports: readonly NacosPort[];
  /** Ports that new Services get; on existing ones they may be there or not. */
  readonly extraPorts: readonly NacosPort[];
  /** Further fields that are owned. */
  readonly spec: ServiceSpec;
  /** Absent: false when new, and left alone later. */
  readonly publishNotReady?: boolean | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

function plan(resource: NacosResource, name: string, selector: Selector, shape: Shape): ServicePlan {
  const metadata = metadataOf(resource, name, shape.annotations);
  const created: Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: {
      type: "ClusterIP",
      ...shape.spec,
      selector: { ...selector },
      ports: [...shape.ports, ...shape.extraPorts].map(servicePort),
      publishNotReadyAddresses: shape.publishNotReady ?? false,
    },
  };
  return {
    created,
    updated(live) {
      const before = live as Service;
      const spec = updatedSpec(before.spec, selector, shape);
      const object: Service = { ...before, metadata: metadataOver(before.metadata, metadata), spec };
      return { object, changed: !sameJson(object, before) };
    },
  };
}

function servicePort({ name, port }: NacosPort): ServicePort {
  return { name, port, targetPort: port, protocol: "TCP" };
}

function updatedSpec(
  live: ServiceSpec,
  selector: Selector,
  { ports, extraPorts, spec, publishNotReady }: Shape,
): ServiceSpec {
  const type = spec.type ?? live.type ?? "ClusterIP";
  const result: ServiceSpec = {
    ...live,
    ...spec,
    type,
    selector: { ...selector },
    ports: updatedPorts(live.ports ?? [], ports, extraPorts, type === "ClusterIP"),
  };
  if (isExtended(spec.ipFamilies, live.ipFamilies, result.ipFamilyPolicy))
    result.ipFamilies = live.ipFamilies;
  // The server leaves a false value out.
  if (publishNotReady === true) result.publishNotReadyAddresses = true;
  if (publishNotReady === false) delete result.publishNotReadyAddresses;
  return result;
}

/** True where the server has added to the families that were asked for, as it does by policy. */
function isExtended(wanted: unknown, live: unknown, policy: unknown): boolean {
  if (!Array.isArray(wanted) || !Array.isArray(live)) return false;
  if (wanted.length > 0 && policy === "SingleStack") return false;
  return wanted.every((family, index) => live[index] === family);
}

/** Owned ports in the live order, node ports kept; missing ones follow, strange ones go. */
function updatedPorts(
  live: readonly ServicePort[],
  ports: readonly NacosPort[],
  extraPorts: readonly NacosPort[],
  withoutNodePorts: boolean,
): ServicePort[] {
  const known = [...ports, ...extraPorts];
  const kept = live.flatMap((port) => {
    const owned = known.find(({ name }) => name === port.name);
    if (owned === undefined) return [];
    const { nodePort, ...rest } = port;
    const keepNodePort = nodePort !== undefined && !withoutNodePorts;
    return [{ ...rest, ...servicePort(owned), ...(keepNodePort ? { nodePort } : {}) }];
  });
  const missing = ports.filter(({ name }) => !live.some((port) => port.name === name));
  return [...kept, ...missing.map(servicePort)];
}
