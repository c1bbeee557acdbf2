/** Ports of a Nacos node: JRaft lies at −1000, client gRPC at +1000 and server gRPC at +1001 of the HTTP port. */
import { isAtLeast } from "./image.ts";
import type { Settings } from "./settings.ts";

/** A port under the name that it has in the pod and in the Services between members. */
export interface NacosPort {
  readonly name: string;
  readonly port: number;
}

/** HTTP API. */
export const CLIENT_PORT: NacosPort = { name: "client", port: 8848 };
/** JRaft between members. */
export const RAFT_PORT: NacosPort = { name: "rpc", port: 7848 };
/** gRPC of clients. */
export const GRPC_PORT: NacosPort = { name: "new-rpc", port: 9848 };
/** gRPC between members. */
export const SERVER_GRPC_PORT: NacosPort = { name: "cluster-rpc", port: 9849 };
/** Console of Nacos 3. */
export const CONSOLE_PORT: NacosPort = { name: "console", port: 8080 };

/** First Nacos version whose console has a port of its own. */
const CONSOLE_SINCE_MAJOR = 3;

/** True for images that serve the console on a port of its own. */
export function hasConsolePort({ version }: Pick<Settings, "version">): boolean {
  return isAtLeast(version, CONSOLE_SINCE_MAJOR);
}
