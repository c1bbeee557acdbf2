/** Ports of the Service and of the main container (MAP-012 to 015, MAP-050 to 058). */
import type { ContainerPort, ServicePort } from "./k8s.ts";
import type { NamedPort, ServerModel } from "./model.ts";

/** How container ports are named: as the servants are, or as the peer names them (D8). */
export type PortStyle = "seed" | "peer";

/** Longest name that Kubernetes takes for a container port. */
const MAX_NAME = 15;

const protocolOf = ({ isTcp }: NamedPort): string => (isTcp ? "TCP" : "UDP");

/** Ports of the Service. */
export function servicePorts({ ports }: ServerModel): ServicePort[] {
  return ports.map((port) => ({
    name: port.name.toLowerCase(),
    protocol: protocolOf(port),
    port: port.port,
    targetPort: port.port,
  }));
}

/** Ports of the main container, in the order in which the server gives them. */
export function containerPorts(model: ServerModel, style: PortStyle): ContainerPort[] {
  const hostPorts = hostPortsOf(model);
  return model.ports.flatMap((port): ContainerPort[] => {
    const hostPort = hostPorts.get(port.name.toLowerCase());
    if (style === "peer" && port.servant && hostPort === undefined) return [];
    return [
      {
        name: style === "peer" ? peerName(port, hostPort) : ownName(port, hostPort),
        containerPort: port.port,
        protocol: protocolOf(port),
        ...(hostPort !== undefined && model.k8s.hostNetwork !== true && { hostPort }),
      },
    ];
  });
}

/** Ports of the node by the lower-case name of the port that they lead to. */
function hostPortsOf({ k8s }: ServerModel): Map<string, number> {
  return new Map((k8s.hostPorts ?? []).map(({ nameRef, port }) => [nameRef.toLowerCase(), port]));
}

function ownName({ name, port }: NamedPort, hostPort: number | undefined): string {
  const lower = name.toLowerCase();
  if (isPortName(lower)) return lower;
  return hostPort === undefined ? `p${port}` : `p${hostPort}-${port}`;
}

function peerName({ name, port, servant }: NamedPort, hostPort: number | undefined): string {
  return servant ? `p${hostPort}-${port}` : name;
}

/** A name that Kubernetes takes for a container port. */
export function isPortName(name: string): boolean {
  return (
    name.length <= MAX_NAME &&
    /^[a-z0-9-]+$/.test(name) &&
    /[a-z]/.test(name) &&
    !name.startsWith("-") &&
    !name.endsWith("-") &&
    !name.includes("--")
  );
}
